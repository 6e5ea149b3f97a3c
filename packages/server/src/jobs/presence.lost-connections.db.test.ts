import { sql } from '@svc/store';
import { describe, expect, it, onTestFinished } from 'vitest';
import { BOUND, countOf, createQueue, type Queue, start } from '../../testing/jobs.ts';
import { enqueue, enqueueMany, type JobContext } from './job.ts';
import { PRESENCE_APPLICATION, PRESENCE_LOCK } from './presence.ts';

const cut = ({ db }: Queue, application: string) =>
  db.run(sql`select pg_terminate_backend(pid) from pg_stat_activity
              where datname = current_database() and application_name like ${application}`);

const workerOf = async ({ db }: Queue) =>
  (await db.one<{ worker: number }>(sql`select worker from jobs where worker is not null`))?.worker;

describe('when connections of the workers are cut', () => {
  it('repeatedly, every job is still done and the process continues', async () => {
    const queue = await createQueue();
    const done = new Set<number>();
    const note = async ({ n }: { n: number }) => {
      await queue.db.one(sql`select pg_sleep(0.001)`);
      done.add(n);
    };
    await enqueueMany(
      queue.db,
      Array.from({ length: 1_000 }, (_, n) => ({ task: 'note', payload: { n } })),
    );
    await start(queue, { concurrency: 5, handlers: { note } });
    for (const part of [50, 200, 400, 600, 800]) {
      await expect.poll(() => done.size, BOUND).toBeGreaterThan(part);
      await cut(queue, 'svc jobs%');
    }
    // An answer that was cut off on its way leaves its jobs with this worker; make them look as old as they would get.
    await expect
      .poll(async () => {
        await queue.db.run(sql`update jobs set started_at = started_at - interval '1 minute' where worker is not null`);
        return countOf(queue, sql`select from jobs`);
      }, BOUND)
      .toBe(0);
    expect(done.size).toBe(1_000);
  });

  it('a worker that loses only its lock reconnects, and its job is not run by another', async () => {
    const queue = await createQueue();
    const begun = Promise.withResolvers<JobContext>();
    const open = Promise.withResolvers<void>();
    let runs = 0;
    const handler = async (_payload: unknown, context: JobContext) => {
      runs++;
      begun.resolve(context);
      await open.promise;
    };
    await enqueue(queue.db, { task: 'gate', payload: {} });
    await start(queue, { handlers: { gate: handler } });
    const { signal } = await begun.promise;
    const worker = await workerOf(queue);
    const present = () =>
      countOf(queue, sql`select from pg_locks where locktype = 'advisory' and objid = ${worker} and granted`);
    expect(await cut(queue, PRESENCE_APPLICATION)).toBe(1);
    await expect.poll(present, BOUND).toBe(1);
    await start(queue, { handlers: { gate: handler } });
    open.resolve();
    await expect.poll(() => countOf(queue, sql`select from jobs`), BOUND).toBe(0);
    expect(signal.aborted).toBe(false);
    expect(runs).toBe(1);
  });

  it('a worker that cannot reconnect interrupts its jobs', async () => {
    const queue = await createQueue();
    const begun = Promise.withResolvers<JobContext>();
    const hang = async (_payload: unknown, context: JobContext) => {
      begun.resolve(context);
      await new Promise((_resolve, reject) => context.signal.addEventListener('abort', reject));
    };
    await enqueue(queue.db, { task: 'hang', payload: {}, maxAttempts: 1 });
    await start(queue, { handlers: { hang } });
    const { signal } = await begun.promise;
    const thief = await queue.db.pool.connect();
    onTestFinished(() => thief.release(true));
    const stolen = thief.query('select pg_advisory_lock($1, $2)', [PRESENCE_LOCK, await workerOf(queue)]);
    await expect.poll(() => countOf(queue, sql`select from pg_locks where not granted`), BOUND).toBe(1);
    await cut(queue, PRESENCE_APPLICATION);
    await stolen;
    await expect.poll(() => signal.aborted, BOUND).toBe(true);
  });

  it('a job that was taken but never arrived is released', async () => {
    const queue = await createQueue();
    const begun = Promise.withResolvers<void>();
    const open = Promise.withResolvers<void>();
    const gate = async () => {
      begun.resolve();
      await open.promise;
    };
    const arrived = Promise.withResolvers<void>();
    await enqueue(queue.db, { task: 'gate', payload: {} });
    await start(queue, { handlers: { gate, note: async () => arrived.resolve() } });
    await begun.promise;
    await queue.db.run(sql`
      insert into jobs (task, payload, run_at, attempt, max_attempts, worker, started_at)
      select 'note', '{}', now(), 1, 1, worker, now() - interval '1 minute' from jobs`);
    await arrived.promise;
    open.resolve();
    await expect.poll(() => countOf(queue, sql`select from jobs`), BOUND).toBe(0);
  });
});
