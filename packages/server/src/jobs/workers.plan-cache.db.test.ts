import { connect, sql } from '@svc/store';
import { expect, it, onTestFinished } from 'vitest';
import { createQueue } from '../../testing/jobs.ts';
import { takeJobs } from './job.ts';
import { BY_INDEX } from './workers.ts';

const WAITING = 3_000;

it('a worker whose statements were planned for an empty queue reads only what it takes of a full one', async () => {
  const queue = await createQueue();
  const db = connect(queue.url, { max: 1, settings: BY_INDEX });
  onTestFinished(() => db.close());
  const take = () =>
    db.tx(async (tx) => {
      const jobs = await takeJobs(tx, 1, ['pay', 'rest'], 4, 2);
      const read = await tx.one<{ whole: bigint; rows: bigint }>(
        sql`select seq_scan as whole, idx_tup_fetch as rows from pg_stat_xact_user_tables where relname = 'jobs'`,
      );
      return { jobs, read };
    });
  await queue.db.run(sql`vacuum analyze jobs`);
  for (let time = 0; time < 10; time++) expect((await take()).jobs).toEqual([]);
  await queue.db.run(sql`
    insert into jobs (task, payload, run_at, max_attempts) select 'pay', '{}', now() - n * interval '1 second', 5 from generate_series(1, ${WAITING}::integer) as n`);

  const { jobs, read } = await take();
  expect(jobs).toHaveLength(4);
  expect(read?.whole).toBe(0n);
  expect(read?.rows).toBeLessThan(50n);
});
