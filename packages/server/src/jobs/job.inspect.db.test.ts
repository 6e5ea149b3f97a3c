import { sql } from '@svc/store';
import { expect, it } from 'vitest';
import { createQueue } from '../../testing/jobs.ts';
import { enqueue, enqueueMany, failedJobs, failJob, queueStats, takeJobs } from './job.ts';

it('the statistics count the jobs of each task by their state, and tell how long the oldest has been due', async () => {
  const { db } = await createQueue();
  expect(await queueStats(db)).toEqual([]);
  await enqueue(db, { task: 'mail', payload: {} });
  await takeJobs(db, 1, ['mail'], 1);
  await enqueueMany(db, [
    { task: 'mail', payload: {}, runAt: new Date(Date.now() - 90_000) },
    { task: 'mail', payload: {} },
    { task: 'mail', payload: {}, runAt: new Date(Date.now() + 90_000) },
    { task: 'watch', payload: {}, runAt: new Date(Date.now() + 90_000) },
  ]);
  const [mail, watch, ...rest] = await queueStats(db);
  expect(rest).toEqual([]);
  expect(mail).toMatchObject({ task: 'mail', waiting: 2, scheduled: 1, running: 1, failed: 0 });
  expect(mail?.oldestWaitingSeconds).toBeGreaterThanOrEqual(90);
  expect(watch).toEqual({ task: 'watch', waiting: 0, scheduled: 1, running: 0, failed: 0, oldestWaitingSeconds: 0 });
});

it('failed jobs are listed newest first, with the last error and without the payload', async () => {
  const { db } = await createQueue();
  for (const n of [1, 2]) {
    await enqueue(db, { task: 'mail', payload: { secret: 'payload' }, maxAttempts: 1 });
    const [job] = await takeJobs(db, 1, ['mail'], 1);
    if (job) await failJob(db, 1, job, `reason ${n}`);
  }
  await db.run(sql`update jobs set failed_at = failed_at - interval '1 hour' where last_error = 'reason 1'`);
  const jobs = await failedJobs(db);
  expect(jobs).toMatchObject([
    { task: 'mail', attempts: 1, lastError: 'reason 2', failedAt: expect.any(Date), createdAt: expect.any(Date) },
    { lastError: 'reason 1' },
  ]);
  expect(JSON.stringify(jobs)).not.toContain('payload');
  expect(await failedJobs(db, 1)).toHaveLength(1);
  expect(await queueStats(db)).toMatchObject([{ task: 'mail', failed: 2, waiting: 0 }]);
});
