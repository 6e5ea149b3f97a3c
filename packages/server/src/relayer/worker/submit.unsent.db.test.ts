import { sql } from '@svc/store';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { transferCall } from '../../../testing/chain.ts';
import { RelayerFixture } from '../../../testing/relayer.ts';
import { padAddress, type SignedInvoke } from '../../chains/starknet/chain.ts';
import { processAccount } from './worker.ts';

const nothing = async () => {};
/** A request that cannot reach the chain once it has stored what it was asked, and whose workers are away. */
const cutOff = { send: async () => ({ outcome: 'unknown', reason: 'cut off' }) as const };
const alone = { pause: nothing };

let relayers: RelayerFixture;
beforeAll(async () => {
  relayers = await RelayerFixture.start();
});
afterAll(() => relayers.stop());

/** Stores so many transfers of one unit each without sending any. */
async function storeUnsent(count: number) {
  const [payer, bob] = [await relayers.begin(), relayers.newAddress()];
  const sponsor = relayers.sponsorWith(alone, cutOff);
  const all = [];
  for (let number = 0; number < count; number += 1) {
    const asked = await payer.prepared(sponsor, [transferCall('USDC', bob, 1n)]);
    const failure: unknown = await sponsor.sponsor(asked, nothing).catch((error: unknown) => error);
    all.push({ asked, failure });
  }
  return { bob, all };
}

describe('what was stored and never sent', () => {
  it('is not lost: the caller is told its hash and not to sign anew', async () => {
    const { all } = await storeUnsent(1);
    const row = await relayers.db.one<{ hash: string }>(sql`select hash from relays`);
    const message = expect.stringMatching(new RegExp(`transaction ${row?.hash} .*do not sign anew`));
    expect(all[0]?.failure).toMatchObject({ code: 'chain_unavailable', status: 500, message });
    expect(await relayers.states()).toEqual(['STORED']);
  });

  it('is sent by the relay worker, all in order, and the same request then answers it', async () => {
    const { bob, all } = await storeUnsent(3);
    await relayers.finish();
    expect(await relayers.states()).toEqual(['SUCCEEDED', 'SUCCEEDED', 'SUCCEEDED']);
    expect(await relayers.balance(bob)).toBe(3n);
    const [first] = all;
    if (!first) throw new Error('three were stored');
    const { hash } = await relayers.sponsor.sponsor(first.asked, () => Promise.reject(new Error('stored twice')));
    expect(await relayers.chain.transactionStatus(hash)).toMatchObject({ status: 'ACCEPTED_ON_L2' });
  });

  it('is left to its request while it is young, unless all others wait for it', async () => {
    await storeUnsent(2);
    const sent: bigint[] = [];
    await relayers.runPass({
      send: async ({ transaction }: SignedInvoke) => {
        sent.push(BigInt(transaction.nonce));
        return { outcome: 'sent' };
      },
    });
    expect(sent).toEqual([await relayers.nonce()]);
  });

  it('waits while it is too far ahead for a node to take it', async () => {
    await storeUnsent(3);
    relayers.clock.advance(3_000);
    const behind = (await relayers.nonce()) - 149n;
    const sent: bigint[] = [];
    await relayers.runPass({
      nonceAt: async () => behind,
      send: async ({ transaction }: SignedInvoke) => {
        sent.push(BigInt(transaction.nonce));
        return { outcome: 'sent' };
      },
    });
    expect(sent).toEqual([behind + 149n]);
    await relayers.finish();
  });

  it('is sent also when the key of its account is no longer configured', async () => {
    const { bob } = await storeUnsent(1);
    const { deps } = relayers;
    const account = padAddress(deps.keys('development')[0]?.address ?? 0n);
    for (let looks = 0; looks < 3; looks += 1)
      await processAccount({ ...deps, keys: () => [] }, 'development', account);
    expect(await relayers.states()).toEqual(['SUCCEEDED']);
    expect(await relayers.balance(bob)).toBe(1n);
  });
});

describe('what a node took and lost', () => {
  it('is sent again, all of it at one look', async () => {
    const [payer, bob] = [await relayers.begin(), relayers.newAddress()];
    const { sponsor } = relayers;
    await relayers.sandbox.fault({ kind: 'forget', count: 3 });
    for (const amount of [1n, 2n, 4n]) {
      await sponsor.sponsor(await payer.prepared(sponsor, [transferCall('USDC', bob, amount)]), nothing);
    }
    expect(await relayers.balance(bob)).toBe(0n);
    await relayers.runPass();
    expect(await relayers.balance(bob)).toBe(7n);
    await relayers.finish();
    expect(await relayers.states()).toEqual(['SUCCEEDED', 'SUCCEEDED', 'SUCCEEDED']);
  });
});

describe('what stands in an open block', () => {
  it('is not final before the block is sealed', async () => {
    const [payer, bob] = [await relayers.begin(), relayers.newAddress()];
    await relayers.sandbox.holdBlocks();
    await relayers.sponsor.sponsor(await payer.prepared(relayers.sponsor, [transferCall('USDC', bob, 5n)]), nothing);
    await relayers.runPass();
    relayers.clock.advance(60_000);
    await relayers.runPass();
    expect(await relayers.balance(bob)).toBe(5n);
    expect(await relayers.states()).toEqual(['SENT']);
    expect(relayers.outcomes).toEqual([]);
    await relayers.sandbox.mine();
    await relayers.finish();
    expect(await relayers.states()).toEqual(['SUCCEEDED']);
  });
});
