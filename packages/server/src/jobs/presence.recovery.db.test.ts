import { sql } from '@svc/store';
import { expect, it, onTestFinished } from 'vitest';
import { countOf, createQueue, type Queue, silent } from '../../testing/jobs.ts';
import { enqueue, takeJobs } from './job.ts';
import { createRecovery, DEFAULT_TIMING, findNeglected, PRESENCE_LOCK } from './presence.ts';

const DEAD = 41;
const SELF = 42;

async function setUp() {
  const queue = await createQueue();
  const clock = { now: 0 };
  const recoverMissing = createRecovery({ db: queue.db, recoverAfterMs: 1_000, log: silent, now: () => clock.now });
  const recover = async () => {
    const { missing } = await findNeglected(queue.db, SELF, ['note'], { except: [], heldForMs: 0 });
    return recoverMissing(missing);
  };
  await enqueue(queue.db, { task: 'note', payload: {} });
  return { queue, clock, recover };
}

const running = (queue: Queue) => countOf(queue, sql`select from jobs where worker is not null`);

/** Holds the lock of a worker as its process would. */
async function holdLock({ db }: Queue, worker: number): Promise<() => void> {
  const client = await db.pool.connect();
  await client.query('select pg_advisory_lock($1, $2)', [PRESENCE_LOCK, worker]);
  let held = true;
  const release = () => {
    if (held) client.release(true);
    held = false;
  };
  onTestFinished(release);
  return release;
}

it('jobs of a worker that stays away are recovered after the time it has to reconnect', async () => {
  const { queue, clock, recover } = await setUp();
  await takeJobs(queue.db, DEAD, ['note'], 1);
  expect(await recover()).toBe(0);
  clock.now = 999;
  expect(await recover()).toBe(0);
  clock.now = 1_000;
  expect(await recover()).toBe(1);
  expect(await running(queue)).toBe(0);
});

it('jobs of a live worker are left alone, and a worker that reconnects has its full time again', async () => {
  const { queue, clock, recover } = await setUp();
  await takeJobs(queue.db, DEAD, ['note'], 1);
  await recover();
  const release = await holdLock(queue, DEAD);
  clock.now = 5_000;
  expect(await recover()).toBe(0);
  release();
  await expect
    .poll(() => countOf(queue, sql`select from pg_locks where locktype = 'advisory' and objid = ${DEAD}`))
    .toBe(0);
  expect(await recover()).toBe(0);
  clock.now = 5_999;
  expect(await recover()).toBe(0);
  clock.now = 6_000;
  expect(await recover()).toBe(1);
});

it('a worker that lost its lock interrupts its jobs before others recover them', () => {
  expect(DEFAULT_TIMING.lostAfterMs + DEFAULT_TIMING.pollMs).toBeLessThan(DEFAULT_TIMING.recoverAfterMs);
});

it('a worker does not recover its own jobs', async () => {
  const { queue, clock, recover } = await setUp();
  await takeJobs(queue.db, SELF, ['note'], 1);
  await recover();
  clock.now = 5_000;
  expect(await recover()).toBe(0);
  expect(await running(queue)).toBe(1);
});
