import { ANY_CALLER, type OutsideExecution } from '@svc/starknet';
import { call } from './calls.ts';
import { address, bool, felt, span, struct, u64, type Value } from './codec.ts';
import type { Frame } from './frame.ts';
import { require } from './panic.ts';
import { map } from './storage.ts';

export const outsideExecution = struct('svc::OutsideExecution', {
  caller: address,
  nonce: felt,
  execute_after: u64,
  execute_before: u64,
  calls: span(call),
});

/** READY and SVC share the name, so what was spent before an upgrade cannot be played again after it. */
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

/** Each account has its own words for the same refusals. */
export interface RefusalTexts {
  readonly caller: string;
  readonly early: string;
  readonly late: string;
  readonly duplicate: string;
}

/** Checks who sends it and when, and spends its nonce before anything else runs, so that no call can come back in. */
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
