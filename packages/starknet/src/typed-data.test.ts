import fc from 'fast-check';
import { type TypedData, typedData as theirs } from 'starknet';
import { describe, expect, it } from 'vitest';
import { chainIds } from './constants.ts';
import { PRIME, toHex } from './felt.ts';
import { ANY_CALLER, type OutsideExecution, outsideExecutionHash } from './outside-execution.ts';
import { address, felt, outsideExecution } from './testing/arbitraries.ts';
import { outsideExecutionTypedData, parseOutsideExecutionTypedData } from './typed-data.ts';

const execution: OutsideExecution = {
  caller: ANY_CALLER,
  nonce: 0x1234n,
  executeAfter: 1n,
  executeBefore: 1_900_000_000n,
  calls: [{ to: 0x49d3n, selector: 0x83afn, calldata: [1n, 2n] }],
};
const value = { execution, chainId: chainIds.SN_MAIN };

type Json = string | number | boolean | null | Json[] | { [key: string]: Json };

/** The typed data with one place changed; undefined removes it. */
function changed(path: (string | number)[], replacement: Json | undefined): unknown {
  const copy: unknown = JSON.parse(JSON.stringify(outsideExecutionTypedData(execution, chainIds.SN_MAIN)));
  const keys = [...path];
  const last = keys.pop() ?? '';
  let place = copy as Record<string | number, unknown>;
  for (const key of keys) place = place[key] as Record<string | number, unknown>;
  if (replacement === undefined) delete place[last];
  else place[last] = replacement;
  return copy;
}

