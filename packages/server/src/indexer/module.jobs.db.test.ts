import { sql } from '@svc/store';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { useIndexer } from '../../testing/indexer.ts';
import { contextOfJob } from '../../testing/jobs.ts';
import { enqueueRecurring } from '../jobs/job.ts';
import { startWorkers } from '../jobs/workers.ts';
import { indexerJobs } from './module.ts';

const fixture = useIndexer();
const silent = { info() {}, warn() {}, error() {} };

function jobs() {
  const { db, networks } = fixture();
  return indexerJobs({ db, networks, log: silent, environments: ['development'] });
}

describe('the jobs of following', () => {
  it('run every five seconds, of which one waits at most, one after the other', async () => {
    const { db } = fixture();
    const { recurring } = jobs();
    const queue = 'follow-chain-step development';
    expect(recurring).toEqual([{ task: 'follow-chain development', everySeconds: 5, queue, isWatching: true }]);
    await enqueueRecurring(db, recurring);
    await db.run(sql`update recurring_jobs set next_at = now()`);
    await enqueueRecurring(db, recurring);
    expect(await db.rows(sql`select task, queue from jobs`)).toEqual([{ task: 'follow-chain development', queue }]);
  });

  it('look at the chain again and again while they run, and end when the process stops', async () => {
    const { db, networks, chain } = fixture();
    const looks = vi.spyOn(chain, 'head');
    onTestFinished(() => looks.mockRestore());
    const stopping = new AbortController();
    // At the start of a period.
    const { handlers } = indexerJobs({ db, networks, log: silent, environments: ['development'], now: () => 0 });
    const run = handlers['follow-chain development']?.({} as never, contextOfJob({ stopping: stopping.signal }));
    await expect.poll(() => looks.mock.calls.length).toBeGreaterThan(1);
    stopping.abort();
    await run;
  });

  it('find what arrives while workers run', async () => {
    const { db, organization, wallet, fund, history, cursor } = fixture();
    const workers = await startWorkers({ url: db.url, ...jobs(), concurrency: 2, log: silent });
    try {
      await expect.poll(cursor).toBeTypeOf('number');
      const own = await wallet(await organization());
      await fund(own);
      await expect.poll(async () => (await history(own)).length).toBe(1);
    } finally {
      await workers.stop();
    }
  });
});

describe('the first run', () => {
  it('begins with the latest block: what was there before is not looked for', async () => {
    const { db, index, organization, wallet, fund, history, chain, cursor } = fixture();
    await db.tx(async (tx) => {
      await tx.run(sql`delete from followed_blocks`);
      await tx.run(sql`delete from followed_chains`);
    });
    const own = await wallet(await organization());
    await fund(own);
    await index();
    expect(await history(own)).toEqual([]);
    expect(await cursor()).toBe(await chain.blockNumber());
    await fund(own, '2');
    await index();
    expect(await history(own)).toMatchObject([{ amount: 2_000_000n }]);
  });
});
