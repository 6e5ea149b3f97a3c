import { beforeEach, describe, expect, it } from 'vitest';
import { MANAGER, MINT, NONCE, unavailable } from '../../testing/bridge-stand-ins.ts';
import { bridgingHouse, FAST_SHARE, WALLET } from '../../testing/bridging.ts';
import { BRIDGE } from '../../testing/gifts.ts';

const house = bridgingHouse();
beforeEach(() => house.reset());

describe('a redeem to Solana', () => {
  it('is burned, attested and minted, and its share is spent once', async () => {
    const { id, giftId, caller } = await house.redeem();
    await house.step(id);
    expect(await house.row(id)).toMatchObject({ status: 'BRIDGING', transactionHash: expect.stringMatching(/^0x/) });
    await house.executed(id);
    expect(await house.nextLook(id)).toBe(0);
    house.bridge.attest('PENDING');
    await house.step(id);
    expect(await house.row(id)).toMatchObject({ status: 'ATTESTED', facts: { message: '0xaa', nonce: NONCE } });
    expect(await house.books(caller)).toMatchObject({ spent: 0n, held: 2n * FAST_SHARE });
    house.bridge.attest('COMPLETE');
    await house.step(id);
    expect(await house.row(id)).toMatchObject({ status: 'SUCCESS', receiveHash: MINT });
    expect(await house.books(caller)).toMatchObject({ spent: FAST_SHARE, held: FAST_SHARE });
    expect(await house.places(giftId)).toEqual({ total: 1, redeemed: 5_000_000n });
  });

  it('burns the amount and all that is reserved for the fee, so that the whole amount arrives', async () => {
    const { id } = await house.redeem();
    await house.step(id);
    const order = house.payer.orders.at(-1);
    expect(order).toMatchObject({ kind: 'burn', purpose: `burn ${id}`, environment: 'development' });
    expect(order?.calls[0]?.calldata).toEqual([5_000_000n + BRIDGE, BRIDGE]);
  });

  it('is asked about with what was ordered, never with what the bridge says', async () => {
    const { id } = await house.burned();
    await house.step(id);
    expect(house.bridge.asked).toEqual([
      {
        hash: (await house.row(id)).transactionHash,
        sender: MANAGER,
        order: { amount: 5_000_000n + BRIDGE, maxFee: BRIDGE, owner: WALLET, fast: true },
      },
    ]);
  });

  it('is not asked about before its burn is on the chain', async () => {
    const { id } = await house.redeem();
    await house.step(id);
    await house.forgetJobs();
    await house.step(id);
    expect(house.bridge.asked).toEqual([]);
    expect(await house.nextLook(id)).toBeUndefined();
  });

  it('is burned once by jobs that run at the same time', async () => {
    const { id } = await house.redeem();
    const before = house.payer.orders.length;
    await Promise.allSettled([house.step(id), house.step(id), house.step(id)]);
    await house.step(id);
    expect(house.payer.orders).toHaveLength(before + 1);
    expect((await house.row(id)).status).toBe('BRIDGING');
  });

  it('costs nothing for the bridge where it is standard', async () => {
    const { id, caller } = await house.redeem({ cctpFast: false });
    house.bridge.feeNow = 0n;
    await house.step(id);
    await house.executed(id);
    house.bridge.attest('COMPLETE');
    await house.step(id);
    expect(await house.row(id)).toMatchObject({ status: 'SUCCESS' });
    expect(await house.books(caller)).toMatchObject({ spent: 5_010_000n });
  });
});

describe('before the burn', () => {
  it.each([
    ['the bridge takes more than is reserved', () => (house.bridge.feeNow = BRIDGE + 1n), {}],
    [
      'a standard gift has nothing for a mint that costs something',
      () => (house.bridge.feeNow = 1n),
      { cctpFast: false },
    ],
    ['the burn would revert', () => (house.payer.refusal = 'ERC20: insufficient balance'), {}],
    ['it waited for an hour', () => house.wait(3_600_001), {}],
    ['nobody can have the key of the address', () => {}, { address: 'FGETo8T8wMcN2wCjav8VK6eh3dLk63evNDPxzLSJra8B' }],
  ])('it is given back when %s', async (_, arrange, wish) => {
    const { id, giftId, caller } = await house.redeem(wish);
    const before = house.payer.orders.length;
    arrange();
    await house.step(id);
    expect(await house.row(id)).toMatchObject({ status: 'FAILED', reason: expect.any(String), transactionHash: null });
    expect(house.payer.orders).toHaveLength(before);
    expect(await house.places(giftId)).toMatchObject({ total: 0 });
    expect(await house.books(caller)).toMatchObject({ spent: 0n });
  });

  it.each(['bridge', 'payer'] as const)('it waits while the %s does not answer', async (who) => {
    const { id } = await house.redeem();
    house[who].trouble = unavailable();
    await house.step(id);
    expect((await house.row(id)).status).toBe('PENDING');
    expect(await house.nextLook(id)).toBe(2);
    house[who].trouble = undefined;
    await house.step(id);
    expect((await house.row(id)).status).toBe('BRIDGING');
  });
});
