import fc from 'fast-check';
import { CallData, type TypedData, typedData } from 'starknet';
import { typedData as typedData9 } from 'starknet-9';
import { describe, expect, it } from 'vitest';
import { chainIds } from './constants.ts';
import { toHex } from './felt.ts';
import {
  ANY_CALLER,
  decodeOutsideExecution,
  encodeOutsideExecution,
  type OutsideExecution,
  outsideExecutionHash,
} from './outside-execution.ts';
import { address, felt, felts, outsideExecution } from './testing/arbitraries.ts';
import { outsideExecutionTypedData } from './typed-data.ts';

/** Version 1 of SNIP-9, for starknet.js to hash. */
function versionOne(execution: OutsideExecution, chainId: bigint): TypedData {
  const felts = (...names: string[]) => names.map((name) => ({ name, type: 'felt' }));
  return {
    types: {
      StarkNetDomain: felts('name', 'version', 'chainId'),
      OutsideExecution: [
        ...felts('caller', 'nonce', 'execute_after', 'execute_before', 'calls_len'),
        { name: 'calls', type: 'OutsideCall*' },
      ],
      OutsideCall: [...felts('to', 'selector', 'calldata_len'), { name: 'calldata', type: 'felt*' }],
    },
    primaryType: 'OutsideExecution',
    domain: { name: 'Account.execute_from_outside', version: '1', chainId: toHex(chainId) },
    message: {
      caller: toHex(execution.caller),
      nonce: toHex(execution.nonce),
      execute_after: toHex(execution.executeAfter),
      execute_before: toHex(execution.executeBefore),
      calls_len: execution.calls.length,
      calls: execution.calls.map(({ to, selector, calldata }) => ({
        to: toHex(to),
        selector: toHex(selector),
        calldata_len: calldata.length,
        calldata: calldata.map(toHex),
      })),
    },
  };
}

describe('the hash that the owner signs', () => {
  it('agrees with starknet.js in version 2, for any account and chain', () => {
    fc.assert(
      fc.property(outsideExecution, address, felt, (execution, account, chainId) => {
        const shown = outsideExecutionTypedData(execution, chainId) as TypedData;
        const own = toHex(outsideExecutionHash(2, execution, account, chainId));
        expect(own).toBe(typedData.getMessageHash(shown, account));
        expect(own).toBe(typedData9.getMessageHash(shown, account));
      }),
      { numRuns: 50 },
    );
  });

  it('agrees with starknet.js in version 1, for any account and chain', () => {
    fc.assert(
      fc.property(outsideExecution, address, felt, (execution, account, chainId) => {
        const own = toHex(outsideExecutionHash(1, execution, account, chainId));
        expect(own).toBe(typedData.getMessageHash(versionOne(execution, chainId), account));
      }),
      { numRuns: 15 },
    );
  });

  it('uses the published type hashes of version 2', () => {
    const { types } = outsideExecutionTypedData(
      { caller: ANY_CALLER, nonce: 0n, executeAfter: 0n, executeBefore: 0n, calls: [] },
      chainIds.SN_MAIN,
    ) as TypedData;
    const typeHash = (name: string) => typedData.getTypeHash(types, name, '1');
    expect(typeHash('StarknetDomain')).toBe('0x1ff2f602e42168014d405a94f75e8a93d640751d71d16311266e140d8b0a210');
    expect(typeHash('OutsideExecution')).toBe('0x312b56c05a7965066ddbda31c016d8d05afc305071c0ca3cdc2192c3c2f1f0f');
    expect(typeHash('Call')).toBe('0x3635c7f2a7ba93844c0d064e18e487f35ab90f7c39d00f186a781fc3f0c2ca9');
  });

  it('is another one for every other value', () => {
    const execution = { caller: 1n, nonce: 2n, executeAfter: 3n, executeBefore: 4n, calls: [] };
    const all = [
      outsideExecutionHash(2, execution, 5n, 6n),
      outsideExecutionHash(1, execution, 5n, 6n),
      outsideExecutionHash(2, execution, 7n, 6n),
      outsideExecutionHash(2, execution, 5n, 7n),
      outsideExecutionHash(2, { ...execution, caller: 7n }, 5n, 6n),
      outsideExecutionHash(2, { ...execution, nonce: 7n }, 5n, 6n),
      outsideExecutionHash(2, { ...execution, executeAfter: 7n }, 5n, 6n),
      outsideExecutionHash(2, { ...execution, executeBefore: 7n }, 5n, 6n),
      outsideExecutionHash(2, { ...execution, calls: [{ to: 0n, selector: 0n, calldata: [] }] }, 5n, 6n),
    ];
    expect(new Set(all).size).toBe(all.length);
  });
});

describe('the calldata of execute_from_outside', () => {
  it('is laid out as starknet.js compiles it, and read back', () => {
    fc.assert(
      fc.property(outsideExecution, felts, (execution, signature) => {
        const encoded = encodeOutsideExecution(execution, signature);
        const { caller, nonce, executeAfter, executeBefore } = execution;
        const calls = execution.calls.map((call) => ({ ...call, calldata: [...call.calldata] }));
        const shape = { caller, nonce, execute_after: executeAfter, execute_before: executeBefore, calls };
        expect(encoded.map(String)).toEqual([...CallData.compile({ outside_execution: shape, signature })]);
        expect(decodeOutsideExecution(encoded)).toEqual({ execution, signature });
        expect(decodeOutsideExecution(encoded.slice(0, -1))).toBeUndefined();
        expect(decodeOutsideExecution([...encoded, 0n])).toBeUndefined();
      }),
    );
  });

  it.each([
    ['a caller that is no address', { caller: 2n ** 251n }],
    ['a start beyond 64 bits', { executeAfter: 2n ** 64n }],
    ['an end beyond 64 bits', { executeBefore: 2n ** 64n }],
  ])('is refused with %s', (_, wrong) => {
    const execution = { caller: 1n, nonce: 2n, executeAfter: 3n, executeBefore: 4n, calls: [], ...wrong };
    expect(decodeOutsideExecution(encodeOutsideExecution(execution, []))).toBeUndefined();
  });
});
