import { sql } from '@svc/store';
import { describe, expect, it } from 'vitest';
import { BOUND, countOf, createQueue, kill, QUICK, startProcess } from '../../testing/jobs.ts';
import { enqueue, enqueueMany } from './job.ts';

const CONCURRENCY = 8;
const JOBS = 2_000;
const settings = [String(CONCURRENCY), JSON.stringify(QUICK)];

describe('when a worker process is killed', () => {
  it('none of 2,000 jobs is lost, with two processes of which one is killed twice in the middle', async () => {
    const queue = await createQueue();
    const done = () => countOf(queue, sql`select distinct n from traces`);
    await startProcess(queue, ...settings);
    for (const part of [0, 1]) {
      const victim = await startProcess(queue, ...settings);
      const numbers = Array.from({ length: JOBS / 2 }, (_, i) => (part * JOBS) / 2 + i);
      await enqueueMany(
        queue.db,
        numbers.map((n) => ({ task: 'note', payload: { n } })),
      );
      const byVictim = () => countOf(queue, sql`select from traces where pid = ${victim.pid}`);
      await expect.poll(byVictim, BOUND).toBeGreaterThan(50);
      await kill(victim);
    }
    await expect.poll(() => countOf(queue, sql`select from jobs`), BOUND).toBe(0);
    expect(await done()).toBe(JOBS);
    // Repeated are at most those that the killed ones had in hand.
    expect(await countOf(queue, sql`select from traces`)).toBeLessThanOrEqual(JOBS + 2 * CONCURRENCY);
  });

  it('the job it was running is run by the survivor', async () => {
    const queue = await createQueue();
    const runners = () => queue.db.rows<{ pid: number }>(sql`select pid from traces order by ctid`);
    await enqueue(queue.db, { task: 'hang', payload: { n: 1 } });
    const victim = await startProcess(queue, ...settings);
    await expect.poll(runners, BOUND).toEqual([{ pid: victim.pid }]);
    const survivor = await startProcess(queue, ...settings);
    await kill(victim);
    await expect.poll(runners, BOUND).toEqual([{ pid: victim.pid }, { pid: survivor.pid }]);
  });
});
