import { FUNDS, START } from '../fixtures.ts';
import type { ScenarioEvent } from '../model.ts';
import { type Done, events, type PolicyTerms, returned, type SessionTerms, TRUE, UNTIL } from '../steps.ts';

export type TokenName = 'token' | 'coin';

/** A call of a token, of the account itself, or of an owner entrypoint. */
export interface Attempt {
  readonly entrypoint: string;
  readonly token: TokenName | 'wallet';
  readonly amount: bigint;
}

interface Spending {
  readonly at: bigint;
  readonly amount: bigint;
}

interface Policy extends Required<Omit<PolicyTerms, 'key' | 'token'>> {
  windowStart: bigint;
  spendings: Spending[];
}

/** Of bob, in one token. */
const UNTOUCHED = { paid: 0n, allowed: 0n };
const OWNERS = ['upgrade', 'set_public_key'];
const COUNTED = ['transfer', 'approve', 'increase_allowance', 'increaseAllowance'];

/** Reference model of a wallet with one session: keeps every spending instead of a sum, and a list instead of a set. */
export class WalletModel {
  now = START;
  session: (Required<Omit<SessionTerms, 'key'>> & { used: bigint }) | undefined;
  readonly policies = new Map<TokenName, Policy>();
  readonly #tokens = { token: UNTOUCHED, coin: UNTOUCHED };

  add({ until = UNTIL, maxCalls = 100n, allowed = [] }: SessionTerms): void {
    this.session = { until, maxCalls, allowed, used: 0n };
  }

  set({ token = 'token', perCall = 50n, perWindow = 80n, seconds = 100n }: PolicyTerms): void {
    this.policies.set(token as TokenName, { perCall, perWindow, seconds, windowStart: this.now, spendings: [] });
  }

  paid(token: TokenName): bigint {
    return this.#tokens[token].paid;
  }

  spent(token: TokenName): bigint {
    const policy = this.policies.get(token);
    return policy ? sum(policy.spendings.filter(({ at }) => at >= policy.windowStart)) : 0n;
  }

  /** The outcome of a relayed execution. A refused one changes nothing. */
  attempt(attempts: readonly Attempt[], validUntil: bigint, forged: boolean): Done | string {
    return this.#refusal(attempts, validUntil) ?? (forged ? 'Account: invalid signature' : this.#run(attempts));
  }

  #refusal(attempts: readonly Attempt[], validUntil: bigint): string | undefined {
    const { session } = this;
    if (session?.until !== validUntil) return 'Session: not registered';
    if (this.now >= session.until) return 'Session: expired';
    if (session.used >= session.maxCalls) return 'Session: no calls left';
    const isListed = (name: string) => session.allowed.length === 0 || session.allowed.includes(name);
    const isForbidden = ({ entrypoint, token }: Attempt) =>
      token === 'wallet' || OWNERS.includes(entrypoint) || !isListed(entrypoint);
    return attempts.some(isForbidden) ? 'Session: entrypoint not allowed' : undefined;
  }

  #run(attempts: readonly Attempt[]): Done | string {
    const before = structuredClone({ policies: this.policies, tokens: this.#tokens });
    const happened = this.#spend(attempts) ?? this.#move(attempts);
    if (typeof happened === 'string') {
      for (const [token, policy] of before.policies) this.policies.set(token, policy);
      Object.assign(this.#tokens, before.tokens);
      return happened;
    }
    if (this.session) this.session.used += 1n;
    return { succeeds: returned(attempts.map(() => TRUE)), events: happened };
  }

  #spend(attempts: readonly Attempt[]): string | undefined {
    for (const { entrypoint, token, amount } of attempts) {
      const policy = token === 'wallet' ? undefined : this.policies.get(token);
      if (!policy || !COUNTED.includes(entrypoint)) continue;
      if (amount > policy.perCall) return 'Spending: exceeds per-call';
      if (this.now >= policy.windowStart + policy.seconds) {
        policy.windowStart = this.now;
        policy.spendings = [];
      }
      policy.spendings.push({ at: this.now, amount });
      if (sum(policy.spendings) > policy.perWindow) return 'Spending: exceeds window limit';
    }
    return undefined;
  }

  #move(attempts: readonly Attempt[]): ScenarioEvent[] | string {
    const happened: ScenarioEvent[] = [];
    for (const { entrypoint, token, amount } of attempts) {
      if (token === 'wallet') return 'the account itself';
      const { paid, allowed } = this.#tokens[token];
      if (entrypoint === 'transfer') {
        if (paid + amount > FUNDS) return 'ERC20: insufficient balance';
        this.#tokens[token] = { paid: paid + amount, allowed };
        happened.push(events.transfer(amount, token));
      } else {
        const sum = entrypoint === 'approve' ? amount : allowed + amount;
        this.#tokens[token] = { paid, allowed: sum };
        happened.push(events.approval(sum, token));
      }
    }
    return happened;
  }
}

function sum(spendings: readonly Spending[]): bigint {
  return spendings.reduce((total, { amount }) => total + amount, 0n);
}
