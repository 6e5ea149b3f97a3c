import type { Database } from '@svc/store';

interface Client {
  query<T extends object>(text: string, values?: unknown[]): Promise<{ rows: T[] }>;
}
type Schema = 'public' | 'sandbox';
export type Backup = ReadonlyMap<string, string>;

interface Table {
  readonly name: string;
  readonly columns: string;
}

export function readSchema(db: Database, schema: Schema): Promise<Backup> {
  return inTransaction(db, async (client) => {
    await client.query('set transaction isolation level repeatable read');
    const backup = new Map<string, string>();
    for (const { name } of await tablesOf(client, schema)) {
      const { rows } = await client.query<{ rows: string }>(
        `select coalesce(json_agg(t), '[]')::text as rows from ${place(schema, name)} t`,
      );
      backup.set(name, rows[0]?.rows ?? '[]');
    }
    return backup;
  });
}

/** Restores it as a dump is restored: nothing that came later is left, and no trigger runs. */
export function writeSchema(db: Database, schema: Schema, backup: Backup): Promise<void> {
  return inTransaction(db, async (client) => {
    await client.query('set local session_replication_role = replica');
    for (const { name, columns } of await tablesOf(client, schema)) {
      const table = place(schema, name);
      await client.query(`delete from ${table}`);
      await client.query(
        `insert into ${table} (${columns}) overriding system value
         select ${columns} from jsonb_populate_recordset(null::${table}, $1::jsonb)`,
        [backup.get(name) ?? '[]'],
      );
    }
  });
}

const place = (schema: Schema, name: string): string => `${schema}.${name}`;

async function tablesOf(client: Client, schema: Schema): Promise<Table[]> {
  const { rows } = await client.query<Table>(
    `select quote_ident(table_name) as name, string_agg(quote_ident(column_name), ', ' order by ordinal_position) as columns
       from information_schema.columns join information_schema.tables using (table_schema, table_name)
      where table_schema = $1 and table_type = 'BASE TABLE' and is_generated = 'NEVER'
        and table_name <> 'schema_migrations'
      group by table_name`,
    [schema],
  );
  return rows;
}

async function inTransaction<T>(db: Database, work: (client: Client) => Promise<T>): Promise<T> {
  const client = await db.pool.connect();
  try {
    await client.query('begin');
    const result = await work(client);
    await client.query('commit');
    return result;
  } finally {
    client.release(true);
  }
}
