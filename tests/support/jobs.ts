import { type Db, sql } from '@svc/store';
import { WAKE_CHANNEL } from '../../packages/server/src/jobs/job.ts';

/** Makes the waiting jobs of a key due: what they wait for would take seconds. */
export async function hurry(db: Db, key: string): Promise<void> {
  await db.run(sql`
    with due as (
      update jobs set run_at = now()
       where key = ${key} and worker is null and failed_at is null and run_at > now() returning task
    )
    select pg_notify(${WAKE_CHANNEL}, string_agg(distinct task, E'\\n')) from due having count(*) > 0`);
}

/** Makes a recurring job due: its next look would come later than a test can wait for. */
export async function runSoon(db: Db, task: string): Promise<void> {
  await db.run(sql`update recurring_jobs set next_at = now() where task = ${task}`);
}
