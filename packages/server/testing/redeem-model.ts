import type { RedeemChain } from '@svc/protocol';
import fc from 'fast-check';
import { BRIDGE, DOLLAR, GAS } from './gifts.ts';

/** One gift and those who redeem it, as a few numbers in memory, and random steps on both. */
export type Step =
  | { readonly step: 'redeem'; readonly user: number; readonly chain: RedeemChain; readonly key: number | undefined }
  | { readonly step: 'end'; readonly redeem: number; readonly end: 'SUCCESS' | 'FAILED' | 'BURNED' }
  | { readonly step: 'expire' | 'renew' | 'switch' | 'delete' };

export const MAX = 3;
export const PER_USER = 2;
const AMOUNT = 5n * DOLLAR;

const name = <const T extends string>(text: T) => fc.constant(text);
export const anyStep: fc.Arbitrary<Step> = fc.oneof(
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
  /** With which key it was asked for, as long as that leads to it. */
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

  /** The place of the redeem that is answered, or why there is none. */
  redeem({ user, chain, key }: Step & { step: 'redeem' }): number | string {
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
      // The place of one that had failed may be somebody else's by now.
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
