import { type Call, selector } from '@svc/starknet';
import { sql } from '@svc/store';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { tokenAddress, transfer } from '../../testing/chain.ts';
import { findBrokenInvariants } from '../../testing/ledger.ts';
import { AMOUNT, PayoutFixture } from '../../testing/payouts.ts';
import { ChainUnavailableError } from '../chains/node-fetch.ts';
import { newId } from '../util/ids.ts';
import { MAX_IN_PAYOUT } from './payouts.ts';

const PAID = { status: 'SUCCESS', paid: 1 };

let payouts: PayoutFixture;
beforeAll(async () => {
  payouts = await PayoutFixture.start();
});
beforeEach(() => payouts.relayers.sandbox.reset());
afterAll(() => payouts.relayers.stop());

async function waiting(count: number) {
  const gift = await payouts.gift(count);
  for (let i = 0; i < count; i += 1) await payouts.redeem(gift);
  return gift;
}

describe('redeems that wait', () => {
  it('are paid many at once, each by its own transfer, and their shares are spent', async () => {
    const gift = await waiting(MAX_IN_PAYOUT + 5);
    expect(await payouts.runPayouts()).toBe('DONE');
    await payouts.finish();
    const full = { state: 'SUCCEEDED', redeems: MAX_IN_PAYOUT };
    expect(await payouts.payouts(gift)).toEqual([full, { state: 'SUCCEEDED', redeems: 5 }]);
    expect(new Set((await payouts.redeems(gift)).map((one) => JSON.stringify(one)))).toEqual(
      new Set([JSON.stringify(PAID)]),
    );
    expect(await payouts.shares(gift)).toEqual({ spent: BigInt(MAX_IN_PAYOUT + 5), held: 0n });
    expect(await findBrokenInvariants(payouts.db)).toEqual([]);
  });

  it('are paid as often as they are, when the same address has several', async () => {
    const [gift, address] = [await payouts.gift(2), payouts.newAddress()];
    await payouts.redeem(gift, address);
    await payouts.redeem(gift, address);
    await payouts.runPayouts();
    await payouts.finish();
    expect(await payouts.redeems(gift)).toEqual([
      { status: 'SUCCESS', paid: 2 },
      { status: 'SUCCESS', paid: 2 },
    ]);
  });

  it('are paid once by two processes that do it at the same time', async () => {
    const gift = await waiting(6);
    await Promise.allSettled([payouts.runPayouts(), payouts.runPayouts(), payouts.runPayouts()]);
    await payouts.runPayouts();
    await payouts.finish();
    expect(await payouts.redeems(gift)).toEqual(Array(6).fill(PAID));
  });

  it('are not given back by a process whose estimate fails because another one pays them', async () => {
    const gift = await waiting(1);
    const estimate = async () => {
      await payouts.runPayouts();
      return { ok: false, code: 41, reason: 'paid by another process' } as const;
    };
    await payouts.runPayouts({ estimate });
    expect((await payouts.redeems(gift)).map(({ status }) => status)).toEqual(['PENDING']);
    await payouts.finish();
    expect(await payouts.redeems(gift)).toEqual([PAID]);
  });

  it('have the hash of their payout', async () => {
    const gift = await waiting(1);
    await payouts.runPayouts();
    const [row] = await payouts.db.rows<{ hash: string; stored: string }>(sql`
      select transaction_hash as hash, relays.hash as stored from gift_redeems join relays on relays.id = relay_id
       where gift_id = ${gift.id}`);
    expect(row?.hash).toBe(row?.stored);
    await payouts.finish();
  });
});

describe('a receipt that lacks transfers', () => {
  it('ends nothing, and the next one that is whole does', async () => {
    const gift = await waiting(2);
    await payouts.runPayouts();
    const { chain } = payouts.relayers;
    const receipt: typeof chain.receipt = async (hash) => {
      const whole = await chain.receipt(hash);
      return whole && { ...whole, events: [] };
    };
    expect(await payouts.runPass({ receipt })).toBe(true);
    expect((await payouts.redeems(gift)).map(({ status }) => status)).toEqual(['PENDING', 'PENDING']);
    await payouts.finish();
    expect(await payouts.redeems(gift)).toEqual(Array(2).fill(PAID));
  });
});