describe('typed data of an outside execution', () => {
  it('is the JSON that starknet.js builds', () => {
    expect(outsideExecutionTypedData(execution, chainIds.SN_MAIN)).toEqual({
      types: {
        StarknetDomain: [
          { name: 'name', type: 'shortstring' },
          { name: 'version', type: 'shortstring' },
          { name: 'chainId', type: 'shortstring' },
          { name: 'revision', type: 'shortstring' },
        ],
        OutsideExecution: [
          { name: 'Caller', type: 'ContractAddress' },
          { name: 'Nonce', type: 'felt' },
          { name: 'Execute After', type: 'u128' },
          { name: 'Execute Before', type: 'u128' },
          { name: 'Calls', type: 'Call*' },
        ],
        Call: [
          { name: 'To', type: 'ContractAddress' },
          { name: 'Selector', type: 'selector' },
          { name: 'Calldata', type: 'felt*' },
        ],
      },
      primaryType: 'OutsideExecution',
      domain: { name: 'Account.execute_from_outside', version: '2', chainId: '0x534e5f4d41494e', revision: '1' },
      message: {
        Caller: '0x414e595f43414c4c4552',
        Nonce: '0x1234',
        'Execute After': '0x1',
        'Execute Before': '0x713fb300',
        Calls: [{ To: '0x49d3', Selector: '0x83af', Calldata: ['0x1', '0x2'] }],
      },
    });
  });

  it('reads back as what it was built from', () => {
    fc.assert(
      fc.property(outsideExecution, felt, (any, chainId) => {
        const built = outsideExecutionTypedData(any, chainId);
        const expected = { ok: true, value: { execution: any, chainId } };
        expect(parseOutsideExecutionTypedData(built)).toEqual(expected);
        expect(parseOutsideExecutionTypedData(JSON.parse(JSON.stringify(built)))).toEqual(expected);
      }),
    );
  });

  it.each<[string, (string | number)[], Json]>([
    ['a numeric revision', ['domain', 'revision'], 1],
    ['a numeric version', ['domain', 'version'], 2],
    ['a hexadecimal version', ['domain', 'version'], '0x2'],
    ['the chain by name', ['domain', 'chainId'], 'SN_MAIN'],
    ['the chain in decimal', ['domain', 'chainId'], `${chainIds.SN_MAIN}`],
    ['a padded caller', ['message', 'Caller'], `0x${ANY_CALLER.toString(16).padStart(64, '0')}`],
    ['a decimal nonce', ['message', 'Nonce'], `${0x1234}`],
    ['a numeric nonce', ['message', 'Nonce'], 0x1234],
    ['a numeric start', ['message', 'Execute After'], 1],
    ['a decimal start', ['message', 'Execute After'], '1'],
    ['a numeric end', ['message', 'Execute Before'], 1_900_000_000],
    ['an address in capitals', ['message', 'Calls', 0, 'To'], '0x49D3'],
    ['a padded selector', ['message', 'Calls', 0, 'Selector'], '0x00000083af'],
    ['decimal and numeric calldata', ['message', 'Calls', 0, 'Calldata'], ['1', 2]],
  ])('reads %s, which hashes alike', (_, path, spelling) => {
    const given = changed(path, spelling);
    expect(parseOutsideExecutionTypedData(given)).toEqual({ ok: true, value });
    const expected = toHex(outsideExecutionHash(2, execution, 7n, chainIds.SN_MAIN));
    expect(theirs.getMessageHash(given as TypedData, '0x7')).toBe(expected);
  });

  it.each<[string, (string | number)[], Json | undefined]>([
    ['typed data lacks types', ['types'], undefined],
    ['typed data lacks message', ['message'], undefined],
    ['typed data has a field too many', ['extra'], 1],
    ['types lacks Call', ['types', 'Call'], undefined],
    ['types has a field too many', ['types', 'Permit'], []],
    ['types.Call must be a list', ['types', 'Call'], {}],
    ['types.Call must have 3 fields', ['types', 'Call'], []],
    ['types.Call[1] must be Selector: selector', ['types', 'Call', 1, 'type'], 'felt'],
    ['types.OutsideExecution[2] must be Execute After: u128', ['types', 'OutsideExecution', 2, 'name'], 'After'],
    ['types.StarknetDomain[3] has a field too many', ['types', 'StarknetDomain', 3, 'contains'], 'x'],
    ['types.StarknetDomain[0] must be an object', ['types', 'StarknetDomain', 0], null],
    ['primaryType must be OutsideExecution', ['primaryType'], 'Call'],
    ['domain.name must be Account.execute_from_outside', ['domain', 'name'], 'Account.other'],
    ['domain.version must be 2', ['domain', 'version'], '1'],
    ['domain.revision must be 1', ['domain', 'revision'], '0'],
    ['domain.revision must be 1', ['domain', 'revision'], '0x1'],
    ['domain lacks revision', ['domain', 'revision'], undefined],
    ['domain.chainId must be a hexadecimal or decimal integer', ['domain', 'chainId'], '0b1'],
    ['domain.chainId must be a hexadecimal or decimal integer', ['domain', 'chainId'], ''],
    ['domain.chainId must be a hexadecimal or decimal integer', ['domain', 'chainId'], 'A'.repeat(32)],
    ['domain.chainId is too large for a felt', ['domain', 'chainId'], toHex(PRIME)],
    ['message must be an object', ['message'], []],
    ['message lacks Caller', ['message', 'Caller'], undefined],
    ['message has a field too many', ['message', 'caller'], '0x1'],
    ['message.Caller is too large', ['message', 'Caller'], toHex(2n ** 251n)],
    ['message.Nonce must be a hexadecimal or decimal integer', ['message', 'Nonce'], 'nonce'],
    ['message.Nonce must be a hexadecimal or decimal integer', ['message', 'Nonce'], -1],
    ['message.Nonce must be a hexadecimal or decimal integer', ['message', 'Nonce'], 2 ** 53],
    ['message.Nonce must be a hexadecimal or decimal integer', ['message', 'Nonce'], 1.5],
    ['message.Nonce must be a hexadecimal or decimal integer', ['message', 'Nonce'], null],
    ['message.Nonce is too large for a felt', ['message', 'Nonce'], `${PRIME}`],
    ['message.Execute After is too large', ['message', 'Execute After'], toHex(2n ** 64n)],
    ['message.Execute Before must be a hexadecimal or decimal integer', ['message', 'Execute Before'], ' 1'],
    ['message.Calls must be a list', ['message', 'Calls'], 'none'],
    ['message.Calls must have at most 5000 items', ['message', 'Calls'], new Array<Json>(5_001).fill(null)],
    ['message.Calls must have at most 5000 felts', ['message', 'Calls', 0, 'Calldata'], new Array<Json>(4_998).fill(0)],
    ['message.Calls[0] lacks To', ['message', 'Calls', 0, 'To'], undefined],
    ['message.Calls[0] has a field too many', ['message', 'Calls', 0, 'to'], '0x1'],
    ['message.Calls[0].To is too large', ['message', 'Calls', 0, 'To'], toHex(PRIME - 1n)],
    ['message.Calls[0].Selector must be hexadecimal', ['message', 'Calls', 0, 'Selector'], 'transfer'],
    ['message.Calls[0].Selector must be hexadecimal', ['message', 'Calls', 0, 'Selector'], '123'],
    ['message.Calls[0].Selector must be hexadecimal', ['message', 'Calls', 0, 'Selector'], 123],
    ['message.Calls[0].Calldata[1] is too large for a felt', ['message', 'Calls', 0, 'Calldata', 1], toHex(PRIME)],
  ])('is refused because %s', (reason, path, replacement) => {
    expect(parseOutsideExecutionTypedData(changed(path, replacement))).toEqual({ ok: false, reason });
  });

  it.each([null, undefined, 'text', 1, [], {}])('is not %j', (given) => {
    expect(parseOutsideExecutionTypedData(given).ok).toBe(false);
  });

  it('takes as many felts as a transaction can carry', () => {
    const calls = [{ to: 1n, selector: 2n, calldata: new Array<bigint>(4_997).fill(3n) }];
    const large = { ...execution, calls };
    expect(parseOutsideExecutionTypedData(outsideExecutionTypedData(large, 1n)).ok).toBe(true);
  });

  it('never throws and never accepts what would hash differently, for any value in one place', () => {
    const leaves: (string | number)[][] = [
      ['primaryType'],
      ['domain', 'name'],
      ['domain', 'version'],
      ['domain', 'chainId'],
      ['domain', 'revision'],
      ['message', 'Caller'],
      ['message', 'Nonce'],
      ['message', 'Execute After'],
      ['message', 'Calls', 0, 'To'],
      ['message', 'Calls', 0, 'Selector'],
      ['message', 'Calls', 0, 'Calldata', 0],
    ];
    const anything = fc.oneof(fc.jsonValue(), felt.map(toHex), felt.map(String), fc.nat(), fc.string());
    fc.assert(
      fc.property(fc.constantFrom(...leaves), anything, address, (path, replacement, account) => {
        const given = changed(path, replacement as Json);
        const read = parseOutsideExecutionTypedData(given);
        if (!read.ok) return;
        const own = toHex(outsideExecutionHash(2, read.value.execution, account, read.value.chainId));
        expect(theirs.getMessageHash(given as TypedData, account)).toBe(own);
      }),
      { numRuns: 200 },
    );
  });
});
