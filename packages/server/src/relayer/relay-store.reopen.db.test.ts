import { sql } from '@svc/store';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { transferCall } from '../../testing/chain.ts';
import { RelayerFixture } from '../../testing/relayer.ts';
import { findRelay, reopenRelays } from './relay-store.ts';

const nothing = async () => {};

let relayers: RelayerFixture;
beforeAll(async () => {
  relayers = await RelayerFixture.start();
});
afterAll(() => relayers.stop());

/** A transfer that has succeeded, and the block before it. */
async function transferred() {
  const [payer, bob] = [await relayers.begin(), relayers.newAddress()];
  const { sponsor, db } = relayers;
  const { id } = await sponsor.sponsor(await payer.prepared(sponsor, [transferCall('USDC', bob, 7n)]), nothing);
  await relayers.finish();
  const relay = await findRelay(db.reads, id);
  return { payer, bob, id, relay, before: (relay?.blockNumber ?? 0) - 1 };
}

const reopenAbove = (block: number) => relayers.db.tx((tx) => reopenRelays(tx, relayers.chain.chainId, block));

describe('a relay whose block is taken away', () => {
  it.each(['drop', 'requeue'] as const)('is under way again and succeeds once more (%s)', async (transactions) => {
    const { bob, id, relay, before } = await transferred();
    await relayers.sandbox.reorganise(1, transactions);
    await relayers.db.run(sql`delete from jobs`);
    expect(await reopenAbove(before)).toMatchObject([{ id, environment: 'development' }]);
    expect(await relayers.db.rows(sql`select task from jobs`)).toEqual([{ task: 'tend-relayer-development' }]);
    expect(await findRelay(relayers.db.reads, id)).toMatchObject({ state: 'SENT', blockNumber: undefined });
    await relayers.finish();
    const again = await findRelay(relayers.db.reads, id);
    expect(again).toMatchObject({ state: 'SUCCEEDED', hash: relay?.hash });
    expect(again?.blockHash).not.toBe(relay?.blockHash);
    expect(await relayers.balance(bob)).toBe(7n);
    expect(relayers.outcomes.map(({ result }) => result)).toEqual(['SUCCEEDED', 'SUCCEEDED']);
  });

  it('can end differently', async () => {
    const { bob, before } = await transferred();
    await relayers.sandbox.reorganise(1, 'drop');
    await relayers.sandbox.fault({ kind: 'revert', reason: 'another state' });
    await reopenAbove(before);
    await relayers.finish();
    expect(relayers.outcomes.map(({ result }) => result)).toEqual(['SUCCEEDED', 'REVERTED']);
    expect(await relayers.balance(bob)).toBe(0n);
  });

  it('is voided when its execution has expired meanwhile', async () => {
    const { bob, before } = await transferred();
    await relayers.sandbox.reorganise(1, 'drop');
    await relayers.sandbox.travel(3_600);
    await reopenAbove(before);
    await relayers.finish();
    expect(relayers.outcomes.map(({ result }) => result)).toEqual(['SUCCEEDED', 'VOIDED']);
    expect(await relayers.balance(bob)).toBe(0n);
  });

  it('is found by the relay worker, because the next nonce waits behind it', async () => {
    const { payer, bob } = await transferred();
    const { sponsor } = relayers;
    await relayers.sandbox.reorganise(1, 'drop');
    await sponsor.sponsor(await payer.prepared(sponsor, [transferCall('USDC', bob, 1n)]), nothing);
    await relayers.finish();
    expect(await relayers.states()).toEqual(['SUCCEEDED', 'SUCCEEDED']);
    expect(await relayers.balance(bob)).toBe(8n);
  });
});

describe('a relay whose block is still there', () => {
  it('is not touched below the given block, and above it ends the same way again', async () => {
    const { id, relay, before } = await transferred();
    expect(await reopenAbove(before + 1)).toEqual([]);
    await reopenAbove(before);
    await relayers.finish();
    expect(await findRelay(relayers.db.reads, id)).toEqual({ ...relay, updatedAt: expect.any(Date) });
  });
});
