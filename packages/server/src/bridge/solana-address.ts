import { createHash } from 'node:crypto';
import { ed25519 } from '@noble/curves/ed25519';
import { isSolanaProgram, parseSolanaAddress, type SolanaAddress, solanaAddressBytes } from '@svc/protocol';

const TOKEN_PROGRAM = programBytes('TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA');
const ASSOCIATED_TOKEN_PROGRAM = programBytes('ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL');
const MARKER = Buffer.from('ProgramDerivedAddress');
const FIRST_BUMP = 255;

/** Program-derived: no key can sign for it. */
export function tokenAccountOf(owner: SolanaAddress, mint: SolanaAddress): Uint8Array {
  const seeds = Buffer.concat([solanaAddressBytes(owner), TOKEN_PROGRAM, solanaAddressBytes(mint)]);
  for (let bump = FIRST_BUMP; bump >= 0; bump -= 1) {
    const preimage = Buffer.concat([seeds, Uint8Array.of(bump), ASSOCIATED_TOKEN_PROGRAM, MARKER]);
    const address = Uint8Array.from(createHash('sha256').update(preimage).digest());
    if (!hasKey(address)) return address;
  }
  throw new Error('This owner has no token account.');
}

/** False for program-derived addresses, tokens and programs: money sent to their token accounts is lost. */
export function isSolanaWallet(address: SolanaAddress): boolean {
  return !isSolanaProgram(address) && hasKey(solanaAddressBytes(address));
}

const ALPHABET = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';

export function solanaAddressOf(bytes: Uint8Array): SolanaAddress | undefined {
  let text = '';
  for (let rest = BigInt(`0x${Buffer.from(bytes).toString('hex') || '0'}`); rest > 0n; rest /= 58n) {
    text = ALPHABET.charAt(Number(rest % 58n)) + text;
  }
  const zeros = bytes.findIndex((byte) => byte !== 0);
  const address = parseSolanaAddress('1'.repeat(zeros < 0 ? bytes.length : zeros) + text);
  return address.ok ? address.value : undefined;
}

function hasKey(bytes: Uint8Array): boolean {
  try {
    ed25519.ExtendedPoint.fromHex(bytes);
    return true;
  } catch {
    return false;
  }
}

function programBytes(text: string): Uint8Array {
  const address = parseSolanaAddress(text);
  if (!address.ok) throw new Error(`${text} ${address.reason}.`);
  return solanaAddressBytes(address.value);
}
