import { selector } from '@svc/starknet';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newWallet, type TestWallet, tokenAddress, transferCall } from '../../../testing/chain.ts';
import { PaymasterFixture } from '../../../testing/paymaster.ts';
import { executeRequest } from './client.ts';

const BOB = 0xb0bn;
const EXECUTE = 'paymaster_executeTransaction';

let fixture: PaymasterFixture;

beforeAll(async () => {
  fixture = await PaymasterFixture.start();
});
afterAll(() => fixture.stop());

/** All that is sent meanwhile comes into one block. */
async function inOneBlock(work: () => Promise<void>): Promise<void> {
  await fixture.sandbox.post('/starknet/block-time', { seconds: 3_600 });
  try {
    await work();
    await fixture.sandbox.post('/starknet/mine', { blocks: 1 });
  } finally {
    await fixture.sandbox.post('/starknet/block-time', { seconds: 0 });
  }
}

async function sendSilently(wallet: TestWallet, calls: Parameters<TestWallet['prepared']>[1]): Promise<void> {
  const request = await wallet.prepared(fixture.sponsor, calls);
  fixture.server.order({ method: EXECUTE, loseAnswer: true });
  await expect(fixture.sponsor.sponsor(request, async () => {})).rejects.toMatchObject({ code: 'chain_unavailable' });
}

async function finish(): Promise<void> {
  await fixture.ageRelays();
  await fixture.runJobs();
  await fixture.runJobs();
}

describe('a transaction that the paymaster does not name', () => {
  it('is told from others of the same wallet in the same block by what it moves', async () => {
    const wallet = await fixture.wallet();
    await inOneBlock(async () => {
      for (const amount of [1n, 2n, 3n]) await sendSilently(wallet, [transferCall('USDC', BOB, amount)]);
    });
    await finish();
    const moved = fixture.outcomes.map(({ receipt }) =>
      receipt?.events.find(({ keys }) => keys.includes(wallet.address))?.data.at(0),
    );
    expect(moved.toSorted()).toEqual([1n, 2n, 3n]);
    expect(new Set(fixture.outcomes.map(({ hash }) => hash)).size).toBe(3);
  });

  it('is told from one with the same effect that is known already', async () => {
    const wallet = await fixture.wallet();
    const calls = [transferCall('USDC', BOB, 4n)];
    await inOneBlock(async () => {
      await fixture.sponsor.sponsor(await wallet.prepared(fixture.sponsor, calls), async () => {});
      await sendSilently(wallet, calls);
    });
    await finish();
    expect(new Set(fixture.outcomes.map(({ hash }) => hash)).size).toBe(2);
    expect(fixture.outcomes.map(({ result }) => result)).toEqual(['SUCCEEDED', 'SUCCEEDED']);
  });

  it('is told from what others send to the wallet in the same block', async () => {
    const [wallet, friend] = [newWallet(), await fixture.wallet()];
    await fixture.sponsor.sponsor(await wallet.prepared(fixture.sponsor, [], { deploy: true }), async () => {});
    await finish();
    fixture.outcomes.length = 0;
    const approve = { to: tokenAddress('USDC'), selector: selector('approve'), calldata: [BOB, 9n, 0n] };
    await inOneBlock(async () => {
      const gift = await friend.prepared(fixture.sponsor, [transferCall('USDC', wallet.address, 1n)]);
      // Nothing of ours, so that no relay knows its hash.
      await fixture.deps.paymaster.execute(executeRequest(gift, fixture.chain.chainId));
      await sendSilently(wallet, [approve]);
    });
    await finish();
    const found = fixture.outcomes.find(({ account }) => account === wallet.address);
    expect(found).toMatchObject({ result: 'SUCCEEDED' });
    expect(found?.receipt?.events.some(({ keys }) => keys.includes(selector('Approval')))).toBe(true);
  });

  it('is looked for further, with an error in the log, when several could be it', async () => {
    const wallet = await fixture.wallet();
    const calls = [transferCall('USDC', BOB, 5n)];
    await inOneBlock(async () => {
      await sendSilently(wallet, calls);
      await sendSilently(wallet, calls);
    });
    await finish();
    expect(fixture.outcomes).toEqual([]);
    expect(fixture.warnings).toContain('relay executed by a paymaster, transaction not identified');
  });
});
