import { createHash } from 'node:crypto';
import { ed25519 } from '@noble/curves/ed25519';
import {
  type Environment,
  isSolanaProgram,
  parseSolanaAddress,
  type SolanaAddress,
  solanaAddressBytes,
} from '@svc/protocol';
import type { Call } from '@svc/starknet';

/** In USDC's smallest unit. */
export interface BurnOrder {
  readonly amount: bigint;
  readonly maxFee: bigint;
  readonly owner: SolanaAddress;
  readonly fast: boolean;
}

export interface Burn {
  readonly hash: string;
  readonly sender: bigint;
  readonly order: BurnOrder;
}

export type ForwardState = 'PENDING' | 'CONFIRMED' | 'COMPLETE' | 'FAILED' | undefined;

export interface Attested {
  readonly state: 'ATTESTED';
  readonly nonce: string;
  readonly message: string;
  readonly attestation: string;
  readonly feeExecuted: bigint;
  readonly forwardState: ForwardState;
  readonly receiveHash: string | undefined;
}

/** `UNSEEN`: the bridge does not know the burn yet. `WRONG`: the message differs from the order. */
export type BridgeProgress =
  | { readonly state: 'UNSEEN' }
  | { readonly state: 'PENDING' }
  | { readonly state: 'WRONG'; readonly reason: string }
  | Attested;

/** A mint that the bridge reports, and what it must have done. */
export interface ReportedMint {
  readonly signature: string;
  readonly nonce: string;
  readonly owner: SolanaAddress;
  readonly amount: bigint;
}

export type MintCheck =
  | { readonly credited: true }
  /** The reason completes "The bridge says that X minted it, but". */
  | { readonly credited: false; readonly reason: string };

/** Throws `chain_unavailable` when the bridge does not answer, `chain_not_configured` where there is none. */
export interface Bridge {
  serves(environment: Environment): boolean;
  /** The USDC of Solana. */
  usdcMint(environment: Environment): SolanaAddress;
  /** With a margin for days to come; never zero. */
  feeCeiling(environment: Environment, amount: bigint, fast: boolean): Promise<bigint>;
  fee(environment: Environment, burned: bigint, fast: boolean): Promise<bigint>;
  burnCalls(environment: Environment, order: BurnOrder): Call[];
  progress(environment: Environment, burn: Burn): Promise<BridgeProgress>;
  /** Safe to repeat: a message is minted once. */
  reattest(environment: Environment, nonce: string): Promise<void>;
  /** Undefined where no node of Solana is configured: the bridge's word is all there is. */
  checkMint(environment: Environment, mint: ReportedMint): Promise<MintCheck | undefined>;
}

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
