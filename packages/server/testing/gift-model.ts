import fc from 'fast-check';
import { BRIDGE, DOLLAR, GAS } from './gifts.ts';

/** Gifts and credits as a few numbers in memory, and random steps on both, for the property test. Times are days from now. */
export type Step =
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

export const anyStep: fc.Arbitrary<Step> = fc.oneof(
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

/** The same for everyone who has as many of them: the steps name places in what is there, gifts not deleted and redeems not ended. */
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
  /** What new redemptions draw on; undefined once it was given back. */
  pool: bigint | undefined;
  /** Counts the times that credits were set aside. */
  hold: number;
}

interface ModelRedeem {
  readonly gift: ModelGift;
  readonly share: bigint;
  readonly hold: number;
  open: boolean;
}

export class Model {
  static readonly DOLLARS = 25n;
  readonly #gifts: ModelGift[] = [];
  readonly #redeems: ModelRedeem[] = [];
  #spent = 0n;
  #day = 0;

  credits(): { available: bigint; held: bigint } {
    const pools = this.#gifts.reduce((sum, { pool = 0n }) => sum + pool, 0n);
    const open = this.#redeems.reduce((sum, redeem) => sum + (redeem.open ? redeem.share : 0n), 0n);
    return { available: Model.DOLLARS * DOLLAR - this.#spent - pools - open, held: pools + open };
  }

  /** Of those that are not deleted: how often redeemed, how much was paid, and whether something is held. */
  shown(): { total: number; redeemed: bigint; held: boolean }[] {
    return this.#live().map(({ total, redeemed, pool }) => ({ total, redeemed, held: pool !== undefined }));
  }

  apply(step: Step): Outcome {
    if (step.step === 'create') return this.#create(step);
    if (step.step === 'redeem') return this.#redeem(step);
    if (step.step === 'end') return this.#end(step);
    if (step.step === 'expiry') return this.#move(step);
    if (step.step === 'delete') return this.#delete(step);
    if (step.step === 'wait') this.#day += step.days;
    else for (const gift of this.#gifts) if (this.#isOver(gift)) gift.pool = undefined;
    return 'done';
  }

  #create({ amount, max, fast, days }: Step & { step: 'create' }): Outcome {
    const gift = {
      ...{ amount: BigInt(amount) * DOLLAR, max, bridge: fast ? BRIDGE : 0n, total: 0, redeemed: 0n },
      ...{ expires: days === null ? null : this.#day + days, deleted: false, pool: undefined, hold: 0 },
    };
    if (!this.#setAside(gift, max)) return 'insufficient';
    this.#gifts.push(gift);
    return 'done';
  }

  #redeem({ gift: place, chain }: Step & { step: 'redeem' }): Outcome {
    const gift = pick(this.#live(), place);
    if (!gift || this.#isOver(gift) || gift.total === gift.max) return 'refused';
    const share = gift.amount + GAS + (chain === 'solana' ? gift.bridge : 0n);
    gift.total++;
    gift.pool = (gift.pool ?? 0n) - share;
    this.#redeems.push({ gift, share, hold: gift.hold, open: true });
    return 'done';
  }

  #end({ redeem: place, status }: Step & { step: 'end' }): Outcome {
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

  #move({ gift: place, days }: Step & { step: 'expiry' }): Outcome {
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

  #delete({ gift: place }: Step & { step: 'delete' }): Outcome {
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

  #open(): ModelRedeem[] {
    return this.#redeems.filter(({ open }) => open);
  }

  #openOf(gift: ModelGift): number {
    return this.#open().filter((redeem) => redeem.gift === gift).length;
  }
}
