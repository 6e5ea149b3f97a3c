import { sql } from '@svc/store';
import { describe, expect, it } from 'vitest';
import { createQueue, type Queue } from '../../testing/jobs.ts';
import {
  completeJob,
  enqueue,
  enqueueMany,
  failJob,
  recoverJobs,
  releaseJobs,
  retryFailedJob,
  takeJobs,
} from './job.ts';

const WORKER = 7;
const OTHER = 8;
const take = ({ db }: Queue, worker = WORKER, limit = 10) => takeJobs(db, worker, ['note'], limit);
const takeOne = async (queue: Queue, worker = WORKER) => {
  const [job, ...more] = await take(queue, worker);
  if (!job || more.length > 0) throw new Error('expected one job');
  return job;
};
const makeDue = ({ db }: Queue) => db.run(sql`update jobs set run_at = now() where worker is null`);
const rows = ({ db }: Queue) =>
  db.rows<{ payload: { n: number }; attempt: number; failed: boolean; error: string | null }>(sql`
    select payload, attempt, failed_at is not null as failed, last_error as error
      from jobs where worker is null order by id`);

/** Whether the job waits for so many seconds, give or take a quarter, from some moment within `work`. */
async function waitsFor(queue: Queue, seconds: number, work: () => Promise<unknown>): Promise<boolean> {
  const now = async () => (await queue.db.one<{ now: Date }>(sql`select clock_timestamp() as now`))?.now;
  const before = await now();
  await work();
  const within = sql`run_at >= ${before}::timestamptz + ${seconds * 0.75} * interval '1 second' - interval '1 ms'
                 and run_at <= ${await now()}::timestamptz + ${seconds * 1.25} * interval '1 second' + interval '1 ms'`;
  return (await queue.db.one<{ within: boolean }>(sql`select ${within} as within from jobs`))?.within === true;
}

describe('taking jobs', () => {
  it('gives each to one worker only, the longest due first', async () => {
    const queue = await createQueue();
    await enqueueMany(
      queue.db,
      Array.from({ length: 50 }, (_, n) => ({ task: 'note', payload: { n } })),
    );
    await enqueue(queue.db, { task: 'note', payload: { n: 50 }, runAt: new Date('2020-01-01') });
    expect((await take(queue, WORKER, 1)).map((job) => job.payload)).toEqual([{ n: 50 }]);
    const taken = await Promise.all(Array.from({ length: 10 }, (_, i) => take(queue, i + 1, 7)));
    const ids = taken.flat().map((job) => job.id);
    expect(ids).toHaveLength(50);
    expect(new Set(ids).size).toBe(50);
  });

  it('leaves what is due later, and what has no handler here', async () => {
    const queue = await createQueue();
    await enqueue(queue.db, { task: 'note', payload: { n: 1 }, runAt: new Date(Date.now() + 60_000) });
    await enqueue(queue.db, { task: 'unknown', payload: {} });
    expect(await take(queue)).toEqual([]);
    await queue.db.run(sql`update jobs set run_at = run_at - interval '61 seconds'`);
    expect(await take(queue)).toMatchObject([{ payload: { n: 1 } }]);
  });

  it('never gives out two jobs of a queue at the same time', async () => {
    const queue = await createQueue();
    const jobs = (name: string) => Array.from({ length: 10 }, () => ({ task: 'note', payload: {}, queue: name }));
    await enqueueMany(queue.db, [...jobs('a'), ...jobs('b')]);
    for (let left = 20; left > 0; left -= 2) {
      const taken = (await Promise.all([1, 2, 3, 4, 5, 6].map((worker) => take(queue, worker, 3)))).flat();
      // A race can leave a queue for the next look.
      const rest = await take(queue, WORKER, 3);
      const busy = [...taken, ...rest];
      expect(busy.map((job) => job.queue).sort()).toEqual(['a', 'b']);
      await queue.db.run(sql`delete from jobs where worker is not null`);
    }
  });
});

