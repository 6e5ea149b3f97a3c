import { isSolanaProgram, parseSolanaAddress, type SolanaAddress, solanaAddressBytes } from '@svc/protocol';
import { encodeByteArray, encodeU256, toHex } from '@svc/starknet';
import { SvcInputError } from '../client/errors.ts';
import type { ContractCall } from './calls.ts';

/** In USDC's smallest unit. */
export interface SolanaBurn {
  readonly amount: bigint;
  readonly maxFee: bigint;
  readonly recipient: string;
  readonly fast: boolean;
  readonly usdc: bigint;
  readonly tokenMessenger: bigint;
  readonly usdcMint: string;
}

const SOLANA_DOMAIN = 5n;
const ANY_CALLER = 0n;
const FAST_THRESHOLD = 1_000n;
const STANDARD_THRESHOLD = 2_000n;

/** Made here, from what the user ordered: what the service prepares is compared with it before anything is signed. */
export async function burnCalls(burn: SolanaBurn): Promise<ContractCall[]> {
  const { amount, maxFee, fast, usdc, tokenMessenger } = burn;
  const owner = readOwner(burn.recipient, 'recipient');
  const account = await tokenAccountOf(owner, readOwner(burn.usdcMint, 'usdcMint'));
  const approve = [tokenMessenger, ...encodeU256(amount)];
  const deposit = [
    ...encodeU256(amount),
    SOLANA_DOMAIN,
    ...encodeU256(toInteger(account)),
    usdc,
    ...encodeU256(ANY_CALLER),
    ...encodeU256(maxFee),
    fast ? FAST_THRESHOLD : STANDARD_THRESHOLD,
    ...encodeByteArray(forwardHook(owner)),
  ];
  return [
    { contractAddress: toHex(usdc), entrypoint: 'approve', calldata: approve },
    { contractAddress: toHex(tokenMessenger), entrypoint: 'deposit_for_burn_with_hook', calldata: deposit },
  ];
}

function readAddress(text: string, name: string): SolanaAddress {
  const address = typeof text === 'string' ? parseSolanaAddress(text.trim()) : undefined;
  if (address?.ok) return address.value;
  throw new SvcInputError('invalid_input', `${name} ${address?.reason ?? 'must be text'}.`);
}

const readOwner = (text: string, name: string): Uint8Array => solanaAddressBytes(readAddress(text, name));

/** Money for the token account of a token account, a token or a program would be lost. */
export function requireSolanaWallet(text: string): SolanaAddress {
  const address = readAddress(text, 'recipient');
  if (!isSolanaProgram(address) && isOnCurve(solanaAddressBytes(address))) return address;
  throw new SvcInputError('invalid_input', 'recipient must be a wallet, not a token, a token account or a program.');
}

const TOKEN_PROGRAM = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA';
const ASSOCIATED_TOKEN_PROGRAM = 'ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL';
const MARKER = new TextEncoder().encode('ProgramDerivedAddress');
const FIRST_BUMP = 255;

async function tokenAccountOf(owner: Uint8Array, mint: Uint8Array): Promise<Uint8Array> {
  const program = readOwner(ASSOCIATED_TOKEN_PROGRAM, 'program');
  const seeds = [...owner, ...readOwner(TOKEN_PROGRAM, 'program'), ...mint];
  for (let bump = FIRST_BUMP; bump >= 0; bump--) {
    const preimage = Uint8Array.of(...seeds, bump, ...program, ...MARKER);
    const address = new Uint8Array(await crypto.subtle.digest('SHA-256', preimage));
    if (!isOnCurve(address)) return address;
  }
  throw new SvcInputError('invalid_input', 'recipient has no token account.');
}

const P = 2n ** 255n - 19n;
const D = 37095705934669439343138083508754565189542113879843219016388785533085940283555n;

/** Whether the bytes are a point of Ed25519: x² = (y² − 1) / (dy² + 1) has a solution. */
function isOnCurve(bytes: Uint8Array): boolean {
  const y = toInteger(Uint8Array.from(bytes).reverse()) & (2n ** 255n - 1n);
  if (y >= P) return false;
  const square = (y * y) % P;
  const u = (square - 1n + P) % P;
  const v = (D * square + 1n) % P;
  if (u === 0n) return true;
  // u / v is a square where u · v is.
  return power((u * v) % P, (P - 1n) / 2n) === 1n;
}

function power(base: bigint, exponent: bigint): bigint {
  let result = 1n;
  for (let [square, rest] = [base, exponent]; rest > 0n; rest >>= 1n) {
    if (rest & 1n) result = (result * square) % P;
    square = (square * square) % P;
  }
  return result;
}

const MAGIC = new TextEncoder().encode('cctp-forward');
const MAGIC_BYTES = 24;
const LENGTH_AT = MAGIC_BYTES + 7;
const PAYLOAD_BYTES = 33;
const CREATE_ACCOUNT = 1;

/** Has the bridge mint by itself, and make the token account. */
function forwardHook(owner: Uint8Array): Uint8Array {
  const hook = new Uint8Array(LENGTH_AT + 1 + PAYLOAD_BYTES);
  hook.set(MAGIC);
  hook[LENGTH_AT] = PAYLOAD_BYTES;
  hook[LENGTH_AT + 1] = CREATE_ACCOUNT;
  hook.set(owner, LENGTH_AT + 2);
  return hook;
}

const toInteger = (bytes: Uint8Array): bigint => bytes.reduce((value, byte) => (value << 8n) | BigInt(byte), 0n);
