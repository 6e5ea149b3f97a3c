import type { Call } from '@svc/starknet';
import { address, array, felt, span, struct } from './codec.ts';
import type { Frame } from './frame.ts';

export const call = struct('core::starknet::account::Call', { to: address, selector: felt, calldata: span(felt) });
export const calls = array(call);
export const results = array(span(felt));

/** One failing call fails them all. */
export async function executeAll(frame: Frame, list: readonly Call[]): Promise<bigint[][]> {
  const all: bigint[][] = [];
  for (const one of list) all.push(await frame.call(one));
  return all;
}

/** A failing call leaves no trace, and the rest goes on. */
export async function executeEach(frame: Frame, list: readonly Call[]): Promise<bigint[][]> {
  const all: bigint[][] = [];
  for (const one of list) {
    const outcome = await frame.tryCall(one);
    all.push(outcome.ok ? outcome.result : []);
  }
  return all;
}
