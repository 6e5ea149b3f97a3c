import { sql } from '@svc/store';
import { beforeEach, describe, expect, it } from 'vitest';
import { FAST_SHARE, MANAGER, MINT, NONCE, unavailable, useBridge, WALLET } from '../../testing/bridge.ts';
import { BRIDGE } from '../../testing/gifts.ts';

const fixture = useBridge();
beforeEach(() => fixture.reset());

describe('a redeem to Solana', () => {
  it('is burned, attested and minted, and its share is spent once', async () => {
    const { id, giftId, caller } = await fixture.redeem();
    await fixture.step(id);
    expect(await fixture.row(id)).toMatchObject({ status: 'BRIDGING', transactionHash: expect.stringMatching(/^0x/) });
    await fixture.executed(id);
    expect(await fixture.nextRunSeconds(id)).toBe(0);
    fixture.bridge.attest('PENDING');
    await fixture.step(id);
    expect(await fixture.row(id)).toMatchObject({ status: 'ATTESTED', facts: { message: '0xaa', nonce: NONCE } });
    expect(await fixture.balances(caller)).toMatchObject({ spent: 0n, held: 2n * FAST_SHARE });
    fixture.bridge.attest('COMPLETE');
    await fixture.step(id);
    expect(await fixture.row(id)).toMatchObject({ status: 'SUCCESS', receiveHash: MINT });
    expect(await fixture.balances(caller)).toMatchObject({ spent: FAST_SHARE, held: FAST_SHARE });
    expect(await fixture.redeemCounts(giftId)).toEqual({ total: 1, redeemed: 5_000_000n });
  });

  it('burns the amount and all that is reserved for the fee, so that the whole amount arrives', async () => {
    const { id } = await fixture.redeem();
    await fixture.step(id);
    const order = fixture.payer.orders.at(-1);
    expect(order).toMatchObject({ kind: 'burn', purpose: `burn ${id}`, environment: 'development' });
    expect(order?.calls[0]?.calldata).toEqual([5_000_000n + BRIDGE, BRIDGE]);
  });

  it('is asked about with what was ordered, never with what the bridge says', async () => {
    const { id } = await fixture.burned();
    await fixture.step(id);
    expect(fixture.bridge.requests).toEqual([
      {
        hash: (await fixture.row(id)).transactionHash,
        sender: MANAGER,
        order: { amount: 5_000_000n + BRIDGE, maxFee: BRIDGE, owner: WALLET, fast: true },
      },
    ]);
  });

  it('is not asked about before its burn is on the chain', async () => {
    const { id } = await fixture.redeem();
    await fixture.step(id);
    await fixture.deleteJobs();
    await fixture.step(id);
    expect(fixture.bridge.requests).toEqual([]);
    expect(await fixture.nextRunSeconds(id)).toBeUndefined();
  });

  it('is burned once by jobs that run at the same time', async () => {
    const { id } = await fixture.redeem();
    const before = fixture.payer.orders.length;
    await Promise.allSettled([fixture.step(id), fixture.step(id), fixture.step(id)]);
    await fixture.step(id);
    expect(fixture.payer.orders).toHaveLength(before + 1);
    expect((await fixture.row(id)).status).toBe('BRIDGING');
  });

  it('costs nothing for the bridge where it is standard', async () => {
    const { id, caller } = await fixture.redeem({ cctpFast: false });
    fixture.bridge.feeNow = 0n;
    await fixture.step(id);
    await fixture.executed(id);
    fixture.bridge.attest('COMPLETE');
    await fixture.step(id);
    expect(await fixture.row(id)).toMatchObject({ status: 'SUCCESS' });
    expect(await fixture.balances(caller)).toMatchObject({ spent: 5_010_000n });
  });
});

describe('before the burn', () => {
  it.each([
    ['the bridge takes more than is reserved', () => (fixture.bridge.feeNow = BRIDGE + 1n), {}],
    [
      'a standard gift has nothing for a mint that costs something',
      () => (fixture.bridge.feeNow = 1n),
      { cctpFast: false },
    ],
    ['the burn would revert', () => (fixture.payer.refusal = 'ERC20: insufficient balance'), {}],
    ['the balance is too low', () => (fixture.balance = 5_000_000n + BRIDGE - 1n), {}],
    ['it waited for an hour', () => fixture.clock.advance(3_600_001), {}],
    ['nobody can have the key of the address', () => {}, { address: 'FGETo8T8wMcN2wCjav8VK6eh3dLk63evNDPxzLSJra8B' }],
  ])('it is given back when %s', async (_, arrange, options) => {
    const { id, giftId, caller } = await fixture.redeem(options);
    const before = fixture.payer.orders.length;
    arrange();
    await fixture.step(id);
    expect(await fixture.row(id)).toMatchObject({
      status: 'FAILED',
      reason: expect.any(String),
      transactionHash: null,
    });
    expect(fixture.payer.orders).toHaveLength(before);
    expect(await fixture.redeemCounts(giftId)).toMatchObject({ total: 0 });
    expect(await fixture.balances(caller)).toMatchObject({ spent: 0n });
  });

  it('it waits while other payments of the manager need the balance, and is burned once it covers both', async () => {
    await fixture.db.run(sql`update relays set state = 'SUCCEEDED'`);
    const [first, second] = [await fixture.redeem(), await fixture.redeem()];
    const burned = 5_000_000n + BRIDGE;
    fixture.balance = 2n * burned - 1n;
    await fixture.step(first.id);
    await fixture.step(second.id);
    expect((await fixture.row(first.id)).status).toBe('BRIDGING');
    expect(await fixture.row(second.id)).toMatchObject({ status: 'PENDING', reason: null });
    expect(await fixture.nextRunSeconds(second.id)).toBe(2);
    fixture.balance = 2n * burned;
    await fixture.step(second.id);
    expect((await fixture.row(second.id)).status).toBe('BRIDGING');
  });

  it('of several that begin at once it is burned only as often as the balance covers', async () => {
    await fixture.db.run(sql`update relays set state = 'SUCCEEDED'`);
    const redeems = [await fixture.redeem(), await fixture.redeem(), await fixture.redeem()];
    fixture.balance = 2n * (5_000_000n + BRIDGE);
    await Promise.all(redeems.map(({ id }) => fixture.step(id)));
    const rows = await Promise.all(redeems.map(({ id }) => fixture.row(id)));
    expect(rows.map(({ status }) => status).sort()).toEqual(['BRIDGING', 'BRIDGING', 'PENDING']);
  });

  it.each(['bridge', 'payer'] as const)('it waits while the %s does not answer', async (who) => {
    const { id } = await fixture.redeem();
    fixture[who].error = unavailable();
    await fixture.step(id);
    expect((await fixture.row(id)).status).toBe('PENDING');
    expect(await fixture.nextRunSeconds(id)).toBe(2);
    fixture[who].error = undefined;
    await fixture.step(id);
    expect((await fixture.row(id)).status).toBe('BRIDGING');
  });
});