describe('a job that fails', () => {
  it('waits twice as long each time, up to an hour, give or take a quarter', async () => {
    const queue = await createQueue();
    await enqueue(queue.db, { task: 'note', payload: {}, maxAttempts: 15 });
    for (let attempt = 1; attempt < 15; attempt++) {
      const job = await takeOne(queue);
      expect(job.attempt).toBe(attempt);
      const seconds = Math.min(2 ** attempt, 3600);
      expect(await waitsFor(queue, seconds, () => failJob(queue.db, WORKER, job, 'no luck'))).toBe(true);
      expect(await rows(queue)).toMatchObject([{ attempt, failed: false, error: 'no luck' }]);
      await makeDue(queue);
    }
  });

  it('fails after its last attempt, until the operator retries it', async () => {
    const queue = await createQueue();
    await enqueue(queue.db, { task: 'note', payload: { n: 1 }, maxAttempts: 1 });
    const job = await takeOne(queue);
    await failJob(queue.db, WORKER, job, 'no luck');
    await makeDue(queue);
    expect(await take(queue)).toEqual([]);
    expect(await retryFailedJob(queue.db, '999')).toBe(false);
    expect(await retryFailedJob(queue.db, String(job.id))).toBe(true);
    expect(await retryFailedJob(queue.db, String(job.id))).toBe(false);
    expect(await takeOne(queue)).toMatchObject({ id: job.id, attempt: 1 });
  });

  it('makes room for a newer job with its key', async () => {
    const queue = await createQueue();
    await enqueue(queue.db, { task: 'note', key: 'k', payload: { n: 1 }, maxAttempts: 1 });
    const older = await takeOne(queue);
    await enqueue(queue.db, { task: 'note', key: 'k', payload: { n: 2 } });
    await failJob(queue.db, WORKER, older, 'no luck');
    expect(await rows(queue)).toMatchObject([{ payload: { n: 2 }, attempt: 0 }]);
  });
});

describe('a job that another worker has recovered', () => {
  it('is neither completed nor failed by the first', async () => {
    const queue = await createQueue();
    await enqueue(queue.db, { task: 'note', payload: {} });
    const first = await takeOne(queue);
    expect(await recoverJobs(queue.db, [WORKER])).toBe(1);
    const second = await takeOne(queue, OTHER);
    expect(second).toMatchObject({ id: first.id, attempt: 2 });
    expect(await completeJob(queue.db, WORKER, first)).toBe(false);
    expect(await failJob(queue.db, WORKER, first, 'late')).toBe(false);
    expect(await completeJob(queue.db, OTHER, second)).toBe(true);
  });

  it('is repeated at once the first time, with backoff later, and fails after its last attempt', async () => {
    const queue = await createQueue();
    await enqueue(queue.db, { task: 'note', payload: {}, maxAttempts: 3 });
    for (const pause of [0, 2 ** 2]) {
      await takeOne(queue);
      expect(await waitsFor(queue, pause, () => recoverJobs(queue.db, [WORKER]))).toBe(true);
      await makeDue(queue);
    }
    await takeOne(queue);
    await recoverJobs(queue.db, [WORKER]);
    expect(await rows(queue)).toMatchObject([{ failed: true, attempt: 3, error: 'The process that ran it ended.' }]);
  });

  it('gives way where the same dead workers ran a newer one with its key', async () => {
    const queue = await createQueue();
    for (const n of [1, 2]) {
      await enqueue(queue.db, { task: 'note', key: 'k', payload: { n } });
      await takeOne(queue, n);
    }
    await recoverJobs(queue.db, [1, 2]);
    expect(await rows(queue)).toMatchObject([{ payload: { n: 2 } }]);
  });
});

it('a released job has lost no attempt, and those in use are kept', async () => {
  const queue = await createQueue();
  await enqueueMany(
    queue.db,
    [1, 2].map((n) => ({ task: 'note', payload: { n } })),
  );
  const [kept] = await take(queue);
  const except = kept ? [kept.id] : [];
  await releaseJobs(queue.db, WORKER, { except, heldForMs: 60_000 });
  expect(await rows(queue)).toEqual([]);
  await releaseJobs(queue.db, WORKER, { except, heldForMs: 0 });
  expect(await rows(queue)).toMatchObject([{ payload: { n: 2 }, attempt: 0 }]);
});

describe('jobs of one organisation', () => {
  const takeShared = ({ db }: Queue, limit: number) => takeJobs(db, WORKER, ['note'], limit, 2);
  const notesOf = (tenant: string | undefined, count: number) =>
    Array.from({ length: count }, (_, n) => ({ task: 'note', payload: { n }, tenant }));

  it('take at most their share of a worker, however many are due first', async () => {
    const queue = await createQueue();
    await enqueueMany(queue.db, notesOf('a', 20));
    await enqueueMany(queue.db, [...notesOf('b', 1), ...notesOf(undefined, 3)]);
    expect((await takeShared(queue, 10)).map(({ tenant }) => tenant)).toEqual(['a', 'a']);
    const next = (await takeShared(queue, 10)).map(({ tenant }) => tenant);
    expect(next.sort()).toEqual(['b', null, null, null]);
    expect(await takeShared(queue, 10)).toEqual([]);
  });

  it('go on as soon as one of them has ended', async () => {
    const queue = await createQueue();
    await enqueueMany(queue.db, notesOf('a', 3));
    const [first] = await takeShared(queue, 10);
    if (!first) throw new Error('expected a job');
    await completeJob(queue.db, WORKER, first);
    expect(await takeShared(queue, 10)).toHaveLength(1);
  });
});
