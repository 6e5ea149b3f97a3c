import { describe, expect, it } from 'vitest';
import { isCommonAnswer, isEvmAnswer, isStarknetAnswer } from './node-fetch.ts';

const said = (code: number, message = 'no') => ({ code, message });

describe('an error of a Starknet node', () => {
  it.each([20, 21, 24, 28, 29, 40, 41, 52, 53, 54, 55, 59, 64, 65, -32602])('%s is an answer', (code) => {
    expect(isStarknetAnswer(said(code))).toBe(true);
  });

  it.each([-32000, -32005, -32600, -32601, -32603, -1, 0, 1, 31, 33, 63, 150, 429])('%s is none', (code) => {
    expect(isStarknetAnswer(said(code, 'execution reverted'))).toBe(false);
  });
});

describe('an error of a node of an EVM chain', () => {
  it.each([
    [3, 'execution reverted'],
    [-32000, 'execution reverted: no credit'],
    [-32015, 'transaction reverted, no reason specified'],
    [-32602, 'invalid argument 0'],
  ])('%s %s is an answer', (code, message) => {
    expect([isEvmAnswer(said(code, message)), isCommonAnswer(said(code, message))]).toEqual([true, true]);
  });

  it.each([
    [-32000, 'daily request count exceeded'],
    [-32000, 'header not found'],
    [-32005, 'limit exceeded'],
    [-32601, 'the method eth_call does not exist'],
    [-32603, 'Internal error: reverted'],
    [429, 'Too Many Requests'],
  ])('%s %s is none', (code, message) => {
    expect([isEvmAnswer(said(code, message)), isCommonAnswer(said(code, message))]).toEqual([false, false]);
  });
});

describe('an error of another service', () => {
  it.each([150, 156, 163, -32600, -32700])('%s is an answer', (code) => {
    expect(isCommonAnswer(said(code))).toBe(true);
  });
});
