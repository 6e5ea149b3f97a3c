import { type Sql, sql } from '@svc/store';
import type { TestDatabase } from '@svc/store/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { serverDatabase } from '../../testing/database.ts';
import type { Caller } from '../http/call.ts';
import { listRequests } from '../http/request-log.ts';
import { createOrganization } from '../organizations/api-keys.ts';
import { listEnvironmentTransactions } from '../transactions/history.ts';
import { listWallets } from '../wallets/wallet.ts';
import { overview } from './module.ts';

const ROWS = 20_000;
let database: TestDatabase;
let small: Caller;

/** One organisation with many rows, and one with a few. */
beforeAll(async () => {
  database = await serverDatabase();
  const { db } = database;
  const [large, other] = [await createOrganization(db, 'Grande'), await createOrganization(db, 'Chica')];
  small = {
    organizationId: other,
    environment: 'development',
    keyId: 'key_1',
    apiPublicKey: undefined,
    proof: 'secret key',
    externalUserId: undefined,
  };
  await db.tx(async (tx) => {
    // Without triggers: only the plans matter here.
    await tx.run(sql`set local session_replication_role = replica`);
    const owner = sql`case when n % 1000 = 0 then ${other} else ${large} end, 'development'`;
    const at = sql`now() - n * interval '1 minute'`;
    const hash = sql`'0x' || to_hex(n)`;
    await tx.run(sql`
      insert into wallets (id, organization_id, environment, external_user_id, api_public_key, public_key, address, wallet_type,
        class_hash, owner_key, salt, constructor_calldata, encrypted_private_key, created_at)
      select 'wal_' || n, ${owner}, 'user ' || n, 'pk', '0x1', '0x' || lpad(to_hex(n), 64, '0'), 'SVC', '0x1', '0x1', '0x1', '{}', 'x', ${at}
        from generate_series(1, ${ROWS}::integer) as n`);
    await tx.run(sql`
      insert into transactions (id, organization_id, environment, api_public_key, type, chain, transaction_hash, sender_address,
        destination_address, status, created_at, updated_at)
      select 'txn_' || n, ${owner}, 'pk', 'SEND', 'STARKNET', ${hash}, '0x1', '0x2',
             case when n % 7 = 0 then 'FAILED' else 'SUCCESS' end, ${at}, ${at}
        from generate_series(1, ${ROWS}::integer) as n`);
    await tx.run(sql`
      insert into request_log (at, organization_id, environment, request_id, method, path, status, duration_ms, actor)
      select now() - n * interval '1 second', ${owner}, 'req-' || n, 'GET', '/gifts', 200, 1, 'key_1'
        from generate_series(1, ${ROWS}::integer) as n`);
  });
  await db.run(sql`analyze wallets`);
  await db.run(sql`analyze transactions`);
  await db.run(sql`analyze request_log`);
});
afterAll(() => database.drop());

interface Plan {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Actual Rows': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly 'Actual Loops': number;
  readonly Plans?: readonly Plan[];
}

const nodesOf = (plan: Plan): Plan[] => [plan, ...(plan.Plans ?? []).flatMap(nodesOf)];

/** Rows that a statement read from its tables, of all organisations. */
async function rowsRead(work: (reads: typeof database.db) => Promise<unknown>): Promise<number> {
  let read = 0;
  const explain = async (query: Sql) => {
    const [plan] = await database.db.rows<{ 'QUERY PLAN': { Plan: Plan }[] }>(
      sql`
      explain (analyze, format json) ${query}`.unnamed,
    );
    const nodes = nodesOf(plan?.['QUERY PLAN'][0]?.Plan ?? ({} as Plan)).filter((node) => node['Relation Name']);
    for (const node of nodes) {
      read += (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops'];
    }
  };
  const watched = {
    rows: async (query: Sql) => {
      await explain(query);
      return database.db.rows(query);
    },
    one: async (query: Sql) => {
      await explain(query);
      return database.db.one(query);
    },
  };
  await work({ ...database.db, ...watched } as typeof database.db);
  return read;
}

/** Of 20,000 rows 20 are the small organisation's; a page reads them, some of them for several parts. */
const FEW = (ROWS / 1_000) * 10;

describe("an organisation's page reads no row of another organisation", () => {
  const networks = { starknet: () => expect.fail('no chain is needed') };
  const list = (query: object) => (reads: typeof database.db) =>
    listEnvironmentTransactions({ reads, lists: reads, networks }, small, query);

  it.each([
    ['wallets', (reads: typeof database.db) => listWallets(reads, small, {})],
    ['wallets of a user', (reads: typeof database.db) => listWallets(reads, small, { search: 'user 1' })],
    ['wallet of an address', (reads: typeof database.db) => listWallets(reads, small, { search: '0x3e8' })],
    ['transactions', list({})],
    ['failed transactions', list({ status: 'FAILED' })],
    ['transactions of a service', list({ skuId: 'telmex-recibo' })],
    ['transactions of a day', list({ createdAfter: '2026-01-01' })],
    ['requests', (reads: typeof database.db) => listRequests(reads, small, {})],
    ['a request', (reads: typeof database.db) => listRequests(reads, small, { requestId: 'req-1000' })],
    ['overview of 24 hours', (reads: typeof database.db) => overview(reads, small, { range: '24h' })],
    ['overview of 30 days', (reads: typeof database.db) => overview(reads, small, { range: '30d' })],
  ] as const)('%s', async (_, work) => {
    const read = await rowsRead(work);
    expect(read).toBeLessThanOrEqual(FEW);
  });
});
