import { GIFT_CODE } from '@svc/protocol/values';
import { expect, it } from 'vitest';
import { statusOfGift, suggestCode } from './gift-codes.ts';

it('suggests codes that the service accepts, without letters that look alike, each a new one', () => {
  const codes = Array.from({ length: 200 }, () => suggestCode());
  for (const code of codes) {
    expect(code).toMatch(GIFT_CODE);
    expect(code).not.toMatch(/[IO01L]/);
  }
  expect(new Set(codes).size).toBe(codes.length);
});

it('leaves out the bytes that would make some letters likelier', () => {
  // 31 letters, 8 bytes each: 248 is the first byte too many.
  const bytes = (into: Uint8Array<ArrayBuffer>) => into.map((_, index) => (248 + index) % 256);
  expect(suggestCode(bytes)).toBe('ABCDE-FGHAB');
});

it('says why a gift cannot be redeemed', () => {
  const now = Date.parse('2026-12-24T00:00:00Z');
  const gift = { isActive: true, startsAt: '2026-12-01T00:00:00Z', expiresAt: null, totalRedeems: 0, maxRedeems: 1 };
  const status = (changes: Partial<typeof gift> | { expiresAt: string }) => statusOfGift({ ...gift, ...changes }, now);
  expect(status({})).toBe('ACTIVE');
  expect(status({ isActive: false })).toBe('INACTIVE');
  expect(status({ startsAt: '2026-12-25T00:00:00Z' })).toBe('WAITING');
  expect(status({ expiresAt: '2026-12-24T00:00:00Z' })).toBe('EXPIRED');
  expect(status({ totalRedeems: 1 })).toBe('USED');
});
