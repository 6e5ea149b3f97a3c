import { isDeepStrictEqual } from 'node:util';
import type { Transaction } from '@svc/protocol';
import { type Db, sql } from '@svc/store';
import pg from 'pg';
import type { PageOf } from '../../packages/server/src/http/call.ts';
import { type ListQuery, readPeriod } from '../../packages/server/src/transactions/history.ts';
import type { RecordOwner } from '../../packages/server/src/transactions/record-store.ts';

export async function checkAnswer(
  db: Db,
  { organizationId, environment }: RecordOwner,
  query: ListQuery & { page: number; limit: number },
  answer: PageOf<Transaction>,
): Promise<void> {
  const { from, before } = readPeriod(query);
  const wanted = query.calledFunction ?? null;
  const rows = await db.rows<{ id: string }>(sql`
    select transaction_id as id from transaction_history
     where history = history_key(${organizationId}, ${environment}, ${query.walletAddress})
       and (${wanted}::text is null or function_name = ${wanted})
       and created_at >= to_timestamp(${from / 1000}::float8) and created_at < to_timestamp(${before / 1000}::float8)
     order by created_at desc, transaction_id desc`);
  const expected = rows.slice((query.page - 1) * query.limit, query.page * query.limit);
  const shown = answer.data.map(({ id }) => ({ id }));
  if (answer.total !== rows.length || !isDeepStrictEqual(shown, expected)) {
    throw new Error(`page ${query.page} is wrong, or ${answer.total} is not ${rows.length}`);
  }
}

export async function checkCounts(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url, application_name: 'bench check' });
  await client.connect();
  try {
    await client.query(`set work_mem = '256MB'`);
    const { rows } = await client.query<{ missing: string; wrong: string }>(`
      with entry as (
        select history, coalesce(function_name, '') as name, count(*) as entries
          from transaction_history group by grouping sets ((history), (history, function_name))
      ),
      counted as (
        select history, name, sum(entries) as entries from (
          select history, function_name as name, entries from transaction_history_counts
          union all select history, '', 1 from transaction_history_uncounted
          union all select history, function_name, 1 from transaction_history_uncounted where function_name is not null
        ) part group by history, name
      )
      select (select sum(case when sender_address = destination_address then 1 else 2 end) from transactions)
             - (select count(*) from transaction_history) as missing,
             (select count(*) from entry full join counted using (history, name)
               where entry.entries is distinct from counted.entries) as wrong`);
    const [found] = rows;
    if (found?.missing !== '0' || found.wrong !== '0') throw new Error(`counts differ: ${JSON.stringify(found)}`);
  } finally {
    await client.end();
  }
}
