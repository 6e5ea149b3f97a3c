import { listen, sql } from '@svc/store';
import { describe, expect, it } from 'vitest';
import { createQueue, type Queue } from '../../testing/jobs.ts';
import { enqueue, enqueueMany, isWokenBy, takeJobs, WAKE_CHANNEL } from './job.ts';

const waiting = ({ db }: Queue) =>
  db.rows<{ payload: unknown; run_at: Date; attempt: number }>(
    sql`select payload, run_at, attempt from jobs where worker is null and failed_at is null order by id`,
  );

describe('enqueueing', () => {
  it('is part of the transaction: committed with it, rolled back with it', async () => {
    const queue = await createQueue();
    await queue.db.tx((tx) => enqueue(tx, { task: 'note', payload: { n: 1 } }));
    const failing = queue.db.tx(async (tx) => {
      await enqueue(tx, { task: 'note', payload: { n: 2 } });
      throw new Error('no');
    });
    await expect(failing).rejects.toThrow('no');
    expect(await waiting(queue)).toMatchObject([{ payload: { n: 1 } }]);
  });

  it('keeps one waiting job a key, with the last payload and the earlier time', async () => {
    const queue = await createQueue();
    const [soon, late] = [new Date('2030-01-01'), new Date('2040-01-01')];
    await enqueue(queue.db, { task: 'note', key: 'a', payload: { n: 1 }, runAt: soon });
    await enqueue(queue.db, { task: 'note', key: 'a', payload: { n: 2 }, runAt: late });
    await enqueue(queue.db, { task: 'note', key: 'b', payload: { n: 3 }, runAt: late });
    await enqueue(queue.db, { task: 'other', key: 'a', payload: { n: 4 }, runAt: late });
    expect(await waiting(queue)).toMatchObject([
      { payload: { n: 2 }, run_at: soon },
      { payload: { n: 3 }, run_at: late },
      { payload: { n: 4 }, run_at: late },
    ]);
  });

  it('adds a job beside one with the same key that runs already', async () => {
    const queue = await createQueue();
    await enqueue(queue.db, { task: 'note', key: 'a', payload: { n: 1 } });
    expect(await takeJobs(queue.db, 1, ['note'], 10)).toHaveLength(1);
    await enqueue(queue.db, { task: 'note', key: 'a', payload: { n: 2 } });
    expect(await waiting(queue)).toMatchObject([{ payload: { n: 2 } }]);
  });

  it('makes one waiting job of a key, however many transactions enqueue it at once', async () => {
    const queue = await createQueue();
    const jobs = ['x', 'y', 'z'].map((key) => ({ task: 'note', key, payload: {} }));
    const turned = jobs.toReversed();
    await Promise.all(Array.from({ length: 20 }, (_, i) => enqueueMany(queue.db, i % 2 ? jobs : turned)));
    expect(await waiting(queue)).toHaveLength(3);
  });

  it('takes many at once, and of the same key the last', async () => {
    const queue = await createQueue();
    const jobs = Array.from({ length: 300 }, (_, n) => ({ task: 'note', payload: { n } }));
    await enqueueMany(queue.db, [
      ...jobs,
      { task: 'note', key: 'k', payload: 'first' },
      { task: 'note', key: 'k', payload: 'last' },
    ]);
    const stored = await waiting(queue);
    expect(stored).toHaveLength(301);
    expect(stored.filter((job) => typeof job.payload === 'string')).toMatchObject([{ payload: 'last' }]);
  });

  it('accepts no payload at all', async () => {
    const queue = await createQueue();
    await enqueue(queue.db, { task: 'note', payload: undefined });
    expect(await waiting(queue)).toMatchObject([{ payload: null }]);
  });

  it('refuses a payload that is a document, more jobs than a statement bears, and impossible attempts', async () => {
    const { db } = await createQueue();
    const document = { task: 'note', payload: 'x'.repeat(70_000) };
    await expect(enqueue(db, document)).rejects.toThrow('longer than');
    await expect(enqueueMany(db, Array(1_001).fill({ task: 'note', payload: {} }))).rejects.toThrow('At most 1000');
    await expect(enqueue(db, { task: 'note', payload: {}, maxAttempts: 0 })).rejects.toThrow(
      'violates check constraint',
    );
  });
});

describe('a notification', () => {
  it('names the tasks of jobs that are due, and nothing for those that are not', async () => {
    const queue = await createQueue();
    const heard: string[] = [];
    const listener = await listen(queue.url, WAKE_CHANNEL, { onMessage: (payload) => heard.push(payload) });
    const later = new Date(Date.now() + 3_600_000);
    await enqueue(queue.db, { task: 'late', payload: {}, runAt: later });
    await enqueueMany(queue.db, [
      { task: 'note b', payload: {} },
      { task: 'note a', payload: {} },
      { task: 'note a', payload: {} },
      { task: 'late', payload: {}, runAt: later },
    ]);
    await expect.poll(() => heard).toEqual(['note a\nnote b']);
    await enqueueMany(
      queue.db,
      ['q1', 'q2', undefined].map((name) => ({ task: 'note', payload: {}, ...(name && { queue: name }) })),
    );
    await expect.poll(() => heard).toEqual(['note a\nnote b', 'note\nnote\n\tq1\nnote\n\tq2']);
    await listener.close();
  });

  it('names no queues where they are too many for it', async () => {
    const queue = await createQueue();
    const heard: string[] = [];
    const listener = await listen(queue.url, WAKE_CHANNEL, { onMessage: (payload) => heard.push(payload) });
    const jobs = Array.from({ length: 1_000 }, (_, n) => ({ task: 'note', payload: {}, queue: `queue ${n}` }));
    await enqueueMany(queue.db, jobs);
    await expect.poll(() => heard).toEqual(['note']);
    await listener.close();
  });

  it('wakes those who run one of the tasks, and all where it names none', () => {
    const handlers = { 'note a': 1, other: 2 };
    expect(isWokenBy('note a\nnote b', handlers)).toBe(true);
    expect(isWokenBy('note b', handlers)).toBe(false);
    expect(isWokenBy('toString', handlers)).toBe(false);
    expect(isWokenBy('', handlers)).toBe(true);
  });

  it('wakes nobody for jobs of queues whose next job is looked for anyway', () => {
    const handlers = { note: 1 };
    const busy = new Set(['q1']);
    expect(isWokenBy('note\n\tq1', handlers, busy)).toBe(false);
    expect(isWokenBy('note\n\tq2', handlers, busy)).toBe(true);
    expect(isWokenBy('note\n\tq1\nnote\n\tq2', handlers, busy)).toBe(true);
    expect(isWokenBy('note\nnote\n\tq1', handlers, busy)).toBe(true);
    expect(isWokenBy('other\n\tq2', handlers, busy)).toBe(false);
  });
});
