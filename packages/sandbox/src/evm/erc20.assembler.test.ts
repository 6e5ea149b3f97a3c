import { describe, expect, it } from 'vitest';
import { assemble } from './erc20.ts';

const hex = (source: string) => Buffer.from(assemble(source)).toString('hex');

describe('the assembler', () => {
  it('writes mnemonics as their opcodes, in order', () => {
    expect(hex('CALLER SLOAD\n  KECCAK256')).toBe('335420');
  });

  it.each([
    ['0', '5f'],
    ['1', '6001'],
    ['0xff', '60ff'],
    ['256', '610100'],
    ['0x08c379a0', '6308c379a0'],
    [`0x${'ff'.repeat(32)}`, `7f${'ff'.repeat(32)}`],
  ])('pushes %s in as few bytes as it needs', (word, code) => {
    expect(hex(word)).toBe(code);
  });

  it('jumps forwards and backwards to where a label stands', () => {
    expect(hex('start: @end JUMPI @start JUMP end: STOP')).toBe('5b610009576100005' + '65b00');
  });

  it('leaves comments out', () => {
    expect(hex('ADD ; first term\n; a line of its own\nSUB')).toBe('0103');
  });

  it.each([
    ['an unknown mnemonic', 'ADDD'],
    ['a label that stands nowhere', '@lost JUMP'],
    ['a label that stands twice', 'a: a:'],
    ['a number that does not fit a word', `0x1${'00'.repeat(32)}`],
    ['code that is too large for a contract', 'ADD '.repeat(24_577)],
  ])('refuses %s', (_, source) => {
    expect(() => assemble(source)).toThrow();
  });
});
