import { ApiError } from '@svc/protocol';
import { sql } from '@svc/store';
import { releaseExpired } from '../src/gifts/manage-gifts.ts';
import type { Caller } from '../src/http/call.ts';
import { type Outcome, pick, type Step } from './gift-model.ts';
import { DAY_MS, type GiftFixture, NOW } from './gifts.ts';
import { end, reserve } from './reservations.ts';

/** Does the steps of the model for real. */
export class Performer {
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

  async apply(step: Step): Promise<Outcome> {
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

  async #perform(step: Step): Promise<Outcome> {
    if (step.step === 'create') return this.#create(step);
    if (step.step === 'redeem') return this.#redeem(step);
    if (step.step === 'end') return this.#end(step);
    if (step.step === 'expiry') return this.#move(step);
    if (step.step === 'delete') return this.#delete(step);
    if (step.step === 'wait') this.#nowMs += step.days * DAY_MS;
    else await releaseExpired(this.#fixture.db, this.#nowMs);
    return 'done';
  }

  async #end({ redeem, status }: Step & { step: 'end' }): Promise<Outcome> {
    const id = pick(this.#redeems, redeem);
    if (id === undefined) return 'refused';
    await end(this.#fixture.db, id, status);
    this.#redeems = this.#redeems.filter((open) => open !== id);
    return 'done';
  }

  async #move({ gift, days }: Step & { step: 'expiry' }): Promise<Outcome> {
    const body = { expiresAt: this.#inDays(days) };
    await this.#fixture.update(this.#caller, pick(this.#gifts, gift) ?? '', body, this.#nowMs);
    return 'done';
  }

  async #delete({ gift }: Step & { step: 'delete' }): Promise<Outcome> {
    const id = pick(this.#gifts, gift) ?? '';
    await this.#fixture.delete(this.#caller, id);
    this.#gifts = this.#gifts.filter((live) => live !== id);
    return 'done';
  }

  async #create({ amount, max, fast, days }: Step & { step: 'create' }): Promise<Outcome> {
    // Long ago, so that an expiry can be moved into the past.
    const startsAt = new Date(NOW - 10 * DAY_MS).toISOString();
    const limits = { maxRedeems: max, maxRedeemsPerUser: max, startsAt, expiresAt: this.#inDays(days) };
    const deps = this.#fixture.deps({ now: () => this.#nowMs });
    const gift = await this.#fixture.create(this.#caller, { amount, cctpFast: fast, ...limits }, deps);
    this.#gifts.push(gift.id);
    return 'done';
  }

  async #redeem({ gift, chain }: Step & { step: 'redeem' }): Promise<Outcome> {
    const id = await reserve(this.#fixture.db, this.#caller, pick(this.#gifts, gift) ?? '', this.#nowMs, chain);
    if (id !== undefined) this.#redeems.push(id);
    return id === undefined ? 'refused' : 'done';
  }

  #inDays(days: number | null): string | null {
    return days === null ? null : new Date(this.#nowMs + days * DAY_MS).toISOString();
  }
}
