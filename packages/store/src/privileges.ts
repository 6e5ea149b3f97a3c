import { createHmac } from 'node:crypto';
import pg from 'pg';
import { connectClient, endClient, lock, withClient } from './client.ts';

const TIMEOUT_MS = 60_000;
const SETTINGS = { application_name: 'svc grants', lock_timeout: TIMEOUT_MS, statement_timeout: TIMEOUT_MS };

/** Tables whose rows the service may not change freely. All others it reads and writes. */
export interface ProtectedTables {
  readonly appendOnly: readonly string[];
  /** Rows are added and changed, never deleted. */
  readonly permanent: readonly string[];
}

const RECORDS = 'schema_migrations';

/** Gives the role of `serviceUrl` what the service needs in the database of `ownerUrl`, and nothing of the schema. */
export async function grantService(ownerUrl: string, serviceUrl: string, tables: ProtectedTables): Promise<void> {
  const role = await withClient(serviceUrl, SETTINGS, currentRole);
  await asOwner(ownerUrl, async (client) => {
    await requireLesserRole(client, role);
    await grant(client, role, tables);
  });
}

const SERVICE_ROLE = 'svc_service';

/** Makes a second role for the service and answers its URL. Its password derives from the owner's: none is stored. */
export async function grantOwnService(ownerUrl: string, tables: ProtectedTables): Promise<string> {
  const url = new URL(ownerUrl);
  const password = createHmac('sha256', decodeURIComponent(url.password)).update(SERVICE_ROLE).digest('hex');
  await withClient(ownerUrl, SETTINGS, (client) => createRole(client, password));
  await asOwner(ownerUrl, (client) => grant(client, SERVICE_ROLE, tables));
  url.username = SERVICE_ROLE;
  url.password = password;
  return url.href;
}

const ALREADY_THERE = ['42710', '23505'];

/** Roles belong to all databases of a server, so another one may create it at the same moment. */
async function createRole(client: pg.Client, password: string): Promise<void> {
  const known = await client.query('select from pg_roles where rolname = $1', [SERVICE_ROLE]);
  if (known.rowCount === 1) return;
  const rights = 'login nosuperuser nocreatedb nocreaterole noreplication';
  await client.query(`create role ${SERVICE_ROLE} ${rights} password '${password}'`).catch((error: unknown) => {
    if (!(error instanceof pg.DatabaseError) || !ALREADY_THERE.includes(error.code ?? '')) throw error;
  });
}

/** Whether the role of the URL could change the schema, so that the database does not hold it back. */
export async function isOwner(url: string): Promise<boolean> {
  return withClient(url, SETTINGS, async (client) => {
    const answer = await client.query<{ owns: boolean }>(
      `select coalesce(bool_or(pg_has_role(relowner, 'MEMBER')), false) as owns from pg_class where oid = to_regclass($1)`,
      [RECORDS],
    );
    return answer.rows[0]?.owns === true;
  });
}

/** One at a time, like migrations: two grants at once fail on the same catalogue row. */
async function asOwner(url: string, work: (client: pg.Client) => Promise<void>): Promise<void> {
  const client = await connectClient(url, SETTINGS);
  try {
    await lock(client, 'svc:migrate');
    await client.query('begin');
    await work(client);
    await client.query('commit');
  } finally {
    await endClient(client);
  }
}

async function currentRole(client: pg.Client): Promise<string> {
  const answer = await client.query<{ role: string }>('select current_user as role');
  return answer.rows[0]?.role ?? '';
}

async function requireLesserRole(client: pg.Client, role: string): Promise<void> {
  const answer = await client.query<{ can: boolean }>(`select pg_has_role($1, current_user, 'MEMBER') as can`, [role]);
  if (answer.rows[0]?.can !== true) return;
  throw new Error(
    `DATABASE_URL and DATABASE_OWNER_URL need two roles: ${role} has all rights of the owner. ` +
      'Create another role for DATABASE_URL, without SUPERUSER and not a member of the owner.',
  );
}

/** In one transaction, so that a running service never misses a right. */
async function grant(client: pg.Client, name: string, { appendOnly, permanent }: ProtectedTables): Promise<void> {
  const role = pg.escapeIdentifier(name);
  const owned = await client.query<{ table: string; schema: string; kind: string }>(`
    select format('%I.%I', nspname, relname) as table, quote_ident(nspname) as schema, relkind as kind
      from pg_class join pg_namespace on pg_namespace.oid = relnamespace
     where relkind in ('r', 'p', 'S') and pg_has_role(relowner, 'USAGE')
       and nspname not like 'pg\\_%' and nspname <> 'information_schema'`);
  const namesOf = (isSequence: boolean) =>
    owned.rows
      .filter(({ kind }) => (kind === 'S') === isSequence)
      .map(({ table }) => table)
      .join(', ');
  for (const schema of new Set(owned.rows.map((row) => row.schema))) {
    await client.query(`revoke create on schema ${schema} from public, ${role}`);
    await client.query(`grant usage on schema ${schema} to ${role}`);
  }
  // A trigger on a temporary table could write where the triggers of the ledger let only each other write.
  const database = await client.query<{ name: string }>('select quote_ident(current_database()) as name');
  await client.query(`revoke temporary on database ${database.rows[0]?.name} from public, ${role}`);
  await client.query(`revoke all on ${namesOf(false)} from ${role}`);
  await client.query(`grant select, insert, update, delete on ${namesOf(false)} to ${role}`);
  if (namesOf(true) !== '') await client.query(`grant usage, select on ${namesOf(true)} to ${role}`);
  await client.query(`revoke update, delete on ${appendOnly.join(', ')} from ${role}`);
  await client.query(`revoke delete on ${permanent.join(', ')} from ${role}`);
  await client.query(`revoke insert, update, delete on ${RECORDS} from ${role}`);
}
