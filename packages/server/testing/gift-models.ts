import { ApiError, type RedeemChain } from '@svc/protocol';
import { sql } from '@svc/store';
import fc from 'fast-check';
import { releaseExpired } from '../src/gifts/manage-gifts.ts';
import type { Caller } from '../src/http/call.ts';
import { BRIDGE, DAY_MS, DOLLAR, end, GAS, type GiftFixture, NOW, reserve } from './gifts.ts';

/** Random steps on a model of gifts and credits. Times are days from now. */
export type GiftStep =
  | { readonly step: 'create'; amount: number; max: number; fast: boolean; days: number | null }
  | { readonly step: 'redeem'; gift: number; chain: 'starknet' | 'solana' }
  | { readonly step: 'end'; redeem: number; status: 'SUCCESS' | 'FAILED' }
  | { readonly step: 'expiry'; gift: number; days: number | null }
  | { readonly step: 'delete'; gift: number }
  | { readonly step: 'wait'; days: number }
  | { readonly step: 'sweep' };

export type Outcome = 'done' | 'insufficient' | 'refused';

// Small numbers, so that random steps often meet: the same gift, the last redemption, the last credit.
const gift = fc.nat({ max: 3 });
const days = (min: number) => fc.option(fc.integer({ min, max: 4 }), { freq: 4 });
const step = <const T extends string>(name: T) => fc.constant(name);

export const anyGiftStep: fc.Arbitrary<GiftStep> = fc.oneof(
  fc.record({
    step: step('create'),
    amount: fc.integer({ min: 1, max: 4 }),
    max: fc.integer({ min: 1, max: 3 }),
    fast: fc.boolean(),
    days: days(1),
  }),
  { arbitrary: fc.record({ step: step('redeem'), gift, chain: fc.constantFrom('starknet', 'solana') }), weight: 4 },
  {
    arbitrary: fc.record({
      step: step('end'),
      redeem: fc.nat({ max: 7 }),
      status: fc.constantFrom('SUCCESS', 'FAILED'),
    }),
    weight: 4,
  },
  { arbitrary: fc.record({ step: step('expiry'), gift, days: days(-1) }), weight: 2 },
  fc.record({ step: step('delete'), gift }),
  fc.record({ step: step('wait'), days: fc.integer({ min: 1, max: 2 }) }),
  fc.record({ step: step('sweep') }),
);

/** Steps name positions among the gifts not deleted and the redeems not ended. */
export function pick<T>(all: readonly T[], place: number): T | undefined {
  return all[place % all.length];
}

interface ModelGift {
  readonly amount: bigint;
  readonly max: number;
  readonly bridge: bigint;
  total: number;
  redeemed: bigint;
  expires: number | null;
  deleted: boolean;
  /** What new redemptions draw on; undefined once released. */
  pool: bigint | undefined;
  hold: number;
}

interface ModelGiftRedeem {
  readonly gift: ModelGift;
  readonly share: bigint;
  readonly hold: number;
  open: boolean;
}

export class GiftModel {
  static readonly DOLLARS = 25n;
  readonly #gifts: ModelGift[] = [];
  readonly #redeems: ModelGiftRedeem[] = [];
  #spent = 0n;
  #day = 0;

