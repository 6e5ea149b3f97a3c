import { encodeErrorResult, parseAbi } from 'viem';
import { describe, expect, it } from 'vitest';
import { asLiveNode } from './json-rpc.ts';

const abi = parseAbi(['error Error(string)', 'error TooEarly(uint256 time)']);
const reverted = (data: string) =>
  asLiveNode({ code: -32_000, message: 'reverted', data: { reason: { Revert: data }, data } });

describe('an error of the engine', () => {
  it('for a revert carries the data, and the reason where there is one', () => {
    const data = encodeErrorResult({ abi, errorName: 'Error', args: ['no credit ✓'] });
    expect(reverted(data)).toEqual({ code: 3, message: 'execution reverted: no credit ✓', data });
  });

  it.each([
    ['no data', '0x'],
    ['an error of the contract’s own', encodeErrorResult({ abi, errorName: 'TooEarly', args: [5n] })],
    ['an empty reason', encodeErrorResult({ abi, errorName: 'Error', args: [''] })],
    ['a reason that claims to be endless', `0x08c379a0${'00'.repeat(31)}20${'ff'.repeat(32)}6162`],
  ])('for a revert with %s keeps to saying so', (_, data) => {
    expect(reverted(data)).toEqual({ code: 3, message: 'execution reverted', data });
  });

  it('that tells of the request it was given leaves that out', () => {
    const error = { code: -32_602, message: 'invalid length', data: { method: 'eth_call', params: [] } };
    expect(asLiveNode(error)).toEqual({ code: -32_602, message: 'invalid length' });
  });
});
