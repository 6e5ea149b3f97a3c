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

it('two worker processes run a recurring task once for each of its times', async () => {
  const queue = await createQueue();
  const settings = ['4', JSON.stringify(QUICK), '3600'];
  await Promise.all([startProcess(queue, ...settings), startProcess(queue, ...settings)]);
  for (let time = 1; time <= 3; time++) {
    await expect.poll(() => countOf(queue, sql`select from traces`), BOUND).toBe(time);
    await expect.poll(() => countOf(queue, sql`select from jobs`), BOUND).toBe(0);
    await turnBack(queue);
  }
});
