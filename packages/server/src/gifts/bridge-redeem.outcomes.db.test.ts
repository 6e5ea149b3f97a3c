import { sql } from '@svc/store';
import { beforeEach, describe, expect, it } from 'vitest';
import { FAST_SHARE, useBridge } from '../../testing/bridge.ts';

const fixture = useBridge();
beforeEach(() => fixture.reset());

async function stored() {
  const redeem = await fixture.redeem();
  await fixture.step(redeem.id);
  return redeem;
}

describe('a burn that did not happen', () => {
  it.each([
    ['REVERTED', 'The burn was reverted: out of luck'],
    ['VOIDED', 'The burn was never executed.'],
  ] as const)('(%s) gives the redeem back, without the hash of a burn', async (result, reason) => {
    const { id, giftId, caller } = await stored();
    await fixture.executed(id, result);
    expect(await fixture.row(id)).toMatchObject({ status: 'FAILED', reason, transactionHash: null });
    expect(await fixture.redeemCounts(giftId)).toEqual({ total: 0, redeemed: 0n });
    expect(await fixture.balances(caller)).toMatchObject({ spent: 0n, held: 2n * FAST_SHARE });
  });

  it('is not what a receipt without the transfer says: nothing changes until one is whole', async () => {
    const { id } = await stored();
    const before = await fixture.row(id);
    await expect(fixture.executed(id, 'INCOMPLETE')).rejects.toThrow('lacks its transfer');
    expect(await fixture.row(id)).toEqual(before);
    await fixture.executed(id);
    expect((await fixture.row(id)).facts.burnedAt).toEqual(expect.any(String));
  });

  it('is never tried again', async () => {
    const { id } = await stored();
    const before = fixture.payer.orders.length;
    await fixture.executed(id, 'REVERTED');
    await fixture.step(id);
    expect(fixture.payer.orders).toHaveLength(before);
  });

  it.each(['REVERTED', 'VOIDED'] as const)('(%s) is not sent again after a reorganisation', async (result) => {
    const { id } = await stored();
    expect(await fixture.isAbandoned(id)).toBe(false);
    await fixture.executed(id, result);
    expect(await fixture.isAbandoned(id)).toBe(true);
    await fixture.executed(id, 'SUCCEEDED');
    expect(await fixture.isAbandoned(id)).toBe(false);
  });

  it('and happens after all, when the chain was reorganised, is followed to the mint and paid for', async () => {
    const { id, giftId, caller } = await stored();
    await fixture.executed(id, 'REVERTED');
    await fixture.executed(id, 'SUCCEEDED');
    fixture.bridge.attest('PENDING');
    await fixture.step(id);
    expect(await fixture.row(id)).toMatchObject({ status: 'FAILED', facts: { late: true, message: '0xaa' } });
    fixture.bridge.attest('COMPLETE');
    await fixture.step(id);
    expect(await fixture.row(id)).toMatchObject({ status: 'SUCCESS' });
    expect(await fixture.redeemCounts(giftId)).toEqual({ total: 1, redeemed: 5_000_000n });
    expect(await fixture.balances(caller)).toMatchObject({ spent: FAST_SHARE, held: FAST_SHARE });
  });

  it('and happens after all is waited for from then on', async () => {
    const { id } = await fixture.burned();
    await fixture.executed(id, 'REVERTED');
    await fixture.db.run(sql`
      update gift_redeems set bridge = bridge || '{"since": "2026-01-01T00:00:00Z"}' where id = ${id}`);
    await fixture.executed(id, 'SUCCEEDED');
    await fixture.step(id);
    expect(await fixture.row(id)).toMatchObject({ status: 'FAILED', facts: { late: true } });
  });

  it('after it had been on the chain gives the redeem back while nothing is attested', async () => {
    const { id, caller } = await fixture.burned();
    await fixture.executed(id, 'REVERTED');
    expect(await fixture.row(id)).toMatchObject({ status: 'FAILED', transactionHash: null });
    await fixture.step(id);
    expect(fixture.bridge.requests).toEqual([]);
    expect(await fixture.balances(caller)).toMatchObject({ spent: 0n });
  });

  it('after it was attested changes nothing, for the mint comes', async () => {
    const { id } = await fixture.burned();
    fixture.bridge.attest('PENDING');
    await fixture.step(id);
    await fixture.executed(id, 'REVERTED');
    expect((await fixture.row(id)).status).toBe('ATTESTED');
  });
});

describe('a burn whose outcome is delivered twice', () => {
  it('keeps the time since when it is waited for', async () => {
    const { id } = await fixture.burned();
    const { since } = (await fixture.row(id)).facts;
    await fixture.executed(id);
    expect((await fixture.row(id)).facts.since).toBe(since);
  });

  it('changes nothing after the mint', async () => {
    const { id, caller } = await fixture.burned();
    fixture.bridge.attest('COMPLETE');
    await fixture.step(id);
    await fixture.executed(id);
    await fixture.executed(id, 'REVERTED');
    expect((await fixture.row(id)).status).toBe('SUCCESS');
    expect(await fixture.balances(caller)).toMatchObject({ spent: FAST_SHARE });
  });
});
