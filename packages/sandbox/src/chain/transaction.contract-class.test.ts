import { toHex } from '@svc/starknet';
import { type CompiledSierra, hash } from 'starknet';
import { describe, expect, it } from 'vitest';
import { classHashOf, FieldError, readContractClass } from './transaction.ts';

const shown = {
  sierra_program: ['0x1', '0x6', '0x0', '0x2', '0x8', '0x2', '0x7b', '0x52616e6765436865636b'],
  contract_class_version: '0.1.0',
  entry_points_by_type: {
    CONSTRUCTOR: [{ selector: '0x28ffe4ff0f226a9107253e17a904099aa4f63a02a5621de0576e5aa71bc5194', function_idx: 2 }],
    EXTERNAL: [
      { selector: '0x83afd3f4caedc6eebf44246fe54e38c95e3179a5ec9ea81740eca5b482d12e', function_idx: 0 },
      { selector: '0x219209e083275171774dab1df80982e9df2096516f06319c5c6d71ae0a8480c', function_idx: 1 },
    ],
    L1_HANDLER: [],
  },
  abi: '[{"type": "interface", "name": "IThing", "items": []}]',
};

describe('a declared class', () => {
  it('has the hash that starknet.js computes', () => {
    const definition = readContractClass(shown, 'contract_class');
    const theirs = hash.computeContractClassHash({ ...shown, abi: JSON.parse(shown.abi) } as CompiledSierra);
    expect(toHex(classHashOf(definition))).toBe(theirs);
  });

  it.each([
    ['another version', { contract_class_version: '0.2.0' }],
    ['a program that is no list', { sierra_program: 'x' }],
    [
      'an entry point without a function',
      { entry_points_by_type: { CONSTRUCTOR: [{}], EXTERNAL: [], L1_HANDLER: [] } },
    ],
    ['an ABI that is no text', { abi: [] }],
  ])('is refused for %s', (_name, changes) => {
    expect(() => readContractClass({ ...shown, ...changes }, 'contract_class')).toThrow(FieldError);
  });
});
