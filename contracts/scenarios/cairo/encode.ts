import { chainIds, selector, shortString } from '@svc/starknet';
import { privateKeys, START } from '../fixtures.ts';
import {
  type Execution,
  type Felt,
  type Outcome,
  places,
  type Scenario,
  type ScenarioCall,
  type ScenarioEvent,
  type Signature,
  type SignedExecution,
  type SignerEntry,
  type Step,
  shapes,
} from '../model.ts';

/** As in player.cairo. */
const CLOCK = 1n;
const DEPLOY = 2n;
const CALL = 3n;
const TRANSACTION = 4n;
const SUCCEEDS = 1n;
const REVERTS = 2n;
const REFUSED = 3n;
const FAILS = 4n;

const FIRST_PLACE = shortString('a place in a scenario 0');

/** Arbitrary: the Cairo tests set the transaction hash. */
const TRANSACTION_HASH = 0x7a5cn;

/** A scenario as felts for player.cairo. */
export function encode({ steps }: Scenario): bigint[] {
  const uses = (token: 'token' | 'coin') => (JSON.stringify(steps, shown).includes(`"${token}"`) ? 1n : 0n);
  return [chainIds.SVC_SANDBOX, START, uses('token'), uses('coin'), ...steps.flatMap(encodeStep)];
}

function shown(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value;
}

function encodeStep(step: Step): bigint[] {
  const outcome = encodeOutcome(step.outcome);
  switch (step.kind) {
    case 'clock':
      return [CLOCK, step.at];
    case 'deploy':
      return [DEPLOY, step.as === 'wallet' ? 0n : 1n, felt(step.of), ...felts(step.calldata), ...outcome];
    case 'relay': {
      const { account } = step.signed;
      const call = { to: account, entrypoint: 'execute_from_outside_v2', calldata: step.signed };
      return [CALL, felt(step.sender), ...encodeCall(call), ...outcome];
    }
    case 'transaction': {
      const signed = [TRANSACTION_HASH, ...encodeSignature(step.signature)];
      return [TRANSACTION, felt(step.account), ...list(step.calls, encodeCall), ...signed, ...outcome];
    }
    case 'call':
      return [CALL, felt(step.sender), ...encodeCall(step.call), ...outcome];
    case 'read':
      return [CALL, felt('stranger'), ...encodeCall(step.call), ...outcome];
  }
}

function felt(value: Felt): bigint {
  return typeof value === 'bigint' ? value : FIRST_PLACE + BigInt(places.indexOf(value));
}

function list<T>(items: readonly T[], encodeOne: (item: T) => bigint[]): bigint[] {
  return [BigInt(items.length), ...items.flatMap(encodeOne)];
}

const felts = (values: readonly Felt[]) => list(values, (value) => [felt(value)]);

function encodeCall({ to, entrypoint, calldata }: ScenarioCall): bigint[] {
  const head = [felt(to), selector(entrypoint)];
  return 'execution' in calldata ? [...head, 1n, ...encodeSigned(calldata)] : [...head, 0n, ...felts(calldata)];
}

function encodeSigned({ account, execution, signature }: SignedExecution): bigint[] {
  const { chainId = chainIds.SVC_SANDBOX, account: signedFor = account, instead } = signature;
  const other = instead ? [1n, ...encodeExecution(instead)] : [0n];
  return [...encodeExecution(execution), ...other, chainId, felt(signedFor), ...encodeSignature(signature)];
}

function encodeExecution({ caller, nonce, after, before, calls }: Execution): bigint[] {
  return [felt(caller), nonce, after, before, ...list(calls, encodeCall)];
}

function encodeSignature({ key, session, shape = 'good', entries, tail = 0 }: Signature): bigint[] {
  if (entries) return [...list(entries, encodeEntry), BigInt(tail)];
  const claims = session ? [1n, session.key, session.validUntil] : [0n, 0n, 0n];
  return [privateKeys[key], ...claims, BigInt(shapes.indexOf(shape))];
}

function encodeEntry({ privateKey, publicKey, shape = 'good' }: SignerEntry): bigint[] {
  return [privateKey, publicKey, BigInt(shapes.indexOf(shape))];
}

function encodeOutcome(outcome: Outcome): bigint[] {
  if ('succeeds' in outcome) return [SUCCEEDS, ...felts(outcome.succeeds), ...list(outcome.events, encodeEvent)];
  const noEvents = 0n;
  if ('reverts' in outcome) return [REVERTS, shortString(outcome.reverts), noEvents];
  if ('refused' in outcome) return [REFUSED, shortString(outcome.refused), noEvents];
  return [FAILS, noEvents];
}

function encodeEvent({ from, name, keys, data }: ScenarioEvent): bigint[] {
  return [felt(from), ...felts([selector(name), ...keys]), ...felts(data)];
}
