import { ApiError } from '@svc/protocol';
import { sql } from '@svc/store';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import {
  anyRedeemStep as anyStep,
  MAX,
  PER_USER,
  RedeemModel,
  type RedeemStep as Step,
} from '../../testing/gift-models.ts';
import { at, claimDeps, DOLLAR, SOLANA_WALLETS, useGifts } from '../../testing/gifts.ts';
import { findBrokenInvariants } from '../../testing/ledger.ts';
import type { Caller } from '../http/call.ts';
import { readDestination, reserve } from './claim.ts';
import { endRedeems } from './redeem.ts';

const fixture = useGifts();
/** Fixed, so that a failure is seen again. */
const SEED = 20_261_224;
const RUNS = 40;
const CREDITS = 1_000n;

/** Does the steps of the model for real. */
class Performer {
  readonly #caller: Caller;
  readonly #giftId: string;
  readonly redeems: string[] = [];

  constructor(caller: Caller, giftId: string) {
    this.#caller = caller;
    this.#giftId = giftId;
  }

  async redeem({ user, chain, key }: Step & { step: 'redeem' }): Promise<number | string> {
    const address = chain === 'solana' ? (SOLANA_WALLETS[user] ?? '') : `0x${user + 1}`;
    const requestKey = key === undefined ? undefined : `${chain} ${user} ${key}`;
    const request = { giftId: this.#giftId, destination: readDestination(chain, address), requestKey };
    try {
      const id = await fixture.db.tx((tx) => reserve(claimDeps(fixture.db), tx, request));
      if (!this.redeems.includes(id)) this.redeems.push(id);
      return this.redeems.indexOf(id);
    } catch (error) {
      if (error instanceof ApiError) return error.code;
      throw error;
    }
  }

  async end(place: number, end: 'SUCCESS' | 'FAILED' | 'BURNED'): Promise<void> {
    const id = this.redeems[place];
    if (id === undefined) return;
    const how = { id, end: 'FAILED', reason: 'no', burned: end === 'BURNED' } as const;
    await fixture.db.tx((tx) => endRedeems(tx, [end === 'SUCCESS' ? { id, end } : how]));
  }

  async change(step: 'expire' | 'renew' | 'switch' | 'delete', isActive: boolean): Promise<void> {
    const id = this.#giftId;
    if (step === 'switch') await fixture.update(this.#caller, id, { isActive });
    else if (step === 'delete') await fixture.delete(this.#caller, id);
    else await fixture.update(this.#caller, id, { expiresAt: step === 'expire' ? at(-0.5) : at(5) });
  }
}

async function perform(step: Step, model: RedeemModel, real: Performer): Promise<void> {
  if (step.step === 'redeem') {
    const expected = model.redeem(step);
    expect(await real.redeem(step)).toBe(expected);
  } else if (step.step === 'end') {
    model.end(step.redeem, step.end);
    await real.end(step.redeem, step.end);
  } else if (!model.isDeleted) {
    model.change(step.step);
    await real.change(step.step, model.isActive);
  }
}

async function expectSame(model: RedeemModel, caller: Caller, giftId: string): Promise<void> {
  const { db } = fixture;
  expect(
    await db.one(sql`select total_redeems as total, redeemed_micros as redeemed from gifts where id = ${giftId}`),
  ).toEqual({ total: model.total, redeemed: model.redeemed });
  const users = await db.rows<{ redeems: number }>(sql`select redeems from gift_users where gift_id = ${giftId}`);
  expect(users.map(({ redeems }) => redeems).sort()).toEqual([...model.users.values()].sort());
  expect((await fixture.balance(caller)).total).toBe(CREDITS * DOLLAR - model.spent);
}

it('after any redeems, ends, late payments and changes the counts and the ledger are those of a few lines of arithmetic', async () => {
  const property = fc.asyncProperty(fc.array(anyStep, { minLength: 5, maxLength: 25 }), async (steps) => {
    const caller = await fixture.caller(CREDITS);
    const gift = await fixture.create(caller, { maxRedeems: MAX, maxRedeemsPerUser: PER_USER });
    const [model, real] = [new RedeemModel(), new Performer(caller, gift.id)];
    for (const step of steps) {
      await perform(step, model, real);
      await expectSame(model, caller, gift.id);
    }
    // Once all have ended and the gift is gone, nothing is held any more.
    for (const place of real.redeems.keys()) await perform({ step: 'end', redeem: place, end: 'FAILED' }, model, real);
    await perform({ step: 'delete' }, model, real);
    await expectSame(model, caller, gift.id);
    expect((await fixture.balance(caller)).held).toBe(0n);
  });
  await fc.assert(property, { seed: SEED, numRuns: RUNS });
  expect(await findBrokenInvariants(fixture.db)).toEqual([]);
}, 120_000);
