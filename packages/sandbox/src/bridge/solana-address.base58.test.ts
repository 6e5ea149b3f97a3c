import { parseSolanaAddress, solanaAddressBytes } from '@svc/protocol';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encodeBase58 } from './solana-address.ts';

describe('base58', () => {
  it('writes 32 bytes so that reading them gives the same, leading zeros too', () => {
    const zeros = fc.integer({ min: 0, max: 31 });
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 32, maxLength: 32 }), zeros, (bytes, count) => {
        bytes.fill(0, 0, count);
        bytes[31] = 1;
        const parsed = parseSolanaAddress(encodeBase58(bytes));
        expect(parsed.ok && solanaAddressBytes(parsed.value)).toEqual(bytes);
      }),
    );
  });

  it('writes nothing as nothing and zeros as ones', () => {
    expect(encodeBase58(new Uint8Array())).toBe('');
    expect(encodeBase58(new Uint8Array(3))).toBe('111');
  });
});