describe('a recipient that the token refuses', () => {
  it('affects no other redeem: its own has failed, and its share is free for another', async () => {
    const gift = await payouts.gift(7);
    for (let i = 0; i < 7; i += 1) await payouts.redeem(gift, i === 4 ? 0n : payouts.newAddress());
    expect(await payouts.runPayouts()).toBe('DONE');
    await payouts.finish();
    const all = await payouts.redeems(gift);
    expect(all.map(({ status }) => status)).toEqual(all.map((_, index) => (index === 4 ? 'FAILED' : 'SUCCESS')));
    expect(await payouts.shares(gift)).toEqual({ spent: 6n, held: 1n });
    const [failed] = await payouts.db.rows<{ reason: string; relay_id: string | null }>(sql`
      select reason, relay_id from gift_redeems where gift_id = ${gift.id} and status = 'FAILED'`);
    expect(failed).toEqual({ reason: expect.stringContaining('transfer to 0'), relay_id: null });
  });
});

describe('when not everything can be paid', () => {
  it('what the manager can pay is paid, and the rest waits', async () => {
    const gift = await waiting(3);
    const balanceOf = async () => 2n * AMOUNT + 1n;
    expect(await payouts.runPayouts({ balanceOf })).toBe('INSUFFICIENT_FUNDS');
    // What is under way is still on the balance, and is not spent twice.
    expect(await payouts.runPayouts({ balanceOf })).toBe('INSUFFICIENT_FUNDS');
    await payouts.finish();
    expect((await payouts.redeems(gift)).map(({ status }) => status)).toEqual(['SUCCESS', 'SUCCESS', 'PENDING']);
    expect(await payouts.runPayouts()).toBe('DONE');
    await payouts.finish();
    expect(await payouts.redeems(gift)).toEqual(Array(3).fill(PAID));
  });

  it('several that are too dear together are paid in smaller parts', async () => {
    const gift = await waiting(4);
    const { chain } = payouts.relayers;
    payouts.maxFeeFri = 10n ** 18n;
    const estimate: typeof chain.estimate = async (transaction, at) => {
      const answer = await chain.estimate(transaction, at);
      const isLarge = transaction.calldata.length > 2 * 10 + 1;
      return answer.ok && isLarge ? { ...answer, l2Gas: { amount: 1n, price: 10n ** 18n } } : answer;
    };
    await payouts.runPayouts({ estimate });
    payouts.maxFeeFri = undefined;
    await payouts.finish();
    expect(await payouts.payouts(gift)).toEqual(Array(2).fill({ state: 'SUCCEEDED', redeems: 2 }));
  });

  it('nothing changes where the chain cannot be asked', async () => {
    const gift = await waiting(2);
    const estimate = () => Promise.reject(new ChainUnavailableError('STARKNET'));
    await expect(payouts.runPayouts({ estimate })).rejects.toThrow(ChainUnavailableError);
    expect(await payouts.payouts(gift)).toEqual([]);
    await payouts.runPayouts();
    await payouts.finish();
    expect(await payouts.redeems(gift)).toEqual(Array(2).fill(PAID));
  });
});

