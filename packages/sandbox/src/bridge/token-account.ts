import { createHash } from 'node:crypto';
import { ed25519 } from '@noble/curves/ed25519';
import { parseSolanaAddress, solanaAddressBytes } from '@svc/protocol';

const TOKEN_PROGRAM = addressBytes('TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA');
const ASSOCIATED_TOKEN_PROGRAM = addressBytes('ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL');
const MARKER = new TextEncoder().encode('ProgramDerivedAddress');
/** The first bump that is tried; about every second one fits. */
const FIRST_BUMP = 255;

/** USDC on Solana's mainnet, and here. */
export const USDC_MINT = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v';
const USDC_MINT_BYTES = addressBytes(USDC_MINT);

/** The place of an owner's USDC: an address that follows from the owner's and that no key can sign for. */
export function usdcTokenAccount(owner: Uint8Array): Uint8Array {
  for (let bump = FIRST_BUMP; bump >= 0; bump--) {
    const hash = createHash('sha256');
    for (const seed of [owner, TOKEN_PROGRAM, USDC_MINT_BYTES]) hash.update(seed);
    const address = hash.update(Uint8Array.of(bump)).update(ASSOCIATED_TOKEN_PROGRAM).update(MARKER).digest();
    if (!isOnCurve(address)) return Uint8Array.from(address);
  }
  throw new Error('This owner has no associated token account.');
}

/** Whether the bytes are a public key, as those of people are. Addresses that programs derive are not. */
export function isOnCurve(address: Uint8Array): boolean {
  try {
    ed25519.ExtendedPoint.fromHex(address);
    return true;
  } catch {
    return false;
  }
}

function addressBytes(text: string): Uint8Array {
  const address = parseSolanaAddress(text);
  if (!address.ok) throw new Error(`${text} ${address.reason}.`);
  return solanaAddressBytes(address.value);
}
