import { sql } from '@svc/store';
import { pino } from 'pino';
import { describe, expect, it, vi } from 'vitest';
import { BOUND, countOf, createQueue, QUICK, type Queue, silent, start } from '../../testing/jobs.ts';
import { showError } from '../log.ts';
import { enqueue, enqueueMany, failedJobs, type JobContext } from './job.ts';

const jobsLeft = (queue: Queue) => countOf(queue, sql`select from jobs`);

/** A handler that the test opens, and that tells when it has begun. */
function gate() {
  const begun = Promise.withResolvers<JobContext>();
  const open = Promise.withResolvers<void>();
  const handler = async (_payload: unknown, context: JobContext) => {
    begun.resolve(context);
    await open.promise;
  };
  return { handler, begun: begun.promise, open: open.resolve };
}

const untilAborted = (signal: AbortSignal) =>
  new Promise<never>((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));

describe('workers', () => {
  it('run a job once it is committed, and tell its handler what it needs', async () => {
    const queue = await createQueue();
    const calls: unknown[][] = [];
    const note = async (...all: unknown[]) => void calls.push(all);
    // They poll once an hour, so only the notification wakes them.
    await start(queue, { handlers: { note }, timing: { ...QUICK, pollMs: 3_600_000 } });
    for (let n = 1; n <= 5; n++) {
      await queue.db.tx((tx) => enqueue(tx, { task: 'note', payload: { n }, maxAttempts: 3 }));
      await expect.poll(() => jobsLeft(queue), BOUND).toBe(0);
    }
    expect(calls.map(([payload]) => payload)).toEqual([1, 2, 3, 4, 5].map((n) => ({ n })));
    const signals = { signal: expect.any(AbortSignal), stopping: expect.any(AbortSignal) };
    expect(calls[0]?.[1]).toEqual({ attempt: 1, maxAttempts: 3, jobId: '1', ...signals });
  });

  it('try a failing job again until its attempts are used up, and never log its payload', async () => {
    const queue = await createQueue();
    const lines: string[] = [];
    const log = pino({ serializers: { err: showError } }, { write: (line: string) => void lines.push(line) });
    let attempts = 0;
    const fail = async () => {
      attempts++;
      throw new Error('no luck');
    };
    await start(queue, { log, handlers: { fail } });
    await enqueue(queue.db, { task: 'fail', payload: { code: 'SECRET' }, maxAttempts: 3 });
    for (let attempt = 1; attempt <= 3; attempt++) {
      await expect
        .poll(() => countOf(queue, sql`select from jobs where worker is null and attempt = ${attempt}`), BOUND)
        .toBe(1);
      await queue.db.run(sql`update jobs set run_at = now()`);
    }
    expect(await failedJobs(queue.db)).toMatchObject([{ task: 'fail', attempts: 3, lastError: 'no luck' }]);
    expect(attempts).toBe(3);
    expect(lines.join()).toContain('no luck');
    expect(lines.join()).not.toContain('SECRET');
  });

  it('log the failure of a job with its error, so that the stack is known', async () => {
    const queue = await createQueue();
    const warn = vi.fn();
    const failure = new Error('no luck', { cause: new Error('no answer') });
    await start(queue, { log: { ...silent, warn }, handlers: { fail: () => Promise.reject(failure) } });
    await enqueue(queue.db, { task: 'fail', payload: {} });
    await expect
      .poll(() => warn.mock.calls, BOUND)
      .toEqual([[{ task: 'fail', jobId: '1', attempt: 1, err: failure }, 'job failed']]);
  });

  it('store a failure whose message has characters that PostgreSQL refuses', async () => {
    const queue = await createQueue();
    const fail = () => Promise.reject(new Error('bad\0 answer \ud800'));
    await start(queue, { handlers: { fail } });
    await enqueue(queue.db, { task: 'fail', payload: {}, maxAttempts: 1 });
    await expect.poll(() => failedJobs(queue.db), BOUND).toMatchObject([{ lastError: 'bad answer \ufffd' }]);
  });

  it('do not run a job before its time, and find it when the time has come', async () => {
    const queue = await createQueue();
    const order: number[] = [];
    await start(queue, { handlers: { note: async ({ n }: { n: number }) => void order.push(n) } });
    await enqueue(queue.db, { task: 'note', payload: { n: 2 }, runAt: new Date(Date.now() + 3_600_000) });
    await enqueue(queue.db, { task: 'note', payload: { n: 1 } });
    await expect.poll(() => jobsLeft(queue), BOUND).toBe(1);
    expect(order).toEqual([1]);
    await queue.db.run(sql`update jobs set run_at = now()`);
    await expect.poll(() => jobsLeft(queue), BOUND).toBe(0);
    expect(order).toEqual([1, 2]);
  });

  it('run the next job of a queue once the one before it has ended, without being woken again', async () => {
    const queue = await createQueue();
    const { handler, begun, open } = gate();
    const timing = { ...QUICK, pollMs: 3_600_000 };
    await start(queue, { handlers: { gate: handler, note: async () => {} }, timing });
    await enqueue(queue.db, { task: 'gate', payload: {}, queue: 'q' });
    await begun;
    await enqueue(queue.db, { task: 'note', payload: {}, queue: 'q' });
    expect(await jobsLeft(queue)).toBe(2);
    open();
    await expect.poll(() => jobsLeft(queue), BOUND).toBe(0);
  });

  it('have a place for a job that waits most of the time beside those of the others', async () => {
    const queue = await createQueue();
    const { handler, begun, open } = gate();
    const recurring = [{ task: 'watch', everySeconds: 3_600, queue: 'watch', isWatching: true }];
    await start(queue, { concurrency: 1, recurring, handlers: { watch: handler, note: async () => {} } });
    await begun;
    await enqueue(queue.db, { task: 'note', payload: {} });
    await expect.poll(() => jobsLeft(queue), BOUND).toBe(1);
    open();
    await expect.poll(() => jobsLeft(queue), BOUND).toBe(0);
  });

  it('run no more jobs at a time than they may, and none of a queue beside another', async () => {
    const queue = await createQueue();
    const running = { all: 0, mostOfAll: 0, queued: 0, mostQueued: 0 };
    const note = async ({ queued }: { queued: boolean }) => {
      running.mostOfAll = Math.max(running.mostOfAll, ++running.all);
      if (queued) running.mostQueued = Math.max(running.mostQueued, ++running.queued);
      await queue.db.one(sql`select 1`);
      if (queued) running.queued--;
      running.all--;
    };
    const queued = { task: 'note', payload: { queued: true }, queue: 'q' };
    const free = { task: 'note', payload: { queued: false } };
    await enqueueMany(
      queue.db,
      Array.from({ length: 60 }, (_, i) => (i % 2 ? queued : free)),
    );
    await start(queue, { concurrency: 3, handlers: { note } });
    await start(queue, { concurrency: 2, handlers: { note } });
    await expect.poll(() => jobsLeft(queue), BOUND).toBe(0);
    expect(running).toEqual({ all: 0, mostOfAll: expect.any(Number), queued: 0, mostQueued: 1 });
    expect(running.mostOfAll).toBeLessThanOrEqual(5);
  });
});

