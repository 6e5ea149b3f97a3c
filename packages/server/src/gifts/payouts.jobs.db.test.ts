import { sql } from '@svc/store';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { PayoutFixture } from '../../testing/payouts.ts';
import type { ChainChanges } from '../../testing/relayer.ts';
import { ChainUnavailableError } from '../chains/node-fetch.ts';
import { payoutGauges } from './module.ts';
import { payoutJobs } from './payouts.ts';

let payouts: PayoutFixture;
beforeAll(async () => {
  payouts = await PayoutFixture.start();
});
beforeEach(() => payouts.db.run(sql`delete from jobs`));
afterAll(() => payouts.relayers.stop());

async function run(task: string, chain: ChainChanges = {}): Promise<void> {
  const { handlers } = payoutJobs({ ...payouts.depsWith(chain), environments: ['development'] });
  await handlers[task]?.({} as never, { signal: new AbortController().signal } as never);
}

const planned = () =>
  payouts.db.rows<{ task: string; late: boolean }>(sql`
    select task, run_at > now() as late from jobs where task not like 'tend-%'`);

describe('the jobs of payouts', () => {
  it('pay what waits, and are done', async () => {
    const gift = await payouts.gift();
    await payouts.redeem(gift);
    await run('payout-development');
    expect(await planned()).toEqual([]);
    await payouts.finish();
    expect(await payouts.redeems(gift)).toEqual([{ status: 'SUCCESS', paid: 1 }]);
  });

  it('come back soon where the chain does not answer, and where the manager is short of USDC', async () => {
    const gift = await payouts.gift();
    await payouts.redeem(gift);
    const later = [{ task: 'payout-development', late: true }];
    await run('payout-development', { balanceOf: () => Promise.reject(new ChainUnavailableError('STARKNET')) });
    expect(await planned()).toEqual(later);
    await payouts.db.run(sql`delete from jobs`);
    await run('payout-development', { balanceOf: async () => 0n });
    expect(await planned()).toEqual(later);
    expect((await payouts.redeems(gift)).map(({ status }) => status)).toEqual(['PENDING']);
    await run('payout-development');
    await payouts.finish();
  });

  it('requeue waiting redeems without a job, and nothing else', async () => {
    await run('sweep-payouts-development');
    expect(await planned()).toEqual([]);
    await payouts.redeem(await payouts.gift());
    const waiting = await Promise.all(payoutGauges(payouts.db.reads).map(({ read }) => read()));
    expect(waiting).toEqual([
      [{ labels: { environment: 'development' }, value: 1 }],
      [{ labels: { environment: 'development' }, value: expect.any(Number) }],
    ]);
    await run('sweep-payouts-development');
    expect(await planned()).toEqual([{ task: 'payout-development', late: false }]);
    await run('payout-development');
    await payouts.finish();
  });
});
