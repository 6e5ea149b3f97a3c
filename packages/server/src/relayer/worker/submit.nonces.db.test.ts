import { sql } from '@svc/store';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { relayer, signedPayment, transferCall } from '../../../testing/chain.ts';
import { RelayerFixture } from '../../../testing/relayer.ts';

const nothing = async () => {};
const MINUTE_MS = 60_000;

let relayers: RelayerFixture;
beforeAll(async () => {
  relayers = await RelayerFixture.start();
});
afterAll(() => relayers.stop());

/** Another holder of the key sends a transaction. */
async function useKeyElsewhere() {
  expect(await relayers.chain.send(signedPayment(await relayers.nonce()))).toEqual({ outcome: 'sent' });
}

async function nextNonce(): Promise<bigint | undefined> {
  const address = `0x${relayer(1).address.toString(16).padStart(64, '0')}`;
  const row = await relayers.db.one<{ next: bigint }>(sql`
    select next_nonce as next from relayer_accounts where address = ${address}`);
  return row?.next;
}

describe('when the key of an account is used elsewhere', () => {
  it('a relay whose nonce is gone is given up after minutes, with a loud line, and the next one works', async () => {
    const [payer, bob] = [await relayers.begin(), relayers.newAddress()];
    const sponsor = relayers.sponsorWith({});
    await sponsor.sponsor(await payer.prepared(sponsor, [transferCall('USDC', bob, 1n)]), nothing);
    await relayers.finish();
    const asked = await payer.prepared(sponsor, [transferCall('USDC', bob, 7n)]);
    await useKeyElsewhere();
    await useKeyElsewhere();
    await expect(sponsor.sponsor(asked, nothing)).rejects.toMatchObject({ code: 'chain_unavailable' });
    expect(await nextNonce()).toBe(await relayers.nonce());
    relayers.clock.advance(4 * MINUTE_MS);
    await relayers.runPass();
    expect(await relayers.states()).toEqual(['SUCCEEDED', 'STORED']);
    relayers.clock.advance(MINUTE_MS);
    await relayers.runPass();
    expect(await relayers.states()).toEqual(['SUCCEEDED', 'VOIDED']);
    expect(relayers.outcomes.at(-1)).toMatchObject({ result: 'VOIDED', hash: undefined });
    expect(relayers.warnings).toContain('relay nonce consumed by a foreign transaction');
    await expect(sponsor.sponsor(asked, nothing)).rejects.toMatchObject({ code: 'typed_data_expired' });
    const again = payer.sponsorshipOf({ ...asked.execution, nonce: asked.execution.nonce + 1n });
    await sponsor.sponsor(again, nothing);
    await relayers.finish();
    expect(await relayers.balance(bob)).toBe(8n);
  });

  it('a process that starts afterwards gives out the right nonce at once', async () => {
    const [payer, bob] = [await relayers.begin(), relayers.newAddress()];
    await useKeyElsewhere();
    const sponsor = relayers.sponsorWith({});
    await sponsor.sponsor(await payer.prepared(sponsor, [transferCall('USDC', bob, 7n)]), nothing);
    await relayers.finish();
    expect(await relayers.states()).toEqual(['SUCCEEDED']);
  });

  it('a node that only does not know the receipt yet is no reason to give up', async () => {
    const [payer, bob] = [await relayers.begin(), relayers.newAddress()];
    const { sponsor } = relayers;
    await sponsor.sponsor(await payer.prepared(sponsor, [transferCall('USDC', bob, 7n)]), nothing);
    const behind = { receipt: async () => undefined };
    await relayers.runPass(behind);
    relayers.clock.advance(10 * MINUTE_MS);
    await relayers.runPass(behind);
    expect(await relayers.states()).toEqual(['SENT']);
    await relayers.finish();
    expect(await relayers.states()).toEqual(['SUCCEEDED']);
  });
});

describe('nonces that were given out and lost', () => {
  it('are filled, so that the relays behind them go on', async () => {
    const [payer, bob] = [await relayers.begin(), relayers.newAddress()];
    const { sponsor } = relayers;
    await relayers.db.run(sql`update relayer_accounts set next_nonce = next_nonce + 2`);
    await sponsor.sponsor(await payer.prepared(sponsor, [transferCall('USDC', bob, 7n)]), nothing);
    relayers.clock.advance(3_000);
    await relayers.runPass();
    relayers.clock.advance(5_000);
    await relayers.runPass();
    expect(await relayers.states()).toEqual(['SENT']);
    await relayers.finish();
    expect(await relayers.states()).toEqual(['VOIDED', 'VOIDED', 'SUCCEEDED']);
    expect(relayers.outcomes).toMatchObject([{ result: 'SUCCEEDED' }]);
    expect(await relayers.balance(bob)).toBe(7n);
  });

  it('are left alone when it is the node that is behind', async () => {
    const [payer, bob] = [await relayers.begin(), relayers.newAddress()];
    const { sponsor } = relayers;
    await sponsor.sponsor(await payer.prepared(sponsor, [transferCall('USDC', bob, 1n)]), nothing);
    await relayers.finish();
    await sponsor.sponsor(await payer.prepared(sponsor, [transferCall('USDC', bob, 1n)]), nothing);
    const behind = { nonceAt: async () => (await relayers.nonce()) - 2n };
    for (let looks = 0; looks < 3; looks += 1) {
      relayers.clock.advance(11_000);
      await relayers.runPass(behind);
    }
    expect(await relayers.states()).toEqual(['SUCCEEDED', 'SENT']);
    await relayers.finish();
    expect(await relayers.states()).toEqual(['SUCCEEDED', 'SUCCEEDED']);
    expect(relayers.outcomes).toHaveLength(2);
  });
});
