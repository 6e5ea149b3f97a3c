import { sql } from '@svc/store';
import { describe, expect, it } from 'vitest';
import { useIndexer } from '../../testing/indexer.ts';
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
  it('run every second, of which one waits at most, one after the other', async () => {
    const { db } = fixture();
    const { recurring } = jobs();
    const queue = 'follow-chain-step development';
    expect(recurring).toEqual([{ task: 'follow-chain development', everySeconds: 1, queue }]);
    await enqueueRecurring(db, recurring);
    await db.run(sql`update recurring_jobs set next_at = now()`);
    await enqueueRecurring(db, recurring);
    expect(await db.rows(sql`select task, queue from jobs`)).toEqual([{ task: 'follow-chain development', queue }]);
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
