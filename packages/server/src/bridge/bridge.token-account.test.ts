import { solanaAddressBytes } from '@svc/protocol';
import { expect, it } from 'vitest';
import { OWNER, TOKEN_ACCOUNT } from '../../testing/bridge-vectors.ts';
import { isSolanaWallet, tokenAccountOf } from './bridge.ts';
import { cctpPlaces } from './cctp-message.ts';

it("an owner's USDC is kept where wallets look for it", () => {
  expect(tokenAccountOf(OWNER, cctpPlaces.mainnet.usdcMint)).toEqual(solanaAddressBytes(TOKEN_ACCOUNT));
});

it('another token is kept in another account', () => {
  const { mainnet, sepolia } = cctpPlaces;
  expect(tokenAccountOf(OWNER, sepolia.usdcMint)).not.toEqual(tokenAccountOf(OWNER, mainnet.usdcMint));
});

it('an address that has a key is a wallet, and a token account is none', () => {
  expect(isSolanaWallet(OWNER)).toBe(true);
  expect(isSolanaWallet(TOKEN_ACCOUNT)).toBe(false);
});
