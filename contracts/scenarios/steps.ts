import { ANY_CALLER, encodeU256, selector } from '@svc/starknet';
import { publicKeys, START } from './fixtures.ts';
import type { Execution, Felt, Outcome, Place, ScenarioCall, ScenarioEvent, Signature, Step } from './model.ts';

/** Default end of a session. */
export const UNTIL = START + 1_000n;
const HOUR = 3_600n;

export const session = publicKeys.session;
export const second = publicKeys.second;

export function call(to: Felt, entrypoint: string, calldata: ScenarioCall['calldata'] = []): ScenarioCall {
  return { to, entrypoint, calldata };
}

export function selectors(...names: readonly string[]): Felt[] {
  return [BigInt(names.length), ...names.map(selector)];
}

export const transfer = (amount: bigint, token: Place = 'token') => spending('transfer', amount, token);

/** Any token entrypoint that takes a party and an amount. */
export function spending(entrypoint: string, amount: bigint, token: Place = 'token'): ScenarioCall {
  return call(token, entrypoint, ['bob', ...encodeU256(amount)]);
}

export interface SessionTerms {
  readonly key?: bigint;
  readonly until?: bigint;
  readonly maxCalls?: bigint;
  readonly allowed?: readonly string[];
}

export function addSession(terms: SessionTerms = {}): ScenarioCall {
  const { key = session, until = UNTIL, maxCalls = 100n, allowed = [] } = terms;
  return call('wallet', 'add_or_update_session_key', [key, until, maxCalls, ...selectors(...allowed)]);
}

export interface PolicyTerms {
  readonly key?: bigint;
  readonly token?: Place;
  readonly perCall?: bigint;
  readonly perWindow?: bigint;
  readonly seconds?: bigint;
}

export function setPolicy(terms: PolicyTerms = {}): ScenarioCall {
  const { key = session, token = 'token', perCall = 50n, perWindow = 80n, seconds = 100n } = terms;
  const limits = [...encodeU256(perCall), ...encodeU256(perWindow), seconds];
  return call('wallet', 'set_spending_policy', [key, token, ...limits]);
}

export const removePolicy = (token: Place = 'token', key = session) =>
  call('wallet', 'remove_spending_policy', [key, token]);
export const revoke = (key = session) => call('wallet', 'revoke_session_key', [key]);

function event(from: Place, name: string, keys: readonly Felt[], data: readonly Felt[] = []): ScenarioEvent {
  return { from, name, keys, data };
}

export const events = {
  transfer: (amount: bigint, token: Place = 'token', from: Felt = 'wallet', to: Felt = 'bob') =>
    event(token, 'Transfer', [from, to], encodeU256(amount)),
  approval: (amount: bigint, token: Place = 'token', spender: Felt = 'bob') =>
    event(token, 'Approval', ['wallet', spender], encodeU256(amount)),
  sessionAdded: ({ key = session, until = UNTIL, maxCalls = 100n }: SessionTerms = {}) =>
    event('wallet', 'SessionKeyAdded', [key], [until, maxCalls]),
  sessionRevoked: (key = session) => event('wallet', 'SessionKeyRevoked', [key]),
  policySet: (terms: PolicyTerms = {}) => {
    const { key = session, token = 'token', perCall = 50n, perWindow = 80n, seconds = 100n } = terms;
    const limits = [...encodeU256(perCall), ...encodeU256(perWindow), seconds];
    return event('wallet', 'SpendingPolicySet', [key, token], limits);
  },
  policyRemoved: (token: Place = 'token', key = session) => event('wallet', 'SpendingPolicyRemoved', [key, token]),
  ownerAdded: (key: bigint, from: Place = 'wallet') => event(from, 'OwnerAdded', [key]),
  ownerRemoved: (key: bigint) => event('wallet', 'OwnerRemoved', [key]),
  upgraded: (to: Place) => event('wallet', 'Upgraded', [to]),
};

export type Done = Extract<Outcome, { succeeds: readonly Felt[] }>;

/** One list of felts per call. */
export function done(results: readonly (readonly Felt[])[], happened: readonly ScenarioEvent[] = []): Done {
  return { succeeds: returned(results), events: happened };
}

export function returned(results: readonly (readonly Felt[])[]): Felt[] {
  return [BigInt(results.length), ...results.flatMap((felts) => [BigInt(felts.length), ...felts])];
}

export const reverts = (reason: string, onNode = reason): Outcome => ({ reverts: reason, onNode });
export const refused = (reason: string): Outcome => ({ refused: reason });
export const NOTHING: readonly Felt[] = [];
export const TRUE: readonly Felt[] = [1n];

