import { sql } from '@svc/store';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { findBrokenInvariants } from '../../testing/ledger.ts';
import { PayoutFixture, type TestGift } from '../../testing/payouts.ts';

const PAID = { status: 'SUCCESS', paid: 1 };
const REVERT = { kind: 'revert', reason: 'out of luck' };

let payouts: PayoutFixture;
beforeAll(async () => {
  payouts = await PayoutFixture.start();
});
beforeEach(async () => {
  await payouts.relayers.sandbox.reset();
  // What tests take back is theirs.
  await payouts.relayers.sandbox.mine(5);
});
afterAll(() => payouts.relayers.stop());

/** Redeems in one payout, which has ended. */
async function paidOut(count: number, fault?: object): Promise<TestGift> {
  const gift = await payouts.gift(count);
  for (let i = 0; i < count; i += 1) await payouts.redeem(gift);
  if (fault) await payouts.relayers.sandbox.fault(fault);
  await payouts.runPayouts();
  await payouts.finish();
  return gift;
}

const statuses = async (gift: TestGift) => (await payouts.redeems(gift)).map(({ status }) => status);

async function payAgain(): Promise<void> {
  await payouts.requeueFailed();
  await payouts.runPayouts();
  await payouts.finish();
}

describe('a payout of several that reverted', () => {
  it('keeps its redeems until the chain cannot change its mind; then each is paid by itself', async () => {
    const gift = await paidOut(3, REVERT);
    await payAgain();
    expect(await payouts.payouts(gift)).toEqual([{ state: 'REVERTED', redeems: 3 }]);
    expect(await statuses(gift)).toEqual(Array(3).fill('PENDING'));
    await payouts.relayers.acceptOnL1();
    await payAgain();
    expect(await payouts.payouts(gift)).toEqual(Array(3).fill({ state: 'SUCCEEDED', redeems: 1 }));
    expect(await payouts.redeems(gift)).toEqual(Array(3).fill(PAID));
    expect(await payouts.shares(gift)).toEqual({ spent: 3n, held: 0n });
  });

  it('pays once where a reorganisation has it executed after all', async () => {
    const gift = await paidOut(2, REVERT);
    await payAgain();
    await payouts.relayers.reorganise(1, 'requeue');
    await payouts.finish();
    await payAgain();
    expect(await payouts.payouts(gift)).toEqual([{ state: 'SUCCEEDED', redeems: 2 }]);
    expect(await payouts.redeems(gift)).toEqual(Array(2).fill(PAID));
  });

  it('is sent again where a reorganisation lost it', async () => {
    const gift = await paidOut(2, REVERT);
    await payouts.relayers.reorganise(1, 'drop');
    await payouts.finish();
    expect(await payouts.redeems(gift)).toEqual(Array(2).fill(PAID));
  });

  it('is never sent again once its redeems are paid otherwise, not even by a chain that goes back behind its finality', async () => {
    const gift = await paidOut(2, REVERT);
    await payouts.relayers.acceptOnL1();
    await payAgain();
    await payouts.relayers.reorganise(50, 'drop');
    await payouts.relayers.reorganise(60, 'drop');
    await payouts.finish();
    expect(await payouts.redeems(gift)).toEqual(Array(2).fill(PAID));
    const fillers = await payouts.db.rows(sql`
      select from relays where kind = 'payout' and state = 'VOIDED' and not_after < now()`);
    expect(fillers).toHaveLength(1);
  });
});

describe('a payout of one that reverted', () => {
  it('has failed at once, and its share goes back', async () => {
    const gift = await paidOut(1, REVERT);
    expect(await payouts.redeems(gift)).toEqual([{ status: 'FAILED', paid: 0 }]);
    expect(await payouts.shares(gift)).toEqual({ spent: 0n, held: 1n });
    await payouts.relayers.acceptOnL1();
    await payAgain();
    expect(await payouts.redeems(gift)).toEqual([{ status: 'FAILED', paid: 0 }]);
  });

  it('is not sent again where a reorganisation lost it: its redeem stays FAILED and unpaid', async () => {
    const gift = await paidOut(1, REVERT);
    await payouts.relayers.reorganise(1, 'drop');
    await payouts.finish();
    await payAgain();
    expect(await payouts.redeems(gift)).toEqual([{ status: 'FAILED', paid: 0 }]);
    expect(await payouts.payouts(gift)).toEqual([{ state: 'VOIDED', redeems: 1 }]);
  });

  it('counts as paid where a reorganisation has it executed after all, and stays paid', async () => {
    const gift = await paidOut(1, REVERT);
    await payouts.relayers.reorganise(1, 'requeue');
    await payouts.finish();
    expect(await payouts.redeems(gift)).toEqual([PAID]);
    expect(await payouts.shares(gift)).toEqual({ spent: 1n, held: 0n });
    await payouts.relayers.reorganise(1, 'drop');
    await payouts.finish();
    expect(await payouts.redeems(gift)).toEqual([PAID]);
    expect(await findBrokenInvariants(payouts.db)).toEqual([]);
  });
});

describe('a redeem that was paid', () => {
  it.each(['drop', 'requeue'] as const)('is paid once when its block is replaced (%s)', async (transactions) => {
    const gift = await paidOut(3);
    await payouts.relayers.reorganise(1, transactions);
    await payouts.finish();
    expect(await payouts.redeems(gift)).toEqual(Array(3).fill(PAID));
    expect(await payouts.shares(gift)).toEqual({ spent: 3n, held: 0n });
  });

  it.each([1, 3])(
    'stays SUCCESS and is paid again when the chain executes it otherwise (%i together)',
    async (count) => {
      const gift = await paidOut(count);
      await payouts.relayers.sandbox.fault(REVERT);
      await payouts.relayers.reorganise(1, 'drop');
      await payouts.finish();
      const unpaid = { status: 'SUCCESS', paid: 0 };
      expect(await payouts.redeems(gift)).toEqual(Array(count).fill(unpaid));
      await payAgain();
      expect(await payouts.redeems(gift)).toEqual(Array(count).fill(unpaid));
      await payouts.relayers.acceptOnL1();
      await payAgain();
      expect(await payouts.redeems(gift)).toEqual(Array(count).fill(PAID));
      expect(await payouts.shares(gift)).toEqual({ spent: BigInt(count), held: 0n });
    },
  );
});
