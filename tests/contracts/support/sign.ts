import {
  ANY_CALLER,
  chainIds,
  encodeOutsideExecution,
  type OutsideExecution,
  outsideExecutionTypedData,
  selector,
  toHex,
} from '@svc/starknet';
import { ec, type TypedData, typedData } from 'starknet';
import { privateKeys, START } from '../../../contracts/scenarios/fixtures.ts';
import type {
  Execution,
  Felt,
  KeyName,
  Place,
  ScenarioCall,
  Shape,
  Signature,
  SignedExecution,
  SignerEntry,
} from '../../../contracts/scenarios/model.ts';

export type Addresses = Readonly<Record<Place, bigint>>;

const { n: ORDER } = ec.starkCurve.CURVE;

export function feltOf(map: Addresses, felt: Felt): bigint {
  return typeof felt === 'bigint' ? felt : map[felt];
}

export function callOf(map: Addresses, { to, entrypoint, calldata }: ScenarioCall) {
  const felts = 'execution' in calldata ? signedCalldata(map, calldata) : calldata.map((felt) => feltOf(map, felt));
  return { to: feltOf(map, to), selector: selector(entrypoint), calldata: felts };
}

function executionOf(map: Addresses, { caller, nonce, after, before, calls }: Execution): OutsideExecution {
  return {
    caller: feltOf(map, caller),
    nonce,
    executeAfter: after,
    executeBefore: before,
    calls: calls.map((call) => callOf(map, call)),
  };
}

/** Calldata of `execute_from_outside_v2`, hashed and signed by starknet.js. */
export function signedCalldata(map: Addresses, { account, execution, signature }: SignedExecution): bigint[] {
  const { chainId = chainIds.SVC_SANDBOX, account: signedFor = account, instead = execution } = signature;
  const message = outsideExecutionTypedData(executionOf(map, instead), chainId) as TypedData;
  const hash = typedData.getMessageHash(message, toHex(map[signedFor]));
  return encodeOutsideExecution(executionOf(map, execution), signatureOf(hash, signature));
}

/** One call of the account, with the short signatures of all its keys, as READY expects them. */
export function signedByAll(map: Addresses, keys: readonly KeyName[], call: ScenarioCall): bigint[] {
  const execution = executionOf(map, wordsFor(call));
  const message = outsideExecutionTypedData(execution, chainIds.SVC_SANDBOX) as TypedData;
  const hash = typedData.getMessageHash(message, toHex(map.wallet));
  return encodeOutsideExecution(
    execution,
    keys.flatMap((key) => signed(hash, privateKeys[key])),
  );
}

function wordsFor(call: ScenarioCall): Execution {
  return { caller: ANY_CALLER, nonce: 0x4ead1n, after: START - 1n, before: START + 1n, calls: [call] };
}

const PRIME = 2n ** 251n + 17n * 2n ** 192n + 1n;

export function signatureOf(hash: string, signature: Signature): bigint[] {
  const { key, session, shape = 'good', entries, tail = 0 } = signature;
  if (entries) return [...entries.flatMap((entry) => entryOf(hash, entry)), ...new Array<bigint>(tail).fill(0n)];
  if (shape === 'empty') return [];
  const [r, good] = signed(hash, privateKeys[key]);
  const s = shaped(good, shape);
  const pair = shape === 'short' ? [r] : [r, s];
  const felts = session ? [session.key, ...pair, session.validUntil] : pair;
  return shape === 'long' ? [...felts, 0n] : felts;
}

function entryOf(hash: string, { privateKey, publicKey, shape = 'good' }: SignerEntry): bigint[] {
  const [r, good] = signed(hash, privateKey);
  return [publicKey, r, shaped(good, shape)];
}

function shaped(s: bigint, shape: Shape): bigint {
  return shape === 'negated' ? ORDER - s : shape === 'zero s' ? 0n : shape === 'large s' ? PRIME - 1n : s;
}

function signed(hash: string, privateKey: bigint): [bigint, bigint] {
  const { r, s } = ec.starkCurve.sign(hash, toHex(privateKey));
  return [r, s];
}