export function clock(at: bigint): Step {
  return { kind: 'clock', at, outcome: { succeeds: [], events: [] } };
}

/** The funded wallet, or a second account of the same owner. */
export function deploy(as: 'wallet' | 'other' = 'wallet', key = publicKeys.owner): Step {
  const outcome = { succeeds: [], events: [events.ownerAdded(key, as)] };
  return { kind: 'deploy', as, of: 'SVC class', calldata: [key], outcome };
}

export type Changes = Partial<Omit<Execution, 'calls'>>;

/** Valid for an hour around the start, for any caller. */
export function execution(calls: readonly ScenarioCall[], nonce: bigint, changes: Changes = {}): Execution {
  return { caller: ANY_CALLER, nonce, after: START - HOUR, before: START + HOUR, calls, ...changes };
}

export interface Sent extends Changes {
  readonly nonce: bigint;
  readonly sender?: Place;
  readonly account?: Place;
  readonly signature?: Partial<Signature>;
}

export function byOwner(sent: Sent, calls: readonly ScenarioCall[], outcome: Outcome): Step {
  return relayed(sent, { key: 'owner' }, calls, outcome);
}

export function bySession(sent: Sent, calls: readonly ScenarioCall[], outcome: Outcome, validUntil = UNTIL): Step {
  return relayed(sent, { key: 'session', session: { key: session, validUntil } }, calls, outcome);
}

function relayed(sent: Sent, signer: Signature, calls: readonly ScenarioCall[], outcome: Outcome): Step {
  const { sender = 'relayer', account = 'wallet', signature, nonce, ...changes } = sent;
  const signed = {
    account,
    execution: execution(calls, nonce, changes),
    signature: { ...signer, ...signature },
  };
  return { kind: 'relay', sender, signed, outcome };
}

export function transaction(
  calls: readonly ScenarioCall[],
  outcome: Outcome,
  signature: Signature = { key: 'owner' },
): Step {
  return { kind: 'transaction', account: 'wallet', calls, signature, outcome };
}

export function read(to: Felt, entrypoint: string, calldata: readonly Felt[], result: readonly Felt[]): Step {
  return { kind: 'read', call: call(to, entrypoint, calldata), outcome: { succeeds: result, events: [] } };
}

export const reads = {
  /** `valid_until, max_calls, calls_used, allowed_entrypoints_len`. */
  session: (data: readonly [bigint, bigint, bigint, bigint], key = session) =>
    read('wallet', 'get_session_data', [key], data),
  /** State of the policy `50, 80, 100`: amount spent and start of the window. */
  spent: (spent: bigint, windowStart: bigint, { key = session, token = 'token', ...terms }: PolicyTerms = {}) => {
    const { perCall = 50n, perWindow = 80n, seconds = 100n } = terms;
    const state = [...encodeU256(perCall), ...encodeU256(perWindow), seconds, ...encodeU256(spent), windowStart];
    return read('wallet', 'get_spending_policy', [key, token], state);
  },
  noPolicy: (token: Place = 'token', key = session) =>
    read('wallet', 'get_spending_policy', [key, token], [0n, 0n, 0n, 0n, 0n, 0n, 0n, 0n]),
  balance: (amount: bigint, of: Felt = 'bob', token: Place = 'token') =>
    read(token, 'balance_of', [of], encodeU256(amount)),
  owner: (key: bigint = publicKeys.owner) => read('wallet', 'get_public_key', [], [key]),
  nonceFree: (nonce: bigint, free: boolean) =>
    read('wallet', 'is_valid_outside_execution_nonce', [nonce], [free ? 1n : 0n]),
};

export const NO_SESSION = [0n, 0n, 0n, 0n] as const;

/** Deploys the wallet and adds a session with policies, in one execution of the owner. */
export function withSession(terms: SessionTerms = {}, ...policies: readonly PolicyTerms[]): Step[] {
  const calls = [addSession(terms), ...policies.map(setPolicy)];
  const happened = [events.sessionAdded(terms), ...policies.map(events.policySet)];
  const results = calls.map(() => NOTHING);
  return [deploy(), byOwner({ nonce: 0xaddn }, calls, done(results, happened))];
}

export const PER_CALL: Outcome = reverts('Spending: exceeds per-call');
export const WINDOW: Outcome = reverts('Spending: exceeds window limit');

export const paid = (...amounts: readonly bigint[]): Outcome =>
  done(
    amounts.map(() => TRUE),
    amounts.map((amount) => events.transfer(amount)),
  );

export const pay = (nonce: bigint, amount: bigint, outcome: Outcome = paid(amount)) =>
  bySession({ nonce }, [transfer(amount)], outcome);
