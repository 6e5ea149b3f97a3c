import { createHash } from 'node:crypto';
import { ed25519 } from '@noble/curves/ed25519';
import { parseSolanaAddress, solanaAddressBytes } from '@svc/protocol';
import { type Reads, sql } from '@svc/store';

const TOKEN_PROGRAM = addressBytes('TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA');
const ASSOCIATED_TOKEN_PROGRAM = addressBytes('ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL');
const MARKER = new TextEncoder().encode('ProgramDerivedAddress');
/** About every second bump is off the curve. */
const FIRST_BUMP = 255;

export const USDC_MINT = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v';
const USDC_MINT_BYTES = addressBytes(USDC_MINT);

export function usdcTokenAccount(owner: Uint8Array): Uint8Array {
  for (let bump = FIRST_BUMP; bump >= 0; bump--) {
    const hash = createHash('sha256');
    for (const seed of [owner, TOKEN_PROGRAM, USDC_MINT_BYTES]) hash.update(seed);
    const address = hash.update(Uint8Array.of(bump)).update(ASSOCIATED_TOKEN_PROGRAM).update(MARKER).digest();
    if (!isOnCurve(address)) return Uint8Array.from(address);
  }
  throw new Error('This owner has no associated token account.');
}

/** Public keys are on the curve, program-derived addresses are not. */
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

const ALPHABET = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';

export function encodeBase58(bytes: Uint8Array): string {
  let value = 0n;
  for (const byte of bytes) value = (value << 8n) | BigInt(byte);
  let digits = '';
  for (; value > 0n; value /= 58n) digits = ALPHABET.charAt(Number(value % 58n)) + digits;
  const firstNonZero = bytes.findIndex((byte) => byte !== 0);
  return '1'.repeat(firstNonZero < 0 ? bytes.length : firstNonZero) + digits;
}

/** Five slots every two seconds. */
const SLOTS = 5;
const SLOT_SECONDS = 2;
/** Gives slot numbers the magnitude of live ones. */
const FIRST_SLOT_TIME = 1_600_000_000;
/** Slot 0 would mean that an attestation never expires. */
const FIRST_SLOT = 2;

/** Real time plus the offset of time travel, in whole seconds. */
export async function chainSeconds(reads: Reads, now: () => number): Promise<number> {
  const row = await reads.one<{ time_offset_seconds: bigint }>(sql`select time_offset_seconds from sandbox.chain`);
  return Math.floor(now() / 1_000) + Number(row?.time_offset_seconds ?? 0n);
}

export function slotAt(seconds: number): bigint {
  const slot = Math.floor(((seconds - FIRST_SLOT_TIME) * SLOTS) / SLOT_SECONDS);
  return BigInt(Math.max(slot, FIRST_SLOT));
}
