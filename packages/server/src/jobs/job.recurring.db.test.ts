import { sql } from '@svc/store';
import { expect, it } from 'vitest';
import { BOUND, countOf, createQueue, QUICK, type Queue, startProcess } from '../../testing/jobs.ts';
import { completeJob, enqueueRecurring, takeJobs } from './job.ts';

const HOURLY = [{ task: 'tick', everySeconds: 3_600 }];
const waiting = (queue: Queue) => countOf(queue, sql`select from jobs where task = 'tick' and worker is null`);
const turnBack = ({ db }: Queue) => db.run(sql`update recurring_jobs set next_at = next_at - interval '1 hour'`);

async function finish({ db }: Queue): Promise<void> {
  for (const job of await takeJobs(db, 1, ['tick'], 10)) await completeJob(db, 1, job);
}

it('a recurring task is enqueued once for each of its times, however many processes ask', async () => {
  const queue = await createQueue();
  const askAll = () => Promise.all(Array.from({ length: 20 }, () => enqueueRecurring(queue.db, HOURLY)));
  for (let time = 0; time < 3; time++) {
    await askAll();
    expect(await waiting(queue)).toBe(1);
    await finish(queue);
    await askAll();
    expect(await waiting(queue)).toBe(0);
    await turnBack(queue);
  }
});

it('a process that was overtaken by another, whose job is done already, enqueues nothing', async () => {
  const queue = await createQueue();
  await enqueueRecurring(queue.db, HOURLY);
  await finish(queue);
  await turnBack(queue);
  const overtaken = await queue.db.tx(async (tx) => {
    await tx.run(sql`update recurring_jobs set next_at = next_at + interval '1 hour'`);
    const asking = enqueueRecurring(queue.db, HOURLY);
    await expect.poll(() => countOf(queue, sql`select from pg_locks where not granted`), BOUND).toBe(1);
    return { asking };
  });
  await overtaken.asking;
  expect(await waiting(queue)).toBe(0);
});

it('the next time lies on the clock: a whole number of periods', async () => {
  const queue = await createQueue();
  await enqueueRecurring(queue.db, HOURLY);
  const next = await queue.db.one<{ next_at: Date; ahead: boolean }>(
    sql`select next_at, next_at > now() and next_at <= now() + interval '1 hour' as ahead from recurring_jobs`,
  );
  expect(next?.ahead).toBe(true);
  expect(Number(next?.next_at) % 3_600_000).toBe(0);
});

it('a run that still waits when the next is due is not doubled', async () => {
  const queue = await createQueue();
  await enqueueRecurring(queue.db, HOURLY);
  await turnBack(queue);
  await enqueueRecurring(queue.db, HOURLY);
  expect(await waiting(queue)).toBe(1);
});

it('whoever asks hears when the next run of all is due', async () => {
  const queue = await createQueue();
  const clock = await queue.db.one<{ ms: number }>(sql`select extract(epoch from now())::float8 * 1000 as ms`);
  const ms = await enqueueRecurring(queue.db, [...HOURLY, { task: 'tack', everySeconds: 60 }]);
  const nextAt = await queue.db.one<{ ms: number }>(
    sql`select extract(epoch from min(next_at))::float8 * 1000 as ms from recurring_jobs`,
  );
  // Asked after the clock was read.
  expect(ms).toBeLessThanOrEqual(Number(nextAt?.ms) - Number(clock?.ms));
  expect(ms).toBeGreaterThan(0);
  expect(await enqueueRecurring(queue.db, [])).toBe(Number.POSITIVE_INFINITY);
});

it('two worker processes run a recurring task once for each of its times', async () => {
  const queue = await createQueue();
  const settings = ['4', JSON.stringify(QUICK), '1'];
  const begin = await queue.db.one<{ second: number }>(sql`select floor(extract(epoch from now()))::integer as second`);
  await Promise.all([startProcess(queue, ...settings), startProcess(queue, ...settings)]);
  await expect.poll(() => countOf(queue, sql`select from traces`), BOUND).toBeGreaterThanOrEqual(4);
  const done = await queue.db.one<{ runs: number; end: number }>(sql`
    select (select count(*)::integer from traces) as runs, extract(epoch from next_at)::integer as end from recurring_jobs`);
  expect(done?.runs).toBeLessThanOrEqual(Number(done?.end) - Number(begin?.second));
});
