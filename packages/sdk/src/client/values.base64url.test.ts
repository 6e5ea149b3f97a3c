import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fromBase64url, toBase64url } from './values.ts';

describe('base64url', () => {
  it("equals Node's encoding and decodes it", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 99 }), (bytes) => {
        const text = toBase64url(bytes);
        expect(text).toBe(Buffer.from(bytes).toString('base64url'));
        expect(fromBase64url(text)).toEqual(new Uint8Array(bytes));
      }),
    );
  });

  it('has one form for each value: no padding, no other alphabet, no spare bits, no spaces', () => {
    for (const text of ['AA==', 'A', 'AB', 'AAB', 'A+', 'a/bb', 'AA ', ' AA', 'AA\n', 'ñandu']) {
      expect(fromBase64url(text), text).toBeUndefined();
    }
    expect(fromBase64url('AA')).toEqual(new Uint8Array(1));
  });
});
