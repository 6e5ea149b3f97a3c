import { parseSolanaAddress, solanaAddressBytes } from '@svc/protocol';
import { describe, expect, it } from 'vitest';
import { OWNER, OWNER_HEX, TOKEN_ACCOUNT } from '../../testing/bridge-fixtures.ts';
import { encodeBase58, isOnCurve, usdcTokenAccount } from './solana-address.ts';

const bytesOf = (text: string) => {
  const parsed = parseSolanaAddress(text);
  if (!parsed.ok) throw new Error(parsed.reason);
  return solanaAddressBytes(parsed.value);
};

describe('a USDC token account', () => {
  it('follows from its owner as on the live chain', () => {
    expect(encodeBase58(usdcTokenAccount(Buffer.from(OWNER_HEX, 'hex')))).toBe(TOKEN_ACCOUNT);
  });

  it('is no public key, while its owner is one', () => {
    expect([isOnCurve(bytesOf(OWNER)), isOnCurve(bytesOf(TOKEN_ACCOUNT))]).toEqual([true, false]);
  });

  it('is never a public key, for any owner', () => {
    for (let owner = 1; owner <= 40; owner++) {
      expect(isOnCurve(usdcTokenAccount(new Uint8Array(32).fill(owner)))).toBe(false);
    }
  });
});
