import {
  ANY_CALLER,
  type Call,
  chainIds,
  outsideExecutionHash,
  outsideExecutionTypedData,
  selector,
} from '@svc/starknet';
import fc from 'fast-check';
import { typedData as starknetJs, type TypedData } from 'starknet';
import { describe, expect, it } from 'vitest';
import { type Json, mutated } from '../../testing/mutations.ts';
import { SvcTypedDataError } from '../client/errors.ts';
import { checkTypedData } from './check.ts';

const NOW = 1_900_000_000n;
const ACCOUNT = 0xacc0n;
const TOKEN = 0x70ce2n;
const transfer: Call = { to: TOKEN, selector: selector('transfer'), calldata: [0xb0bn, 5n, 0n] };
const approve: Call = { to: TOKEN, selector: selector('approve'), calldata: [0x5bn, 7n, 0n] };
const requested = { account: ACCOUNT, chainId: chainIds.SN_SEPOLIA, calls: [transfer, approve], nowSeconds: NOW };
const good = {
  caller: ANY_CALLER,
  nonce: 0x1234n,
  executeAfter: NOW - 60n,
  executeBefore: NOW + 3_540n,
  calls: requested.calls,
};
type Execution = typeof good;

const written = (changes: Partial<Execution> = {}, chainId: bigint = chainIds.SN_SEPOLIA) =>
  outsideExecutionTypedData({ ...good, ...changes }, chainId) as Record<string, Json>;
const reasonOf = (typedData: unknown, nowSeconds = NOW): string => {
  try {
    checkTypedData(typedData, { ...requested, nowSeconds });
  } catch (error) {
    expect(error).toBeInstanceOf(SvcTypedDataError);
    return (error as Error).message;
  }
  return 'let through';
};

describe('typed data that matches the request', () => {
  it('is accepted and returns the values to sign', () => {
    expect(checkTypedData(written(), requested)).toEqual(good);
  });

  it('may restrict the caller', () => {
    expect(checkTypedData(written({ caller: 0x5e2dn }), requested)).toMatchObject({ caller: 0x5e2dn });
  });

  it('is accepted on a device whose clock is a few minutes off, either way', () => {
    for (const off of [-299n, 299n]) {
      const window = { executeAfter: NOW - off - 1n, executeBefore: NOW - off + 3_599n };
      expect(reasonOf(written(window))).toBe('let through');
    }
  });
});

describe('typed data is refused', () => {
  const other: [string, Partial<Execution>, string][] = [
    [
      'another recipient',
      { calls: [{ ...transfer, calldata: [0xbadn, 5n, 0n] }, approve] },
      'call 0 has other calldata',
    ],
    ['a larger amount', { calls: [{ ...transfer, calldata: [0xb0bn, 6n, 0n] }, approve] }, 'call 0 has other calldata'],
    ['a high half', { calls: [{ ...transfer, calldata: [0xb0bn, 5n, 1n] }, approve] }, 'call 0 has other calldata'],
    ['more calldata', { calls: [{ ...transfer, calldata: [0xb0bn, 5n, 0n, 0n] }, approve] }, 'other calldata'],
    ['less calldata', { calls: [{ ...transfer, calldata: [0xb0bn, 5n] }, approve] }, 'call 0 has other calldata'],
    ['another function', { calls: [transfer, { ...approve, selector: 1n }] }, 'call 1 calls another function'],
    ['another contract', { calls: [transfer, { ...approve, to: 1n }] }, 'call 1 goes to another contract'],
    ['another order', { calls: [approve, transfer] }, 'call 0 calls another function'],
    ['a call too many', { calls: [transfer, approve, approve] }, 'it has 3 calls, not 2'],
    ['a call too few', { calls: [transfer] }, 'it has 1 calls, not 2'],
    ['no calls', { calls: [] }, 'it has 0 calls, not 2'],
    ['the zero address as caller', { caller: 0n }, 'its caller is the zero address'],
    ['the account as caller', { caller: ACCOUNT }, 'its caller is the account itself'],
    ['a window of more than an hour', { executeAfter: NOW - 61n }, 'wider than an hour'],
    ['a window that is over', { executeAfter: NOW - 60n, executeBefore: NOW }, 'its window is over'],
    ['a window that lies ahead', { executeAfter: NOW + 300n, executeBefore: NOW + 600n }, 'its window lies ahead'],
    ['a window far ahead', { executeAfter: NOW + 301n, executeBefore: NOW + 3_901n }, 'its window lies ahead'],
    ['a window without end', { executeBefore: 2n ** 63n }, 'wider than an hour'],
    ['a window that is none', { executeAfter: NOW + 10n, executeBefore: NOW + 10n }, 'ends before it begins'],
  ];
  it.each(other)('with %s', (_, changes, reason) => {
    expect(reasonOf(written(changes))).toContain(reason);
  });

  it('for another chain, naming both', () => {
    expect(reasonOf(written({}, chainIds.SN_MAIN))).toContain('for the chain SN_MAIN, not SN_SEPOLIA');
  });

  it.each<[string, (typedData: Record<string, Json>) => Json]>([
    ['another revision', (data) => ({ ...data, domain: { ...(data.domain as object), revision: '0' } })],
    ['another domain', (data) => ({ ...data, domain: { ...(data.domain as object), name: 'Permit' } })],
    ['another version', (data) => ({ ...data, domain: { ...(data.domain as object), version: '1' } })],
    ['another primary type', (data) => ({ ...data, primaryType: 'Call' })],
    ['a type too many', (data) => ({ ...data, types: { ...(data.types as object), Permit: [] } })],
    ['a field too many', (data) => ({ ...data, also: 1 })],
    ['a prototype in it', (data) => JSON.parse(`{"__proto__":{},${JSON.stringify(data).slice(1)}`) as Json],
    ['nothing in it', () => null],
    ['text in its place', (data) => JSON.stringify(data)],
  ])('with %s', (_, change) => {
    expect(reasonOf(change(written()))).toContain('nothing was signed');
  });

  it('for every mutation: what passes is the request, with the same hash', () => {
    const theirHash = (data: Json) =>
      BigInt(starknetJs.getMessageHash(data as unknown as TypedData, `0x${ACCOUNT.toString(16)}`));
    const seen = { passed: 0, refused: 0 };
    fc.assert(
      fc.property(mutated(written()), (data) => {
        const reason = reasonOf(data);
        if (reason !== 'let through') return void seen.refused++;
        seen.passed++;
        const execution = checkTypedData(data, requested);
        const { caller, nonce, executeAfter, executeBefore } = execution;
        // The service chooses caller, nonce and window; everything else is as requested.
        const expected = { ...good, caller, nonce, executeAfter, executeBefore };
        const hash = outsideExecutionHash(2, execution, ACCOUNT, requested.chainId);
        expect(hash).toBe(outsideExecutionHash(2, expected, ACCOUNT, requested.chainId));
        expect(hash).toBe(theirHash(data));
      }),
      { numRuns: 400 },
    );
    // Otherwise the mutations would prove nothing.
    expect(seen.passed).toBeGreaterThan(10);
    expect(seen.refused).toBeGreaterThan(100);
  });
});
