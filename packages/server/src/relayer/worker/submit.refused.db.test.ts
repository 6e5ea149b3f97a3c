import { sql } from '@svc/store';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { transferCall } from '../../../testing/chain.ts';
import { RelayerFixture } from '../../../testing/relayer.ts';
import type { SignedInvoke } from '../../chains/starknet/chain.ts';

const nothing = async () => {};
const HALF_A_MINUTE_MS = 31_000;
/** What a node may say of a transaction that it never takes. */
const refusing = (code: number) => ({ send: async () => ({ outcome: 'refused', code, reason: 'no' }) as const });

let relayers: RelayerFixture;
beforeAll(async () => {
  relayers = await RelayerFixture.start();
});
afterAll(() => relayers.stop());

async function kinds(): Promise<string[]> {
  const rows = await relayers.db.rows<{ kind: string }>(sql`select kind from relay_attempts order by created_at`);
  return rows.map(({ kind }) => kind);
}

/** A transfer that the chain refuses from the first. */
async function refused(code: number) {
  const [payer, bob] = [await relayers.begin(), relayers.newAddress()];
  const sponsor = relayers.sponsorWith({ pause: nothing }, refusing(code));
  const asked = await payer.prepared(sponsor, [transferCall('USDC', bob, 7n)]);
  await expect(sponsor.sponsor(asked, nothing)).rejects.toMatchObject({ code: 'chain_unavailable' });
  await relayers.runPass(refusing(code));
  return { payer, bob, asked };
}

describe('a relay that every node refuses', () => {
  it.each([
    ['because the account has too little money', 54],
    ['as too large', 63],
  ])('%s gives up its nonce after half a minute, and those behind it go on', async (_, code) => {
    const { payer, bob, asked } = await refused(code);
    const { hash } = (await relayers.db.one<{ hash: string }>(sql`select hash from relays`)) ?? { hash: '0x0' };
    const picky = {
      send: async (signed: SignedInvoke) =>
        signed.hash === BigInt(hash) ? refusing(code).send() : relayers.chain.send(signed),
    };
    const late = relayers.sponsorWith({ pause: nothing }, picky);
    await late.sponsor(await payer.prepared(late, [transferCall('USDC', bob, 1n)]), nothing);
    await relayers.runPass(picky);
    expect(await kinds()).toEqual(['FIRST', 'FIRST']);
    relayers.clock.advance(HALF_A_MINUTE_MS);
    await relayers.runPass(picky);
    await relayers.runPass(picky);
    expect(await kinds()).toEqual(['FIRST', 'FIRST', 'FILLER']);
    await relayers.finish();
    expect(await relayers.states()).toEqual(['VOIDED', 'SUCCEEDED']);
    expect(await relayers.balance(bob)).toBe(1n);
    await expect(relayers.sponsor.sponsor(asked, nothing)).rejects.toMatchObject({ code: 'typed_data_expired' });
  });

  it('as not valid is tried once more for a higher fee before that', async () => {
    await refused(55);
    relayers.clock.advance(HALF_A_MINUTE_MS);
    await relayers.runPass(refusing(55));
    expect(await kinds()).toEqual(['FIRST', 'BUMP']);
    await relayers.runPass(refusing(55));
    expect(await kinds()).toEqual(['FIRST', 'BUMP', 'FILLER']);
    await relayers.finish();
    expect(await relayers.states()).toEqual(['VOIDED']);
  });

  it('keeps its nonce while a node may have it', async () => {
    await refused(54);
    relayers.clock.advance(HALF_A_MINUTE_MS);
    await relayers.db.run(sql`update relay_attempts set taken_at = now()`);
    await relayers.runPass(refusing(54));
    expect(await kinds()).toEqual(['FIRST']);
    await relayers.finish();
    expect(await relayers.states()).toEqual(['SUCCEEDED']);
  });

  it.each([
    ['its nonce', refusing(52)],
    ['something in its way', refusing(64)],
    ['a node that does not answer', { send: async () => ({ outcome: 'unknown', reason: 'cut off' }) as const }],
  ])('is not given up for %s', async (_, reason) => {
    const [payer, bob] = [await relayers.begin(), relayers.newAddress()];
    const sponsor = relayers.sponsorWith({ pause: nothing }, reason);
    await sponsor.sponsor(await payer.prepared(sponsor, [transferCall('USDC', bob, 7n)]), nothing).catch(nothing);
    for (let looks = 0; looks < 4; looks += 1) {
      await relayers.runPass(reason);
      relayers.clock.advance(HALF_A_MINUTE_MS);
    }
    expect(await kinds()).not.toContain('FILLER');
    await relayers.finish();
    expect(await relayers.states()).toEqual(['SUCCEEDED']);
  });

  it('costs the account what doing nothing costs, not what it would have cost itself', async () => {
    await refused(54);
    await relayers.db.run(sql`
      update relay_attempts set transaction = jsonb_set(transaction::jsonb, '{resource_bounds,l2_gas,max_price_per_unit}',
        '"0xffffffffffffffff"')::text`);
    relayers.clock.advance(HALF_A_MINUTE_MS);
    await relayers.runPass(refusing(54));
    const filler = await relayers.db.one<{ price: string }>(sql`
      select transaction::jsonb #>> '{resource_bounds,l2_gas,max_price_per_unit}' as price
        from relay_attempts where kind = 'FILLER'`);
    expect(BigInt(filler?.price ?? 2n ** 64n)).toBeLessThan(2n ** 60n);
  });
});