  credits(): { available: bigint; held: bigint } {
    const pools = this.#gifts.reduce((sum, { pool = 0n }) => sum + pool, 0n);
    const open = this.#redeems.reduce((sum, redeem) => sum + (redeem.open ? redeem.share : 0n), 0n);
    return { available: GiftModel.DOLLARS * DOLLAR - this.#spent - pools - open, held: pools + open };
  }

  /** Of gifts that are not deleted. */
  gifts(): { total: number; redeemed: bigint; held: boolean }[] {
    return this.#live().map(({ total, redeemed, pool }) => ({ total, redeemed, held: pool !== undefined }));
  }

  apply(step: GiftStep): Outcome {
    if (step.step === 'create') return this.#create(step);
    if (step.step === 'redeem') return this.#redeem(step);
    if (step.step === 'end') return this.#end(step);
    if (step.step === 'expiry') return this.#move(step);
    if (step.step === 'delete') return this.#delete(step);
    if (step.step === 'wait') this.#day += step.days;
    else for (const gift of this.#gifts) if (this.#isOver(gift)) gift.pool = undefined;
    return 'done';
  }

  #create({ amount, max, fast, days }: GiftStep & { step: 'create' }): Outcome {
    const gift = {
      ...{ amount: BigInt(amount) * DOLLAR, max, bridge: fast ? BRIDGE : 0n, total: 0, redeemed: 0n },
      ...{ expires: days === null ? null : this.#day + days, deleted: false, pool: undefined, hold: 0 },
    };
    if (!this.#setAside(gift, max)) return 'insufficient';
    this.#gifts.push(gift);
    return 'done';
  }

  #redeem({ gift: place, chain }: GiftStep & { step: 'redeem' }): Outcome {
    const gift = pick(this.#live(), place);
    if (!gift || this.#isOver(gift) || gift.total === gift.max) return 'refused';
    const share = gift.amount + GAS + (chain === 'solana' ? gift.bridge : 0n);
    gift.total++;
    gift.pool = (gift.pool ?? 0n) - share;
    this.#redeems.push({ gift, share, hold: gift.hold, open: true });
    return 'done';
  }

  #end({ redeem: place, status }: GiftStep & { step: 'end' }): Outcome {
    const redeem = pick(this.#open(), place);
    if (!redeem) return 'refused';
    redeem.open = false;
    const { gift, share } = redeem;
    if (status === 'SUCCESS') {
      this.#spent += share;
      gift.redeemed += gift.amount;
      if (gift.total === gift.max && this.#openOf(gift) === 0) gift.pool = undefined;
      return 'done';
    }
    gift.total--;
    if (gift.pool !== undefined && gift.hold === redeem.hold) gift.pool += share;
    return 'done';
  }

  #move({ gift: place, days }: GiftStep & { step: 'expiry' }): Outcome {
    const gift = pick(this.#live(), place);
    if (!gift) return 'refused';
    const before = gift.expires;
    gift.expires = days === null ? null : this.#day + days;
    if (this.#isOver(gift)) gift.pool = undefined;
    else if (gift.pool === undefined && !this.#setAside(gift, gift.max - gift.total + this.#openOf(gift))) {
      gift.expires = before;
      return 'insufficient';
    }
    return 'done';
  }

  #delete({ gift: place }: GiftStep & { step: 'delete' }): Outcome {
    const gift = pick(this.#live(), place);
    if (!gift) return 'refused';
    gift.deleted = true;
    gift.pool = undefined;
    return 'done';
  }

  #setAside(gift: ModelGift, redemptions: number): boolean {
    const needed = BigInt(redemptions) * (gift.amount + GAS + gift.bridge);
    if (needed > this.credits().available) return false;
    if (needed === 0n) return true;
    gift.pool = needed;
    gift.hold++;
    return true;
  }

  #isOver({ expires }: ModelGift): boolean {
    return expires !== null && expires <= this.#day;
  }

  #live(): ModelGift[] {
    return this.#gifts.filter(({ deleted }) => !deleted);
  }

  #open(): ModelGiftRedeem[] {
    return this.#redeems.filter(({ open }) => open);
  }

  #openOf(gift: ModelGift): number {
    return this.#open().filter((redeem) => redeem.gift === gift).length;
  }
}

/** Runs the steps of the model on the real gifts. */
export class GiftPerformer {
  readonly #fixture: GiftFixture;
  readonly #caller: Caller;
  /** Not deleted. */
  #gifts: string[] = [];
  /** Not ended. */
  #redeems: string[] = [];
  #nowMs = NOW;

