import { beforeEach, describe, expect, it } from 'vitest';
import { bridgingHouse, FAST_SHARE } from '../../testing/bridging.ts';

const house = bridgingHouse();
beforeEach(() => house.reset());

async function stored() {
  const redeem = await house.redeem();
  await house.step(redeem.id);
  return redeem;
}

describe('a burn that did not happen', () => {
  it.each([
    ['REVERTED', 'The burn was reverted: out of luck'],
    ['VOIDED', 'The burn was never executed.'],
  ] as const)('(%s) gives the redeem back, without the hash of a burn', async (result, reason) => {
    const { id, giftId, caller } = await stored();
    await house.executed(id, result);
    expect(await house.row(id)).toMatchObject({ status: 'FAILED', reason, transactionHash: null });
    expect(await house.places(giftId)).toEqual({ total: 0, redeemed: 0n });
    expect(await house.books(caller)).toMatchObject({ spent: 0n, held: 2n * FAST_SHARE });
  });

  it('is not what a receipt without the transfer says: nothing changes until one is whole', async () => {
    const { id } = await stored();
    const before = await house.row(id);
    await expect(house.executed(id, 'INCOMPLETE')).rejects.toThrow('lacks its transfer');
    expect(await house.row(id)).toEqual(before);
    await house.executed(id);
    expect((await house.row(id)).facts.burnedAt).toEqual(expect.any(String));
  });

  it('is never tried again', async () => {
    const { id } = await stored();
    const before = house.payer.orders.length;
    await house.executed(id, 'REVERTED');
    await house.step(id);
    expect(house.payer.orders).toHaveLength(before);
  });

  it.each(['REVERTED', 'VOIDED'] as const)('(%s) is not sent again after a reorganisation', async (result) => {
    const { id } = await stored();
    expect(await house.isGivenUp(id)).toBe(false);
    await house.executed(id, result);
    expect(await house.isGivenUp(id)).toBe(true);
    await house.executed(id, 'SUCCEEDED');
    expect(await house.isGivenUp(id)).toBe(false);
  });

  it('and happens after all, when the chain was reorganised, is followed to the mint and paid for', async () => {
    const { id, giftId, caller } = await stored();
    await house.executed(id, 'REVERTED');
    await house.executed(id, 'SUCCEEDED');
    house.bridge.attest('PENDING');
    await house.step(id);
    expect(await house.row(id)).toMatchObject({ status: 'FAILED', facts: { late: true, message: '0xaa' } });
    house.bridge.attest('COMPLETE');
    await house.step(id);
    expect(await house.row(id)).toMatchObject({ status: 'SUCCESS' });
    expect(await house.places(giftId)).toEqual({ total: 1, redeemed: 5_000_000n });
    expect(await house.books(caller)).toMatchObject({ spent: FAST_SHARE, held: FAST_SHARE });
  });

  it('after it had been on the chain gives the redeem back while nothing is attested', async () => {
    const { id, caller } = await house.burned();
    await house.executed(id, 'REVERTED');
    expect(await house.row(id)).toMatchObject({ status: 'FAILED', transactionHash: null });
    await house.step(id);
    expect(house.bridge.asked).toEqual([]);
    expect(await house.books(caller)).toMatchObject({ spent: 0n });
  });

  it('after it was attested changes nothing, for the mint comes', async () => {
    const { id } = await house.burned();
    house.bridge.attest('PENDING');
    await house.step(id);
    await house.executed(id, 'REVERTED');
    expect((await house.row(id)).status).toBe('ATTESTED');
  });
});

describe('a burn that is told twice', () => {
  it('keeps the time since when it is waited for', async () => {
    const { id } = await house.burned();
    const { since } = (await house.row(id)).facts;
    await house.executed(id);
    expect((await house.row(id)).facts.since).toBe(since);
  });

  it('changes nothing after the mint', async () => {
    const { id, caller } = await house.burned();
    house.bridge.attest('COMPLETE');
    await house.step(id);
    await house.executed(id);
    await house.executed(id, 'REVERTED');
    expect((await house.row(id)).status).toBe('SUCCESS');
    expect(await house.books(caller)).toMatchObject({ spent: FAST_SHARE });
  });
});
