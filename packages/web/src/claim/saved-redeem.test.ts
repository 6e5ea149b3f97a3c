import { describe, expect, it } from 'vitest';
import {
  deleteRedeem,
  type KeyValueStorage,
  loadRedeem,
  openStorage,
  type SavedRedeem,
  saveRedeem,
} from './saved-redeem.ts';

const redeem: SavedRedeem = {
  code: 'Navidad',
  chain: 'starknet',
  walletAddress: '0x1',
  amount: '5',
  token: 'USDC',
  idempotencyKey: 'key-1',
  beganAtMs: 1,
};

function storageOf(items = new Map<string, string>()): KeyValueStorage {
  return {
    getItem: (name) => items.get(name) ?? null,
    setItem: (name, value) => void items.set(name, value),
    removeItem: (name) => void items.delete(name),
  };
}

describe('a saved redeem', () => {
  it('is found by its code in any case, until it is deleted', () => {
    const storage = storageOf();
    saveRedeem(storage, redeem);
    expect(loadRedeem(storage, 'NAVIDAD')).toEqual(redeem);
    expect(loadRedeem(storage, 'OTHER')).toBeUndefined();
    deleteRedeem(storage, 'navidad');
    expect(loadRedeem(storage, 'NAVIDAD')).toBeUndefined();
  });

  it.each([
    '{',
    'null',
    '7',
    '{}',
    JSON.stringify({ ...redeem, chain: 'base' }),
    JSON.stringify({ ...redeem, idempotencyKey: 1 }),
  ])('is not %s', (text) => {
    expect(loadRedeem(storageOf(new Map([['svc-claim:NAVIDAD', text]])), 'NAVIDAD')).toBeUndefined();
  });
});

describe('the storage', () => {
  it('falls back to memory where the browser denies it', () => {
    const storage = openStorage(() => {
      throw new Error('denied');
    });
    saveRedeem(storage, redeem);
    expect(loadRedeem(storage, 'NAVIDAD')).toEqual(redeem);
    deleteRedeem(storage, 'NAVIDAD');
    expect(loadRedeem(storage, 'NAVIDAD')).toBeUndefined();
  });

  it("is the browser's own where it is available", () => {
    const items = new Map<string, string>();
    const storage = openStorage(() => storageOf(items));
    saveRedeem(storage, redeem);
    expect(items.size).toBe(1);
  });
});
