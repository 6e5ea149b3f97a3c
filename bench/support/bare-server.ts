// The yardstick: node:http and the driver, the same SQL on the same database, and nothing else. Run as a process of its own.
import { createServer } from 'node:http';
import pg from 'pg';

const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 10 });

const organizationId = process.env.ORGANIZATION_ID ?? '';

const columns = `id, provider_id, name, description, category, reference_pattern, reference_label, amount_pattern,
  amount_label, fixed_amount, currency, can_check_reference, logo_url, created_at, updated_at`;

const queries: Record<string, (argument: string) => Promise<unknown>> = {
  skus: async (id) => {
    const sku = await pool.query({
      name: 'sku',
      text: `select ${columns}, is_own from (
          select false as is_own, ${columns} from skus where id = $1 and retired_at is null
          union all
          select true as is_own, ${columns} from own_skus where organization_id = $2 and environment = $3 and id = $1
        ) found
        where not exists (select from hidden_skus where organization_id = $2 and environment = $3 and sku_id = $1)
        order by is_own limit 1`,
      values: [id, organizationId, 'development'],
    });
    return sku.rows[0];
  },
  // The service keeps the organisation's name in memory; what it asks the database for is the balance.
  organization: async (id) => {
    const balance = await pool.query({
      name: 'balance',
      text: `select available, held, available + held as total from ledger_balances
        where organization_id = $1 and environment = $2`,
      values: [id, 'development'],
    });
    return balance.rows[0];
  },
};

const server = createServer(async (request, response) => {
  const [, , name = '', argument = organizationId] = (request.url ?? '').split('/');
  const body = JSON.stringify(await queries[name]?.(argument));
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) });
  response.end(body);
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (address !== null && typeof address === 'object') process.stdout.write(`listening ${address.port}\n`);
});
