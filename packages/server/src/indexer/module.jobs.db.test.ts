import { sql } from '@svc/store';
import { describe, expect, it } from 'vitest';
import { useIndexer } from '../../testing/indexer.ts';
import type { JobContext, JobHandler } from '../jobs/job.ts';
import { startWorkers } from '../jobs/workers.ts';
import { indexerJobs } from './module.ts';

const fixture = useIndexer();
const silent = { info() {}, warn() {}, error() {} };
const context: JobContext = { attempt: 1, maxAttempts: 25, jobId: '1', signal: new AbortController().signal };

function jobs() {
  const { db, networks } = fixture();
  return indexerJobs({ db, networks, log: silent, environments: ['development'] });
}

async function run(task: string): Promise<void> {
  const handler = jobs().handlers[task] as JobHandler<object> | undefined;
  if (!handler) throw new Error(`There is no ${task}.`);
  await handler({}, context);
}

describe('the jobs of following', () => {
  it('ask for a step every second, of which one waits at most, one after the other', async () => {
    expect(jobs().recurring).toEqual([{ task: 'follow-chain development', everySeconds: 1 }]);
    await run('follow-chain development');
    await run('follow-chain development');
    const waiting = await fixture().db.rows(sql`select task, queue from jobs`);
    expect(waiting).toEqual([{ task: 'follow-chain-step development', queue: 'follow-chain-step development' }]);
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
