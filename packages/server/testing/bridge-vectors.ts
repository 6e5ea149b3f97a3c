import { parseSolanaAddress, type SolanaAddress } from '@svc/protocol';
import type { Burn } from '../src/bridge/bridge.ts';

export const solana = (text: string): SolanaAddress => {
  const address = parseSolanaAddress(text);
  if (!address.ok) throw new Error(address.reason);
  return address.value;
};

/** An owner on Solana, and the account of its USDC. */
export const OWNER = solana('9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM');
export const OWNER_HEX = '7e8c088760bfde1dddcf32c17f209b8242ee52aaf131facd88d0ea2c6d0b06f2';
export const TOKEN_ACCOUNT = solana('FGETo8T8wMcN2wCjav8VK6eh3dLk63evNDPxzLSJra8B');
export const HOOK_HEX = `636374702d666f7277617264${'00'.repeat(12)}000000000000002101${OWNER_HEX}`;
export const USDC = 0x033068f6539f8e6e6b131e6b2b814e6c34a5224bc66947c47dab9dfee93b35fbn;
const MESSENGER = 0x07d421b9ca8aa32df259965cda8acb93f7599f69209a41872ae84638b2a20f2an;

export const BURN: Burn = {
  hash: '0x1234',
  sender: 0x2c8fb33f44261d3e7ff94dac0ca7829c3891bf47d4949370836933d4a7ce7e5n,
  order: { amount: 1_000_000n, maxFee: 500n, owner: OWNER, fast: true },
};

const word = (value: bigint): string => value.toString(16).padStart(64, '0');
const short = (value: number): string => value.toString(16).padStart(8, '0');

export const ATTESTED_PIECES: Readonly<Record<string, string>> = {
  version: short(1),
  sourceDomain: short(25),
  destinationDomain: short(5),
  nonce: word(0xfeedn),
  sender: word(MESSENGER),
  recipient: 'a65fc81d0fefa8860cb3b83f089b0224be8a6687b7ae49f594c0b9b4d7e93893',
  destinationCaller: word(0n),
  minFinalityThreshold: short(1_000),
  finalityThresholdExecuted: short(1_000),
  bodyVersion: short(1),
  burnToken: word(USDC),
  mintRecipient: word((281684963577198880146167638033210033102n << 128n) + 326046992440607538483769016475825969116n),
  amount: word(1_000_000n),
  messageSender: word(BURN.sender),
  maxFee: word(500n),
  feeExecuted: word(130n),
  expirationBlock: word(40_345_173n),
  hookData: HOOK_HEX,
};

export function messageHex(changes: Readonly<Record<string, string>> = {}): string {
  return `0x${Object.values({ ...ATTESTED_PIECES, ...changes }).join('')}`;
}
export { short, word };

/** A real message of Sepolia, for another chain. */
export const SEPOLIA_MESSAGE = [
  '0x000000010000001900000007',
  '010a10ae78572dbfa6c0870f0143f0e7e1dc0d374877ac8937fd6abcfdf99426',
  '04bdde1e09a4b09a2f95d893d94a967b7717eb85a3f6deca8c080ee01fbc3370',
  '0000000000000000000000008fe6b999dc680ccfdd5bf7eb0974218be2542daa',
  word(0n),
  '000003e8000003e8',
  '00000001',
  '0512feac6339ff7889822cb5aa2a86c848e9d392bb0e3e237c008674feed8343',
  '000000000000000000000000ac379d268ac099ab699b39c73ce623eca56b7921',
  word(100_000n),
  '03134168ba108079d32b25eaf37f49165c5e831df4c3b099daf09a8ee41d86ff',
  word(280n),
  word(140n),
  word(40_345_173n),
].join('');
