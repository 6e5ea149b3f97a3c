import { shortString } from '@svc/starknet';
import { describe, expect, it } from 'vitest';
import { Panic, panic } from '../contracts/codec.ts';
import { type Failure, failureText, formatPanic, nestedError } from './failure.ts';

function feltsOf(text: string): readonly bigint[] {
  try {
    panic(text);
  } catch (error) {
    if (error instanceof Panic) return error.felts;
    throw error;
  }
}

describe('formatPanic', () => {
  it('shows a short string beside its felt, and a felt that spells nothing alone', () => {
    expect(formatPanic([shortString('no')])).toBe("0x6e6f ('no')");
    expect(formatPanic([0n])).toBe("0x0 ('')");
    expect(formatPanic([1n])).toBe('0x1');
    expect(formatPanic([0xffn])).toBe('0xff');
  });

  it('puts several into brackets, and none too', () => {
    expect(formatPanic([shortString('a'), 2n])).toBe("(0x61 ('a'), 0x2)");
    expect(formatPanic([])).toBe('()');
  });

  it('reads a long text back, wherever it stands', () => {
    const text = 'a text that is a good deal longer than one felt can hold';
    const felts = feltsOf(text);
    expect(felts.length).toBeGreaterThan(1);
    expect(formatPanic(felts)).toBe(`"${text}"`);
    expect(formatPanic([...felts, shortString('x')])).toBe(`("${text}", 0x78 ('x'))`);
    expect(feltsOf('exactly thirty-one characters..')).toHaveLength(1);
  });

  it('shows felts as they are when they only look like a long text', () => {
    const [magic = 0n] = feltsOf('a text that is a good deal longer than one felt can hold');
    expect(formatPanic([magic, 5n])).toBe(`(0x${magic.toString(16)}, 0x5)`);
    expect(formatPanic([magic])).toBe(`0x${magic.toString(16)}`);
  });
});

describe('a failure', () => {
  const frame = { kind: 'CALL', address: 1n, classHash: 2n, selector: 3n } as const;

  it('is cut where a node would cut it', () => {
    const reason = new Array(2_000).fill(shortString('again and again'));
    const failure: Failure = { type: 'PANIC', frames: [frame], felts: reason, reason };
    const text = failureText('Transaction execution has failed', failure);
    expect(text.length).toBeLessThan(15_010);
    expect(text.endsWith('\n...')).toBe(true);
    expect(JSON.stringify(nestedError(failure)).length).toBeLessThan(15_300);
  });

  it('names library calls and constructors as such', () => {
    const frames = [frame, { ...frame, kind: 'LIBRARY_CALL' }, { ...frame, kind: 'CONSTRUCTOR' }] as const;
    const text = failureText('Transaction execution has failed', { type: 'FATAL', frames, text: 'the end' });
    expect(text).toMatch(
      /0: Error in the called contract .*\n1: Error in a library call .*\n2: Error in the contract class/,
    );
    expect(text.endsWith(':\nthe end\n')).toBe(true);
  });
});
