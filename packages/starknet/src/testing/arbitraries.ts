import fc from 'fast-check';
import type { Call } from '../calls.ts';
import { ADDRESS_BOUND, PRIME } from '../felt.ts';
import { ANY_CALLER, type OutsideExecution } from '../outside-execution.ts';

function below(bound: bigint): fc.Arbitrary<bigint> {
  const edges = [0n, 1n, 2n ** 64n, 2n ** 128n - 1n, 2n ** 128n, 2n ** 248n, 2n ** 251n - 256n, 2n ** 251n, bound - 1n];
  return fc.oneof(
    { weight: 1, arbitrary: fc.constantFrom(...edges.filter((edge) => edge < bound)) },
    { weight: 3, arbitrary: fc.bigInt({ min: 0n, max: bound - 1n }) },
  );
}

export const felt = below(PRIME);
export const address = below(ADDRESS_BOUND);
export const u256 = below(2n ** 256n);
export const u128 = below(2n ** 128n);
export const u64 = below(2n ** 64n);
export const u32 = below(2n ** 32n);
export const felts = fc.array(felt, { maxLength: 9 });
export const privateKey = fc.bigInt({ min: 1n, max: 2n ** 250n });
export const messageHash = below(2n ** 251n);

export const call: fc.Arbitrary<Call> = fc.record({ to: address, selector: felt, calldata: felts });
export const calls = fc.array(call, { maxLength: 4 });
export const outsideExecution: fc.Arbitrary<OutsideExecution> = fc.record({
  caller: fc.oneof(fc.constant(ANY_CALLER), address),
  nonce: felt,
  executeAfter: u64,
  executeBefore: u64,
  calls,
});