  constructor(fixture: GiftFixture, caller: Caller) {
    this.#fixture = fixture;
    this.#caller = caller;
  }

  async apply(step: GiftStep): Promise<Outcome> {
    try {
      return await this.#perform(step);
    } catch (error) {
      if (error instanceof ApiError && error.code === 'insufficient_credits') return 'insufficient';
      if (error instanceof ApiError && error.code === 'gift_not_found') return 'refused';
      throw error;
    }
  }

  async credits(): Promise<{ available: bigint; held: bigint }> {
    const { available, held } = await this.#fixture.balance(this.#caller);
    return { available, held };
  }

  gifts(): Promise<unknown[]> {
    return this.#fixture.db.rows(sql`
      select total_redeems as total, redeemed_micros as redeemed, hold_id is not null as held
        from gifts where organization_id = ${this.#caller.organizationId} and deleted_at is null order by id`);
  }

  async #perform(step: GiftStep): Promise<Outcome> {
    if (step.step === 'create') return this.#create(step);
    if (step.step === 'redeem') return this.#redeem(step);
    if (step.step === 'end') return this.#end(step);
    if (step.step === 'expiry') return this.#move(step);
    if (step.step === 'delete') return this.#delete(step);
    if (step.step === 'wait') this.#nowMs += step.days * DAY_MS;
    else await releaseExpired(this.#fixture.db, this.#nowMs);
    return 'done';
  }

  async #end({ redeem, status }: GiftStep & { step: 'end' }): Promise<Outcome> {
    const id = pick(this.#redeems, redeem);
    if (id === undefined) return 'refused';
    await end(this.#fixture.db, id, status);
    this.#redeems = this.#redeems.filter((open) => open !== id);
    return 'done';
  }

  async #move({ gift, days }: GiftStep & { step: 'expiry' }): Promise<Outcome> {
    const body = { expiresAt: this.#inDays(days) };
    await this.#fixture.update(this.#caller, pick(this.#gifts, gift) ?? '', body, this.#nowMs);
    return 'done';
  }

  async #delete({ gift }: GiftStep & { step: 'delete' }): Promise<Outcome> {
    const id = pick(this.#gifts, gift) ?? '';
    await this.#fixture.delete(this.#caller, id);
    this.#gifts = this.#gifts.filter((live) => live !== id);
    return 'done';
  }

  async #create({ amount, max, fast, days }: GiftStep & { step: 'create' }): Promise<Outcome> {
    // Far back, so that an expiry can be moved into the past.
    const startsAt = new Date(NOW - 10 * DAY_MS).toISOString();
    const limits = { maxRedeems: max, maxRedeemsPerUser: max, startsAt, expiresAt: this.#inDays(days) };
    const deps = this.#fixture.deps({ now: () => this.#nowMs });
    const gift = await this.#fixture.create(this.#caller, { amount, cctpFast: fast, ...limits }, deps);
    this.#gifts.push(gift.id);
    return 'done';
  }

  async #redeem({ gift, chain }: GiftStep & { step: 'redeem' }): Promise<Outcome> {
    const id = await reserve(this.#fixture.db, this.#caller, pick(this.#gifts, gift) ?? '', this.#nowMs, chain);
    if (id !== undefined) this.#redeems.push(id);
    return id === undefined ? 'refused' : 'done';
  }

  #inDays(days: number | null): string | null {
    return days === null ? null : new Date(this.#nowMs + days * DAY_MS).toISOString();
  }
}

/** Random steps on a model of one gift and its redeems. */
export type RedeemStep =
  | { readonly step: 'redeem'; readonly user: number; readonly chain: RedeemChain; readonly key: number | undefined }
  | { readonly step: 'end'; readonly redeem: number; readonly end: 'SUCCESS' | 'FAILED' | 'BURNED' }
  | { readonly step: 'expire' | 'renew' | 'switch' | 'delete' };

export const MAX = 3;
export const PER_USER = 2;
const AMOUNT = 5n * DOLLAR;

const name = <const T extends string>(text: T) => fc.constant(text);
export const anyRedeemStep: fc.Arbitrary<RedeemStep> = fc.oneof(
  {
    arbitrary: fc.record({
      step: name('redeem'),
      user: fc.nat({ max: 2 }),
      chain: fc.constantFrom<RedeemChain>('starknet', 'solana'),
      key: fc.option(fc.nat({ max: 2 }), { nil: undefined }),
    }),
    weight: 6,
  },
  {
    arbitrary: fc.record({
      step: name('end'),
      redeem: fc.nat({ max: 5 }),
      end: fc.constantFrom<'SUCCESS' | 'FAILED' | 'BURNED'>('SUCCESS', 'FAILED', 'BURNED'),
    }),
    weight: 6,
  },
  {
    arbitrary: fc.record({ step: fc.constantFrom<'expire' | 'renew' | 'switch'>('expire', 'renew', 'switch') }),
    weight: 2,
  },
  fc.record({ step: name('delete') }),
);

interface ModelRedeem {
  readonly user: string;
  readonly share: bigint;
  status: 'PENDING' | 'SUCCESS' | 'FAILED' | 'BURNED';
  /** Its Idempotency-Key, while that leads to it. */
  key: string | undefined;
}

export class RedeemModel {
  readonly redeems: ModelRedeem[] = [];
  readonly users = new Map<string, number>();
  total = 0;
  redeemed = 0n;
  spent = 0n;
  isActive = true;
  #state: 'valid' | 'expired' | 'deleted' = 'valid';

  /** The index of the redeem, or the code of the refusal. */
  redeem({ user, chain, key }: RedeemStep & { step: 'redeem' }): number | string {
    const [name, requestKey] = [`${chain} ${user}`, key === undefined ? undefined : `${chain} ${user} ${key}`];
    const before = requestKey === undefined ? -1 : this.redeems.findIndex((redeem) => redeem.key === requestKey);
    if (before >= 0) return before;
    if (this.#state === 'deleted') return 'gift_not_found';
    if (!this.isActive) return 'gift_inactive';
    if (this.#state === 'expired') return 'gift_expired';
    if (this.total === MAX) return 'gift_limit_reached';
    if ((this.users.get(name) ?? 0) >= PER_USER) return 'gift_user_limit_reached';
    this.#count(name, 1);
    const share = AMOUNT + GAS + (chain === 'solana' ? BRIDGE : 0n);
    return this.redeems.push({ user: name, share, status: 'PENDING', key: requestKey }) - 1;
  }

  end(place: number, end: 'SUCCESS' | 'FAILED' | 'BURNED'): void {
    const redeem = this.redeems[place];
    if (!redeem || redeem.status === 'SUCCESS') return;
    const { status, user, share } = redeem;
    if (end === 'SUCCESS') {
      redeem.status = 'SUCCESS';
      this.redeemed += AMOUNT;
      if (status !== 'BURNED') this.spent += share;
      // The place of a failed redeem may be taken by now.
      if (status === 'FAILED' && this.total < MAX) this.#count(user, 1);
    } else if (status === 'PENDING') {
      redeem.status = end;
      if (end === 'BURNED') this.spent += share;
      else this.#giveBack(redeem);
    }
  }

  change(step: 'expire' | 'renew' | 'switch' | 'delete'): void {
    if (this.#state === 'deleted') return;
    if (step === 'switch') this.isActive = !this.isActive;
    else if (step === 'delete') this.#state = 'deleted';
    else this.#state = step === 'expire' ? 'expired' : 'valid';
  }

  get isDeleted(): boolean {
    return this.#state === 'deleted';
  }

  #giveBack(redeem: ModelRedeem): void {
    redeem.key = undefined;
    this.#count(redeem.user, -1);
  }

  #count(user: string, change: number): void {
    this.total += change;
    this.users.set(user, (this.users.get(user) ?? 0) + change);
  }
}
