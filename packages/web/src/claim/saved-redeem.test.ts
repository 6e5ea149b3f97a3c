import { describe, expect, it } from 'vitest';
import { forgetRedeem, type KeptRedeem, keepRedeem, openShelf, readRedeem, type Shelf } from './saved-redeem.ts';

const redeem: KeptRedeem = {
  code: 'Navidad',
  chain: 'starknet',
  walletAddress: '0x1',
  amount: '5',
  token: 'USDC',
  idempotencyKey: 'key-1',
  beganAtMs: 1,
};

function shelfOf(items = new Map<string, string>()): Shelf {
  return {
    getItem: (name) => items.get(name) ?? null,
    setItem: (name, value) => void items.set(name, value),
    removeItem: (name) => void items.delete(name),
  };
}

describe('a redeem that is kept', () => {
  it('is found by its code in any case, until it is forgotten', () => {
    const shelf = shelfOf();
    keepRedeem(shelf, redeem);
    expect(readRedeem(shelf, 'NAVIDAD')).toEqual(redeem);
    expect(readRedeem(shelf, 'OTHER')).toBeUndefined();
    forgetRedeem(shelf, 'navidad');
    expect(readRedeem(shelf, 'NAVIDAD')).toBeUndefined();
  });

  it.each([
    '{',
    'null',
    '7',
    '{}',
    JSON.stringify({ ...redeem, chain: 'base' }),
    JSON.stringify({ ...redeem, idempotencyKey: 1 }),
  ])('is not %s', (text) => {
    expect(readRedeem(shelfOf(new Map([['svc-claim:NAVIDAD', text]])), 'NAVIDAD')).toBeUndefined();
  });
});

describe('a shelf', () => {
  it('remembers within the page where the browser remembers nothing', () => {
    const shelf = openShelf(() => {
      throw new Error('denied');
    });
    keepRedeem(shelf, redeem);
    expect(readRedeem(shelf, 'NAVIDAD')).toEqual(redeem);
    forgetRedeem(shelf, 'NAVIDAD');
    expect(readRedeem(shelf, 'NAVIDAD')).toBeUndefined();
  });

  it("is the browser's own where there is one", () => {
    const items = new Map<string, string>();
    const shelf = openShelf(() => shelfOf(items));
    keepRedeem(shelf, redeem);
    expect(items.size).toBe(1);
  });
});
