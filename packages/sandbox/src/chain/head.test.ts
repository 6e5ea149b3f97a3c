import type { Reads } from '@svc/store';
import { describe, expect, it } from 'vitest';
import { sharedHead } from './head.ts';

/** A database whose head grows with every read. */
function growingHead() {
  let number = 0;
  const reads = { one: async () => ({ number: ++number, opened_at: null }) } as Partial<Reads> as Reads;
  return sharedHead(reads);
}

describe('a shared head', () => {
  it('is read once for calls that ask together', async () => {
    const head = growingHead();
    const heads = await Promise.all([head(), head(), head()]);
    expect(heads.map(({ number }) => number)).toEqual([1, 1, 1]);
  });

  it('is read again for a call that asks after the read began', async () => {
    const head = growingHead();
    const first = head();
    await first;
    expect((await head()).number).toBe(2);
  });

  it('that cannot be read fails the calls that waited for it, and no others', async () => {
    let attempts = 0;
    const one = async () => {
      attempts += 1;
      if (attempts === 1) throw new Error('The connection is gone.');
      return { number: 7, opened_at: null };
    };
    const head = sharedHead({ one } as Partial<Reads> as Reads);
    await expect(head()).rejects.toThrow('gone');
    expect((await head()).number).toBe(7);
  });
});
