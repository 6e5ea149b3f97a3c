import { FUNDS, START } from '../fixtures.ts';
import type { Scenario, ScenarioCall, ScenarioEvent, Step } from '../model.ts';
import {
  addSession,
  byOwner,
  bySession,
  call,
  clock,
  deploy,
  done,
  events,
  NO_SESSION,
  NOTHING,
  type PolicyTerms,
  reads,
  removePolicy,
  reverts,
  revoke,
  setPolicy,
  spending,
} from '../steps.ts';
import { type Attempt, type TokenName, WalletModel } from './wallet-model.ts';

/** Enough to reach the limits, few enough for one slice. */
const STEPS = 9;
/** Executions are signed for an hour. */
const LAST_SECOND = START + 3_000n;

const TOKENS = ['token', 'coin'] as const;
const ENTRYPOINTS = ['transfer', 'transfer', 'approve', 'increase_allowance', 'increaseAllowance'] as const;
const LISTS = [[], [], ['transfer'], ['transfer', 'approve'], ['transfer', 'increaseAllowance']] as const;

/** A random scenario with the model's outcomes. */
export function generate(seed: number): Scenario {
  const generator = new Generator(seed);
  const steps = [deploy(), generator.begin()];
  for (let count = 0; count < STEPS; count++) steps.push(generator.step());
  return {
    name: `seed ${seed}: sessions and policies do what a plain model does`,
    steps: [...steps, ...generator.end()],
  };
}

class Generator {
  readonly #random: Random;
  readonly #wallet = new WalletModel();
  #nonce = 0n;

  constructor(seed: number) {
    this.#random = new Random(seed);
  }

  begin(): Step {
    return this.#owner([this.#addSession(), this.#setPolicy('token')]);
  }

  /** Renews a session that has ended, so that calls can still succeed. */
  step(): Step {
    const { session, now } = this.#wallet;
    const isOver = !session || now >= session.until || session.used >= session.maxCalls;
    if (isOver && this.#random.chance(60)) return this.#owner([this.#addSession()]);
    const kind = this.#random.below(10);
    if (kind < 2) return this.#pass();
    return kind < 3 ? this.#owner([this.#change()]) : this.#attempt();
  }

  /** Reads the whole state. */
  end(): Step[] {
    const { session } = this.#wallet;
    const length = BigInt(session?.allowed.length ?? 0);
    const data = session ? ([session.until, session.maxCalls, session.used, length] as const) : NO_SESSION;
    return [reads.session(data), ...TOKENS.flatMap((token) => [this.#readPolicy(token), this.#readPaid(token)])];
  }

  #readPaid(token: TokenName): Step {
    return reads.balance(this.#wallet.paid(token), 'bob', token);
  }

  #readPolicy(token: TokenName): Step {
    const policy = this.#wallet.policies.get(token);
    if (!policy) return reads.noPolicy(token);
    const { perCall, perWindow, seconds, windowStart } = policy;
    return reads.spent(this.#wallet.spent(token), windowStart, { token, perCall, perWindow, seconds });
  }

  #owner(changes: readonly { readonly call: ScenarioCall; readonly event: ScenarioEvent }[]): Step {
    const happened = changes.map(({ event }) => event);
    const answers = changes.map(() => NOTHING);
    this.#nonce += 1n;
    return byOwner(
      { nonce: this.#nonce },
      changes.map((change) => change.call),
      done(answers, happened),
    );
  }

  #change() {
    const kind = this.#random.below(8);
    const token = this.#random.pick(TOKENS);
    if (kind < 4) return this.#addSession();
    if (kind < 6) return this.#setPolicy(token);
    if (kind < 7) {
      this.#wallet.policies.delete(token);
      return { call: removePolicy(token), event: events.policyRemoved(token) };
    }
    this.#wallet.session = undefined;
    return { call: revoke(), event: events.sessionRevoked() };
  }

  #addSession() {
    const until = this.#wallet.now + this.#random.pick([60n, 150n, 2_000n]);
    const terms = { until, maxCalls: this.#random.pick([2n, 5n, 9n]), allowed: this.#random.pick(LISTS) };
    this.#wallet.add(terms);
    return { call: addSession(terms), event: events.sessionAdded(terms) };
  }

  #setPolicy(token: TokenName) {
    const perCall = BigInt(this.#random.below(60));
    const perWindow = perCall + BigInt(this.#random.below(60));
    const terms: PolicyTerms = { token, perCall, perWindow, seconds: this.#random.pick([1n, 40n, 100n]) };
    this.#wallet.set(terms);
    return { call: setPolicy(terms), event: events.policySet(terms) };
  }

  /** Moves the clock to the end of a session or window, or one second beside it. */
  #pass(): Step {
    const { session, policies, now } = this.#wallet;
    const windows = [...policies.values()].map(({ windowStart, seconds }) => windowStart + seconds);
    const edges = [...windows, session?.until ?? 0n].flatMap((edge) => [edge - 1n, edge, edge]);
    const ahead = edges.filter((edge) => edge > now && edge < LAST_SECOND);
    this.#wallet.now = this.#random.pick([now + 1n, ...ahead]);
    return clock(this.#wallet.now);
  }

  #attempt(): Step {
    const attempts = Array.from({ length: 1 + this.#random.below(3) }, () => this.#call());
    const forged = this.#random.chance(6);
    const registered = this.#wallet.session?.until ?? START + 1n;
    const validUntil = this.#random.chance(6) ? registered + 1n : registered;
    const outcome = this.#wallet.attempt(attempts, validUntil, forged);
    this.#nonce += 1n;
    return bySession(
      { nonce: this.#nonce, ...(forged && { signature: { key: 'thief' } }) },
      attempts.map(({ entrypoint, token, amount }) =>
        token === 'wallet' ? call('wallet', 'get_public_key') : spending(entrypoint, amount, token),
      ),
      typeof outcome === 'string' ? reverts(outcome) : outcome,
      validUntil,
    );
  }

  /** Mostly allowed calls, with amounts around the limits. */
  #call(): Attempt {
    const [first, ...more] = this.#wallet.session?.allowed ?? [];
    const listed = first === undefined ? this.#random.pick(ENTRYPOINTS) : this.#random.pick([first, ...more]);
    const entrypoint = this.#random.chance(92) ? listed : this.#random.pick(['approve', 'upgrade']);
    if (this.#random.chance(3)) return { entrypoint, token: 'wallet', amount: 0n };
    const token = this.#random.pick(TOKENS);
    return { entrypoint, token, amount: this.#amount(token) };
  }

  #amount(token: TokenName): bigint {
    const policy = this.#wallet.policies.get(token);
    if (!policy) return this.#random.pick([3n, 100n, FUNDS - this.#wallet.paid(token), FUNDS]);
    const left = policy.perWindow - this.#wallet.spent(token);
    const most = left < policy.perCall ? left : policy.perCall;
    return this.#random.pick([most, most / 2n, most / 2n, policy.perCall, left, policy.perCall + 1n, left + 1n]);
  }
}

/** Deterministic (Mulberry32). */
class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed;
  }

  below(limit: number): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * limit);
  }

  pick<T>(items: readonly [T, ...T[]]): T {
    return items[this.below(items.length)] ?? items[0];
  }

  chance(percent: number): boolean {
    return this.below(100) < percent;
  }
}
