import { type Database, sql } from '@svc/store';
import { expect, it } from 'vitest';
import { BOUND, contextOfJob, createQueue, silent } from '../../testing/jobs.ts';
import { enqueue, takeJobs } from './job.ts';
import { createRunner } from './workers.ts';

const WORKER = 7;

it.each([
  ['done', async () => {}, []],
  ['failed', () => Promise.reject(new Error('no luck')), [{ worker: null, last_error: 'no luck' }]],
])(
  'a job that is %s while the database is away stays with its worker until that is stored',
  async (_how, note, rows) => {
    const queue = await createQueue();
    const away = { now: true, noticed: false };
    const run: Database['run'] = async (query) => {
      away.noticed = true;
      if (away.now) throw new Error('The database is away.');
      return queue.db.run(query);
    };
    const db = { ...queue.db, run };
    const { stopping } = contextOfJob();
    const runner = createRunner({ db, worker: WORKER, handlers: { note }, log: silent, stopping, onFree() {} });
    await enqueue(queue.db, { task: 'note', payload: {} });
    for (const job of await takeJobs(queue.db, WORKER, ['note'], 1)) runner.start(job);
    await expect.poll(() => away.noticed, BOUND).toBe(true);
    expect(await runner.drain(0)).toBe(false);
    expect(runner.jobs()).toHaveLength(1);
    away.now = false;
    expect(await runner.drain(BOUND.timeout)).toBe(true);
    expect(await queue.db.rows(sql`select worker, last_error from jobs`)).toEqual(rows);
  },
);
