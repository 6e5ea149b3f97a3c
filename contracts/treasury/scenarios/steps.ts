import { encodeSetLimit, encodeU256, starkKey } from '@svc/starknet';
import type {
  Felt,
  Outcome,
  Place,
  ScenarioCall,
  ScenarioEvent,
  Signature,
  SignerEntry,
  Step,
} from '../../scenarios/model.ts';
import { type Changes, call, done, execution, NOTHING, read, reverts } from '../../scenarios/steps.ts';

const byPublicKey = (a: SignerEntry, b: SignerEntry) => (a.publicKey < b.publicKey ? -1 : 1);

/** One more than a treasury takes, in increasing order of public keys. */
const pairs: readonly SignerEntry[] = Array.from({ length: 21 }, (_, index) => {
  const privateKey = 0x7ea5_0000n + BigInt(index);
  return { privateKey, publicKey: starkKey(privateKey) };
}).sort(byPublicKey);

/** The class of the treasury, and one that is none. */
export const TREASURY_CLASS: Place = 'SVC class';
export const OTHER_CLASS: Place = 'READY class';

export function signer(index: number, changes: Partial<SignerEntry> = {}): SignerEntry {
  const pair = pairs[index];
  if (!pair) throw new Error('There is no such signer.');
  return { ...pair, ...changes };
}

export const keyOf = (index: number) => signer(index).publicKey;
export const keysOf = (...indexes: readonly number[]) => indexes.map(keyOf);

export interface LimitTerms {
  readonly token?: Place;
  readonly threshold?: bigint;
  readonly max?: bigint;
  readonly seconds?: bigint;
}

function limitFelts({ token = 'token', threshold = 1n, max = 100n, seconds = 60n }: LimitTerms): Felt[] {
  const terms = { token: 0n, threshold: Number(threshold), maxPerWindow: max, windowSeconds: seconds };
  return [token, ...encodeSetLimit(terms).slice(1)];
}

export function setSigners(keys: readonly bigint[], threshold: bigint): ScenarioCall {
  return call('wallet', 'set_signers', [BigInt(keys.length), ...keys, threshold]);
}

export const setLimit = (terms: LimitTerms = {}) => call('wallet', 'set_limit', limitFelts(terms));
export const removeLimit = (token: Place = 'token') => call('wallet', 'remove_limit', [token]);

function event(name: string, keys: readonly Felt[], data: readonly Felt[], from: Place = 'wallet'): ScenarioEvent {
  return { from, name, keys, data };
}

export const happened = {
  added: (key: bigint, from?: Place) => event('SignerAdded', [key], [], from),
  removed: (key: bigint) => event('SignerRemoved', [key], []),
  threshold: (threshold: bigint, from?: Place) => event('ThresholdChanged', [], [threshold], from),
  limitSet: (terms: LimitTerms = {}) => {
    const [token = 0n, ...rest] = limitFelts(terms);
    return event('LimitSet', [token], rest);
  },
  limitRemoved: (token: Place = 'token') => event('LimitRemoved', [token], []),
  upgraded: (to: Place) => event('Upgraded', [to], []),
  approved: (nonce: bigint, keys: readonly bigint[], withinLimit = false, from: Place = 'wallet') =>
    event('Approved', [nonce], [BigInt(keys.length), ...keys, withinLimit ? 1n : 0n], from),
};

export interface Terms {
  readonly keys?: readonly bigint[];
  readonly threshold?: bigint;
  readonly limits?: readonly LimitTerms[];
  readonly as?: 'wallet' | 'other';
}

/** Two of the first three signers, unless told otherwise. */
export function deploy({ keys = keysOf(0, 1, 2), threshold = 2n, limits = [], as = 'wallet' }: Terms = {}): Step {
  const events = [
    ...keys.map((key) => happened.added(key, as)),
    happened.threshold(threshold, as),
    ...limits.map(happened.limitSet),
  ];
  return { ...deployment({ keys, threshold, limits, as }), outcome: { succeeds: [], events } };
}

/** Deployed, then limited: the player's tokens exist after the treasury. */
export function withLimits(limits: readonly LimitTerms[], terms: Omit<Terms, 'limits'> = {}): Step[] {
  const { threshold = 2n } = terms;
  const approving = Array.from({ length: Number(threshold) }, (_, index) => index);
  return [deploy(terms), changed(approving, 0xaddn, limits.map(setLimit), limits.map(happened.limitSet))];
}

export function refusedDeploy(terms: Terms, reason: string): Step {
  return { ...deployment(terms), outcome: reverts(reason) };
}

function deployment({ keys = keysOf(0, 1, 2), threshold = 2n, limits = [], as = 'wallet' }: Terms) {
  const signers = [BigInt(keys.length), ...keys, threshold];
  const calldata = [...signers, BigInt(limits.length), ...limits.flatMap(limitFelts)];
  return { kind: 'deploy' as const, as, of: TREASURY_CLASS, calldata };
}

export interface Sent extends Changes {
  readonly nonce: bigint;
  readonly sender?: Place;
  readonly account?: Place;
  readonly signature?: Partial<Signature>;
}

/** What the entries sign is relayed. */
export function signedBy(
  entries: readonly SignerEntry[],
  sent: Sent,
  calls: readonly ScenarioCall[],
  outcome: Outcome,
): Step {
  const { sender = 'relayer', account = 'wallet', signature, nonce, ...changes } = sent;
  const signed = {
    account,
    execution: execution(calls, nonce, changes),
    signature: { key: 'owner' as const, entries, ...signature },
  };
  return { kind: 'relay', sender, signed, outcome };
}

/** By signers that have these indexes, in their order. */
export function by(indexes: readonly number[], sent: Sent, calls: readonly ScenarioCall[], outcome: Outcome): Step {
  return signedBy(
    indexes.map((index) => signer(index)),
    sent,
    calls,
    outcome,
  );
}

/** Runs and is approved by these signers; the calls answer nothing. */
export function changed(
  indexes: readonly number[],
  nonce: bigint,
  calls: readonly ScenarioCall[],
  events: readonly ScenarioEvent[],
): Step {
  const approved = happened.approved(nonce, keysOf(...indexes));
  return by(
    indexes,
    { nonce },
    calls,
    done(
      calls.map(() => NOTHING),
      [approved, ...events],
    ),
  );
}

export const reads = {
  signers: (keys: readonly bigint[]) => read('wallet', 'get_signers', [], [BigInt(keys.length), ...keys]),
  threshold: (threshold: bigint) => read('wallet', 'get_threshold', [], [threshold]),
  isSigner: (key: bigint, is: boolean) => read('wallet', 'is_signer', [key], [is ? 1n : 0n]),
  limit: (
    spent: bigint,
    start: bigint,
    { token = 'token', threshold = 1n, max = 100n, seconds = 60n }: LimitTerms = {},
  ) => read('wallet', 'get_limit', [token], [threshold, ...encodeU256(max), seconds, ...encodeU256(spent), start]),
  noLimit: (token: Place = 'token') => read('wallet', 'get_limit', [token], [0n, 0n, 0n, 0n, 0n, 0n, 0n]),
};

export const NOT_REACHED = reverts('Treasury: threshold not reached');
export const INVALID_SIGNATURE = reverts('Treasury: invalid signature');
export const UNORDERED = reverts('Treasury: unordered signatures');
export const EXCEEDS = reverts('Treasury: exceeds limit');
export const UNAUTHORIZED = reverts('Account: unauthorized');
