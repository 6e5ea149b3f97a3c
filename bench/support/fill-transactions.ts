import { createHash } from 'node:crypto';
import pg from 'pg';
import type { RecordOwner } from '../../packages/server/src/transactions/record-store.ts';

/** What a database is filled with: wallets whose lists are measured, among the transactions of others. */
export interface Filling {
  readonly rows: number;
  readonly owner: RecordOwner;
  /** How many wallets with `QUIET_RECORDS` each. */
  readonly quietWallets: number;
  readonly busyRecords: number;
}

export const QUIET_RECORDS = 200;
/** A fifth of all transactions fall on this one day; the others lie evenly over three years. */
export const CROWDED_DAY = { year: 2025, month: 7, day: 1 };

const OTHER_RECORDS = 100;
// Enough for the service's own counting to come by each of the busy wallet's lists.
const UNCOUNTED = 50;

/** Writes everything in bulk, past the triggers, as they would have written it one by one. */
export async function fillTransactions(url: string, filling: Filling): Promise<void> {
  const client = new pg.Client({ connectionString: url, application_name: 'bench fill' });
  await client.connect();
  try {
    await client.query(
      `set session_replication_role = replica; set maintenance_work_mem = '1GB'; set work_mem = '256MB'`,
    );
    await fillRecords(client, filling);
    await withoutIndexes(client, 'transaction_history', () => client.query(HISTORY));
    await client.query(COUNT_LATER, [...owned(filling), UNCOUNTED]);
    await client.query(COUNTS);
    await client.query('vacuum (analyze) transactions');
    await client.query('vacuum (analyze) transaction_history');
    await client.query('vacuum (analyze) transaction_history_counts');
  } finally {
    await client.end();
  }
}

const owned = ({ owner }: Filling) => [owner.organizationId, owner.environment];

/** The address of a wallet that was filled in: `busy`, or `quiet 0` and so on. */
export function addressOf(wallet: string): string {
  return `0x0${createHash('sha256').update(wallet).digest('hex').slice(1)}`;
}
const ADDRESS = `'0x0' || substr(encode(sha256(name::bytea), 'hex'), 2)`;

async function fillRecords(client: pg.Client, filling: Filling): Promise<void> {
  const { rows, quietWallets, busyRecords } = filling;
  const quietEvery = Math.floor(rows / (quietWallets * QUIET_RECORDS));
  const busyEvery = busyRecords > 0 ? Math.floor(rows / busyRecords) : rows + 1;
  const others = Math.ceil(rows / OTHER_RECORDS);
  await client.query(
    `create function pg_temp.address(name text) returns text language sql immutable return ${ADDRESS}`,
  );
  await client.query(
    `insert into transactions (id, organization_id, environment, api_public_key, type, sub_type, chain, transaction_hash,
       event_index, sender_address, destination_address, function_name, token, amount, status, block_number, created_at,
       confirmed_at, updated_at)
     select 'txn_' || lpad(i::text, 26, '0'), $1, $2, 'pk_dev_bench', 'SEND', 'TRANSFER', 'STARKNET',
            '0x' || lpad(to_hex(i), 64, '0'), 0,
            pg_temp.address(case when outgoing then coalesce(wallet, one) else one end),
            pg_temp.address(case when outgoing then other else coalesce(wallet, other) end),
            (array['transfer', 'transfer', 'transfer', 'approve', 'swap'])[1 + (spread >> 1) % 5],
            'USDC', 1000 + i, 'SUCCESS', i / 100, at, at, at
       from generate_series(1, $3::bigint) as i
       cross join lateral (
         select case when i % $5 = 0 then 'busy' when i % $4 = 1 then 'quiet ' || (i / $4) % $6 end as wallet,
                'other ' || (i * 7919) % $7 as one, 'other ' || (i * 104729 + 1) % $7 as other,
                hashint8(i) & 2147483647 as spread, hashint8(i) & 1 = 0 as outgoing, i::float8 / $3::bigint as part
       ) chosen
       cross join lateral (
         select case when part < 0.5 then timestamptz '2024-01-01Z' + part / 0.5 * interval '547 days'
                     when part < 0.7 then timestamptz '2025-07-01Z' + (part - 0.5) / 0.2 * interval '1 day'
                     else timestamptz '2025-07-02Z' + (part - 0.7) / 0.3 * interval '547 days' end as at
       ) moment`,
    [...owned(filling), rows, quietEvery, busyEvery, quietWallets, others],
  );
}

const HISTORY = `
  insert into transaction_history (history, created_at, transaction_id, function_name)
  select history_key(organization_id, environment, address), created_at, id, function_name
    from transactions cross join lateral (
      select sender_address as address
      union all select destination_address where destination_address <> sender_address
    ) touched`;

const COUNT_LATER = `
  insert into transaction_history_uncounted (history, created_at, transaction_id, function_name)
  select history, created_at, transaction_id, function_name from transaction_history
   where history = history_key($1, $2, pg_temp.address('busy'))
   order by created_at desc, transaction_id desc limit $3`;

const COUNTS = `
  insert into transaction_history_counts (history, function_name, from_created_at, from_id, entries)
  select history, coalesce(function_name, ''), '-infinity', '', count(*)
    from transaction_history entry
   where not exists (
     select from transaction_history_uncounted uncounted
      where uncounted.history = entry.history and uncounted.created_at = entry.created_at
        and uncounted.transaction_id = entry.transaction_id)
   group by grouping sets ((history), (history, function_name))`;

/** Building an index once is much faster than adding to it entry by entry. */
async function withoutIndexes(client: pg.Client, table: string, work: () => Promise<unknown>): Promise<void> {
  const { rows } = await client.query<{ drop: string; create: string }>(
    `select case when c.oid is null then format('drop index %s', i.indexrelid::regclass)
                 else format('alter table %s drop constraint %I', i.indrelid::regclass, c.conname) end as drop,
            case when c.oid is null then pg_get_indexdef(i.indexrelid)
                 else format('alter table %s add constraint %I %s', i.indrelid::regclass, c.conname,
                             pg_get_constraintdef(c.oid)) end as create
       from pg_index i left join pg_constraint c on c.conindid = i.indexrelid
      where i.indrelid = $1::regclass`,
    [table],
  );
  for (const { drop } of rows) await client.query(drop);
  await work();
  for (const { create } of rows) await client.query(create);
}
