import { sql } from '@svc/store';
import { expect, it, onTestFinished } from 'vitest';
import { countOf, createQueue, type Queue, silent } from '../../testing/jobs.ts';
import { enqueue } from './job.ts';
import { takeJobs } from './job-store.ts';
import { createRecovery, DEFAULT_TIMING, PRESENCE_LOCK } from './presence.ts';

const DEAD = 41;
const SELF = 42;

async function setUp() {
  const queue = await createQueue();
  const clock = { now: 0 };
  const options = { db: queue.db, worker: SELF, takeOverAfterMs: 1_000, log: silent, now: () => clock.now };
  await enqueue(queue.db, { task: 'note', payload: {} });
  return { queue, clock, look: createRecovery(options) };
}

const running = (queue: Queue) => countOf(queue, sql`select from jobs where worker is not null`);

/** Holds the lock of a worker as its process would. */
async function beAlive({ db }: Queue, worker: number): Promise<() => void> {
  const client = await db.pool.connect();
  await client.query('select pg_advisory_lock($1, $2)', [PRESENCE_LOCK, worker]);
  let alive = true;
  const die = () => {
    if (alive) client.release(true);
    alive = false;
  };
  onTestFinished(die);
  return die;
}

it('the jobs of a worker that stays away are taken over, after the time it has to come back', async () => {
  const { queue, clock, look } = await setUp();
  await takeJobs(queue.db, DEAD, ['note'], 1);
  expect(await look()).toBe(0);
  clock.now = 999;
  expect(await look()).toBe(0);
  clock.now = 1_000;
  expect(await look()).toBe(1);
  expect(await running(queue)).toBe(0);
});

it('the jobs of a worker that lives are left alone, and of one that came back its absence is forgotten', async () => {
  const { queue, clock, look } = await setUp();
  await takeJobs(queue.db, DEAD, ['note'], 1);
  await look();
  const die = await beAlive(queue, DEAD);
  clock.now = 5_000;
  expect(await look()).toBe(0);
  die();
  await expect
    .poll(() => countOf(queue, sql`select from pg_locks where locktype = 'advisory' and objid = ${DEAD}`))
    .toBe(0);
  expect(await look()).toBe(0);
  clock.now = 5_999;
  expect(await look()).toBe(0);
  clock.now = 6_000;
  expect(await look()).toBe(1);
});

it('a worker that is lost interrupts its jobs well before others take them over', () => {
  expect(DEFAULT_TIMING.lostAfterMs + DEFAULT_TIMING.lookMs).toBeLessThan(DEFAULT_TIMING.takeOverAfterMs);
});

it('a worker does not take over its own jobs', async () => {
  const { queue, clock, look } = await setUp();
  await takeJobs(queue.db, SELF, ['note'], 1);
  await look();
  clock.now = 5_000;
  expect(await look()).toBe(0);
  expect(await running(queue)).toBe(1);
});
