import { classes, selector } from '@svc/starknet';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { call, STRK, USDC } from '../../testing/test-chain.ts';
import { BOB, SESSION, TestWallet } from '../../testing/test-wallet.ts';
import { u256 } from './codec.ts';

/** Reference model of a session's limits. */
class Model {
  session: { validUntil: bigint; maxCalls: number; used: number; allowed: readonly string[] } | undefined;
  readonly policies = new Map<bigint, { perCall: bigint; perWindow: bigint; seconds: bigint; spends: Spend[] }>();
  readonly windows = new Map<bigint, bigint>();

  attempt(now: bigint, calls: readonly Attempt[]): string {
    const { session } = this;
    if (!session) return 'Session: not registered';
    if (now >= session.validUntil) return 'Session: expired';
    if (session.used >= session.maxCalls) return 'Session: no calls left';
    const listed = (name: string) => session.allowed.length === 0 || session.allowed.includes(name);
    if (calls.some(({ name }) => name === 'upgrade' || !listed(name))) return 'Session: entrypoint not allowed';
    const refused = this.spend(now, calls);
    if (refused) return refused;
    session.used += 1;
    return 'ok';
  }

  /** Sums all spendings of the open window, where the contract keeps a total. */
  spend(now: bigint, calls: readonly Attempt[]): string | undefined {
    const drafts = new Map<bigint, { start: bigint; spends: Spend[] }>();
    for (const { name, token, amount } of calls) {
      const policy = this.policies.get(token);
      if (!policy || name === 'decrease_allowance') continue;
      const draft = drafts.get(token) ?? { start: this.windows.get(token) ?? 0n, spends: [...policy.spends] };
      if (now >= draft.start + policy.seconds) draft.start = now;
      draft.spends.push({ at: now, amount });
      if (amount > policy.perCall) return 'Spending: exceeds per-call';
      const open = draft.spends.filter(({ at }) => at >= draft.start);
      if (open.reduce((sum, spend) => sum + spend.amount, 0n) > policy.perWindow)
        return 'Spending: exceeds window limit';
      drafts.set(token, draft);
    }
    for (const [token, { start, spends }] of drafts) {
      const policy = this.policies.get(token);
      if (policy) policy.spends = spends;
      this.windows.set(token, start);
    }
    return undefined;
  }
}

interface Spend {
  readonly at: bigint;
  readonly amount: bigint;
}

interface Attempt {
  readonly name: string;
  readonly token: bigint;
  readonly amount: bigint;
}

const small = (max: bigint) => fc.bigInt({ min: 0n, max });
const token = fc.constantFrom(USDC, STRK);
const name = fc.constantFrom(
  'approve',
  'increase_allowance',
  'increaseAllowance',
  'transfer',
  'decrease_allowance',
  'upgrade',
);
const attempt = fc.record({ name, token, amount: small(12n) });
const list: fc.Arbitrary<string[]> = fc.oneof(
  fc.constant<string[]>([]),
  fc.subarray(['approve', 'transfer', 'increase_allowance'], { minLength: 1 }),
);
const step = fc.oneof(
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('add' as const),
      seconds: fc.integer({ min: 1, max: 60 }),
      maxCalls: fc.integer({ min: 0, max: 4 }),
      allowed: list,
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('revoke' as const) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('policy' as const),
      token,
      perCall: small(12n),
      perWindow: small(25n),
      seconds: fc.integer({ min: 1, max: 30 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('remove' as const), token }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('pass' as const), seconds: fc.integer({ min: 0, max: 25 }) }) },
  {
    weight: 9,
    arbitrary: fc.record({ kind: fc.constant('attempt' as const), calls: fc.array(attempt, { maxLength: 3 }) }),
  },
);

describe('sessions and policies', () => {
  it('do what a plain model of them does, for any sequence of changes and attempts', async () => {
    const opened = await TestWallet.open(classes.svc);
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 14 }), async (steps) => {
        const wallet = opened;
        await wallet.own('revoke_session_key', [SESSION]);
        await wallet.own('remove_spending_policy', [SESSION, USDC]);
        await wallet.own('remove_spending_policy', [SESSION, STRK]);
        const model = new Model();
        for (const one of steps) await play(wallet, model, one);
        expect((await wallet.session()).calls_used).toBe(BigInt(model.session?.used ?? 0));
      }),
      { numRuns: 40 },
    );
  });
});

type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

async function play(wallet: TestWallet, model: Model, one: Step): Promise<void> {
  if (one.kind === 'pass') return wallet.chain.pass(BigInt(one.seconds));
  if (one.kind === 'attempt') return tryBoth(wallet, model, one.calls);
  if (one.kind === 'revoke') {
    model.session = undefined;
    await wallet.own('revoke_session_key', [SESSION]);
  } else if (one.kind === 'add') {
    const validUntil = wallet.now + BigInt(one.seconds);
    model.session = { validUntil, maxCalls: one.maxCalls, used: 0, allowed: one.allowed };
    const allowedEntrypoints = one.allowed.map((entrypoint) => selector(entrypoint));
    await wallet.addSession({ validUntil, maxCalls: BigInt(one.maxCalls), allowedEntrypoints });
  } else if (one.kind === 'policy') {
    const seconds = BigInt(one.seconds);
    model.policies.set(one.token, { perCall: one.perCall, perWindow: one.perWindow, seconds, spends: [] });
    model.windows.set(one.token, wallet.now);
    const limits = { maxPerCall: one.perCall, maxPerWindow: one.perWindow, windowSeconds: seconds };
    await wallet.setPolicy({ token: one.token, ...limits });
  } else {
    model.policies.delete(one.token);
    await wallet.own('remove_spending_policy', [SESSION, one.token]);
  }
}

async function tryBoth(wallet: TestWallet, model: Model, attempts: readonly Attempt[]): Promise<void> {
  // A decrease spends nothing.
  const amountOf = ({ name, amount }: Attempt) => (name === 'decrease_allowance' ? 0n : amount);
  const calls = attempts.map((one) => call(one.token, one.name, [BOB, ...u256.write(amountOf(one))]));
  const { revertReason } = await wallet.asSession(calls, { validUntil: model.session?.validUntil ?? 1n });
  const expected = model.attempt(wallet.now, attempts);
  if (expected === 'ok') expect(revertReason).toBeUndefined();
  else expect(revertReason).toContain(`('${expected}')`);
}
