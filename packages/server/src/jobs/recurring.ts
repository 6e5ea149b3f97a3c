import { type Db, sql } from '@svc/store';
import { enqueueMany } from './enqueue.ts';

/** A task that runs every so many seconds, counted from midnight UTC, once over all processes. Its payload is {}. */
export interface RecurringJob {
  readonly task: string;
  readonly everySeconds: number;
}

/**
 * Enqueues what is due. Times that passed while no process ran are not made up for, and a run that is still waiting is
 * not added to.
 */
export async function enqueueRecurring(db: Db, recurring: readonly RecurringJob[]): Promise<void> {
  if (recurring.length === 0) return;
  await db.tx(async (tx) => {
    const due = await tx.rows<{ task: string; key: string }>(sql`
      insert into recurring_jobs (task, every_seconds, next_at)
      select task, "everySeconds",
             to_timestamp((floor(extract(epoch from now()) / "everySeconds") + 1) * "everySeconds")
        from jsonb_to_recordset(${JSON.stringify(recurring)}::jsonb) as wanted (task text, "everySeconds" integer)
       where not exists (
         select from recurring_jobs as known
          where known.task = wanted.task and known.every_seconds = wanted."everySeconds" and known.next_at > now())
       order by task, "everySeconds"
      on conflict (task, every_seconds) do update set next_at = excluded.next_at
       where recurring_jobs.next_at <= now()
      returning task, 'every ' || every_seconds || ' s' as key`);
    await enqueueMany(
      tx,
      due.map(({ task, key }) => ({ task, key, payload: {} })),
    );
  });
}