describe('stopping', () => {
  it('lets the running job finish and takes no other', async () => {
    const queue = await createQueue();
    const { handler, begun, open } = gate();
    const workers = await start(queue, { concurrency: 1, handlers: { gate: handler } });
    await enqueueMany(
      queue.db,
      [1, 2].map((n) => ({ task: 'gate', payload: { n } })),
    );
    const context = await begun;
    let ended = false;
    const stopped = workers.stop().then(() => {
      ended = true;
    });
    for (let i = 0; i < 50; i++) await queue.db.one(sql`select 1`);
    expect({ ended, aborted: context.signal.aborted }).toEqual({ ended: false, aborted: false });
    open();
    await stopped;
    expect(await queue.db.rows(sql`select payload, attempt, worker from jobs`)).toEqual([
      { payload: { n: 2 }, attempt: 0, worker: null },
    ]);
  });

  it('is told at once to a job that waits for something, which ends and is done', async () => {
    const queue = await createQueue();
    const begun = Promise.withResolvers<JobContext>();
    const wait = async (_payload: unknown, context: JobContext) => {
      begun.resolve(context);
      await untilAborted(context.stopping).catch(() => {});
    };
    // Would end the test by its time limit.
    const workers = await start(queue, { graceMs: 3_600_000, handlers: { wait } });
    await enqueue(queue.db, { task: 'wait', payload: {} });
    const { signal, stopping } = await begun.promise;
    expect(stopping.aborted).toBe(false);
    await workers.stop();
    expect(signal.aborted).toBe(false);
    expect(await jobsLeft(queue)).toBe(0);
  });

  it('aborts what does not finish in time and hands it back without costing an attempt', async () => {
    const queue = await createQueue();
    const begun = Promise.withResolvers<void>();
    const hang = async (_payload: unknown, { signal }: JobContext) => {
      begun.resolve();
      await untilAborted(signal);
    };
    const workers = await start(queue, { graceMs: 1, handlers: { hang } });
    await enqueue(queue.db, { task: 'hang', payload: {} });
    await begun.promise;
    await workers.stop();
    expect(await queue.db.rows(sql`select attempt, worker, last_error from jobs`)).toEqual([
      { attempt: 0, worker: null, last_error: null },
    ]);
  });
});