describe('money that other payments of the manager have taken', () => {
  const pending = (kind: 'refund' | 'burn', call: Call) =>
    payouts.payerWith().pay({ environment: 'development', kind, purpose: newId(kind), calls: [call] }, async () => {});

  it.each([
    ['a refund', 'refund', () => transfer('USDC', payouts.newAddress(), AMOUNT)],
    [
      'a burn',
      'burn',
      () => ({
        to: tokenAddress('USDC'),
        selector: selector('approve'),
        calldata: [payouts.newAddress(), AMOUNT, 0n],
      }),
    ],
  ] as const)('is not paid out again while %s is pending', async (_, kind, call) => {
    const gift = await waiting(2);
    await pending(kind, call());
    const balanceOf = async () => 2n * AMOUNT;
    expect(await payouts.runPayouts({ balanceOf })).toBe('INSUFFICIENT_FUNDS');
    await payouts.finish();
    expect((await payouts.redeems(gift)).map(({ status }) => status)).toEqual(['SUCCESS', 'PENDING']);
    expect(await payouts.runPayouts()).toBe('DONE');
    await payouts.finish();
    expect(await payouts.redeems(gift)).toEqual(Array(2).fill(PAID));
  });

  it('lets redeems wait, and not fail, when it goes while their payout is estimated', async () => {
    const gift = await waiting(2);
    let balance = 2n * AMOUNT;
    const balanceOf = async () => balance;
    const estimate = async () => {
      balance = 0n;
      return { ok: false, code: 40, reason: 'ERC20: insufficient balance' } as const;
    };
    expect(await payouts.runPayouts({ balanceOf, estimate })).toBe('INSUFFICIENT_FUNDS');
    expect((await payouts.redeems(gift)).map(({ status }) => status)).toEqual(['PENDING', 'PENDING']);
    await payouts.runPayouts();
    await payouts.finish();
    expect(await payouts.redeems(gift)).toEqual(Array(2).fill(PAID));
  });

  it('is not paid out when it goes while a payout is about to be stored', async () => {
    const gift = await waiting(1);
    const { chain } = payouts.relayers;
    const estimate: typeof chain.estimate = async (...args) => {
      const answer = await chain.estimate(...args);
      await pending('refund', transfer('USDC', payouts.newAddress(), AMOUNT));
      return answer;
    };
    expect(await payouts.runPayouts({ balanceOf: async () => AMOUNT, estimate })).toBe('INSUFFICIENT_FUNDS');
    expect(await payouts.payouts(gift)).toEqual([]);
    await payouts.finish();
    await payouts.runPayouts();
    await payouts.finish();
    expect(await payouts.redeems(gift)).toEqual([PAID]);
  });
});

describe('redeems that cost more than the manager has', () => {
  it('do not hold up smaller ones, however many are in front', async () => {
    const [large, small] = [await payouts.gift(MAX_IN_PAYOUT + 1, 2n * AMOUNT), await payouts.gift(1)];
    for (let i = 0; i <= MAX_IN_PAYOUT; i += 1) await payouts.redeem(large);
    await payouts.redeem(small);
    expect(await payouts.runPayouts({ balanceOf: async () => AMOUNT })).toBe('INSUFFICIENT_FUNDS');
    await payouts.finish();
    expect(await payouts.redeems(small)).toEqual([PAID]);
    expect(await payouts.payouts(large)).toEqual([]);
    expect(await payouts.runPayouts()).toBe('DONE');
    await payouts.finish();
    expect(new Set((await payouts.redeems(large)).map(({ status }) => status))).toEqual(new Set(['SUCCESS']));
  });

  it('are overtaken for a day; from then on the money is saved for them', async () => {
    const [large, small] = [await payouts.gift(1, 2n * AMOUNT), await payouts.gift(1)];
    const id = await payouts.redeem(large);
    await payouts.redeem(small);
    await payouts.db.run(sql`
      update gift_redeems set created_at = created_at - interval '25 hours' where id = ${id}`);
    expect(await payouts.runPayouts({ balanceOf: async () => AMOUNT })).toBe('INSUFFICIENT_FUNDS');
    expect(await payouts.payouts(small)).toEqual([]);
    expect(await payouts.runPayouts({ balanceOf: async () => 2n * AMOUNT })).toBe('INSUFFICIENT_FUNDS');
    await payouts.finish();
    expect(await payouts.redeems(large)).toEqual([{ status: 'SUCCESS', paid: 2 }]);
    expect(await payouts.payouts(small)).toEqual([]);
    expect(await payouts.runPayouts()).toBe('DONE');
    await payouts.finish();
    expect(await payouts.redeems(small)).toEqual([PAID]);
  });
});

describe('when the node fails at a payout, every redeem is paid once', () => {
  it.each([
    ['the answer is lost', { kind: 'lose-answer' }],
    ['the transaction is forgotten', { kind: 'forget', count: 2 }],
    ['the transaction is rejected', { kind: 'reject', reason: 'not today' }],
    ['the node is unavailable', { kind: 'unavailable', method: 'starknet_addInvokeTransaction', count: 2 }],
    ['the node is behind', { kind: 'stale', blocks: 1, count: 6 }],
  ])('%s', async (_, fault) => {
    const gift = await waiting(3);
    await payouts.relayers.sandbox.fault(fault);
    await payouts.runPayouts();
    await payouts.finish();
    expect(await payouts.redeems(gift)).toEqual(Array(3).fill(PAID));
    expect(await payouts.payouts(gift)).toEqual([{ state: 'SUCCEEDED', redeems: 3 }]);
  });
});
