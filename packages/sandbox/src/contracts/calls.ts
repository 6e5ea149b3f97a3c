import { ANY_CALLER, type Call, type OutsideExecution, verify } from '@svc/starknet';
import { address, array, bool, felt, require, span, struct, u64, type Value } from './codec.ts';
import { type Frame, map } from './contract.ts';

export const call = struct('core::starknet::account::Call', { to: address, selector: felt, calldata: span(felt) });
export const calls = array(call);
export const results = array(span(felt));

/** Atomic: one failing call fails all. */
export async function executeAll(frame: Frame, list: readonly Call[]): Promise<bigint[][]> {
  await frame.foresee(list);
  const all: bigint[][] = [];
  for (const one of list) all.push(await frame.call(one));
  return all;
}

/** Not atomic: a failing call is undone, the others go on. */
export async function executeEach(frame: Frame, list: readonly Call[]): Promise<bigint[][]> {
  const all: bigint[][] = [];
  for (const one of list) {
    const outcome = await frame.tryCall(one);
    all.push(outcome.ok ? outcome.result : []);
  }
  return all;
}

export function requireProtocol(frame: Frame): void {
  require(frame.caller === 0n, 'Account: invalid caller');
  require(isVersion3(frame), 'Account: invalid tx version');
}

export function requireSelf(frame: Frame): void {
  require(frame.caller === frame.address, 'Account: unauthorized');
}

/** (r, s) and (r, -s) both verify, so replay protection must rest on nonces, never on signatures. */
export function isSignedBy(publicKey: bigint, hash: bigint, signature: readonly bigint[]): boolean {
  const [r, s] = signature;
  return signature.length === 2 && r !== undefined && s !== undefined && verify(hash, publicKey, r, s);
}

/** Offset of the version of a query, whose signature is good for estimates only. */
const QUERY_OFFSET = 1n << 128n;

export function isQuery(frame: Frame): boolean {
  return frame.transaction.version >= QUERY_OFFSET;
}

export function isVersion3(frame: Frame): boolean {
  return frame.transaction.version % QUERY_OFFSET === 3n;
}

export const outsideExecution = struct('svc::OutsideExecution', {
  caller: address,
  nonce: felt,
  execute_after: u64,
  execute_before: u64,
  calls: span(call),
});

/** READY and SVC share the slot: a nonce used before an upgrade stays used after it. */
export const outsideNonces = map('outside_nonces', bool);

export function readOutsideExecution(value: Value<typeof outsideExecution>): OutsideExecution {
  return {
    caller: value.caller,
    nonce: value.nonce,
    executeAfter: value.execute_after,
    executeBefore: value.execute_before,
    calls: value.calls,
  };
}

export interface RefusalTexts {
  readonly caller: string;
  readonly early: string;
  readonly late: string;
  readonly duplicate: string;
}

/** Checks caller and window, and consumes the nonce before any call runs (no reentrancy). */
export async function admitOutsideExecution(
  frame: Frame,
  execution: OutsideExecution,
  texts: RefusalTexts,
): Promise<void> {
  const { caller, nonce, executeAfter, executeBefore } = execution;
  require(caller === ANY_CALLER || caller === frame.caller, texts.caller);
  require(executeAfter < frame.block.timestamp, texts.early);
  require(frame.block.timestamp < executeBefore, texts.late);
  require(!(await outsideNonces.read(frame, nonce)), texts.duplicate);
  await outsideNonces.write(frame, [nonce], true);
}
