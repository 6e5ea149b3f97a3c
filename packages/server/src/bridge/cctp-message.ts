import { parseSolanaAddress, type SolanaAddress, solanaAddressBytes } from '@svc/protocol';
import { type Call, selector, solanaBridges } from '@svc/starknet';
import type { StarknetNetworkName } from '../chains/tokens.ts';
import { type Burn, type BurnOrder, solanaAddressOf, tokenAccountOf } from './bridge.ts';

const BODY_START = 148;
const HOOK_START = BODY_START + 228;

const layout = {
  version: [0, 4],
  sourceDomain: [4, 4],
  destinationDomain: [8, 4],
  nonce: [12, 32],
  sender: [44, 32],
  recipient: [76, 32],
  destinationCaller: [108, 32],
  minFinalityThreshold: [140, 4],
  finalityThresholdExecuted: [144, 4],
  bodyVersion: [BODY_START, 4],
  burnToken: [BODY_START + 4, 32],
  mintRecipient: [BODY_START + 36, 32],
  amount: [BODY_START + 68, 32],
  messageSender: [BODY_START + 100, 32],
  maxFee: [BODY_START + 132, 32],
  feeExecuted: [BODY_START + 164, 32],
  expirationBlock: [BODY_START + 196, 32],
} as const satisfies Record<string, readonly [start: number, bytes: number]>;

export type MessageField = keyof typeof layout;
export type BurnMessage = Readonly<Record<MessageField, bigint>> & { readonly hookData: Uint8Array };

export function decodeMessage(bytes: Uint8Array): BurnMessage | undefined {
  if (bytes.length < HOOK_START) return undefined;
  const numbers = Object.entries(layout).map(([field, [start, length]]) => [
    field,
    toInteger(bytes.subarray(start, start + length)),
  ]);
  return { ...(Object.fromEntries(numbers) as Record<MessageField, bigint>), hookData: bytes.subarray(HOOK_START) };
}

export const STARKNET_DOMAIN = 25n;
export const SOLANA_DOMAIN = 5n;
export const CCTP_VERSION = 1n;
/** Attested after a few blocks, or when final. */
export const FAST_THRESHOLD = 1_000n;
export const STANDARD_THRESHOLD = 2_000n;
export const SOLANA_TOKEN_MESSENGER = solanaAddress('CCTPV2vPZJS2u2BBsUoscuikbYjnpFmbFsvVuJdgUMQe');

export const SOLANA_MESSAGE_TRANSMITTER = solanaAddress('CCTPV2Sm4AdWt5296sk4P66VBZ7bEhcARwFaaS9YPbeC');

export interface CctpPlaces {
  readonly tokenMessenger: bigint;
  readonly messageTransmitter: bigint;
  readonly usdcMint: SolanaAddress;
}

const mainnet: CctpPlaces = {
  tokenMessenger: solanaBridges.mainnet.tokenMessenger,
  messageTransmitter: 0x02ebb5777b6dd8b26ea11d68fdf1d2c85cd2099335328be845a28c77a8aef183n,
  usdcMint: solanaAddress(solanaBridges.mainnet.usdcMint),
};

export const cctpPlaces: Readonly<Record<StarknetNetworkName, CctpPlaces>> = {
  mainnet,
  sepolia: {
    tokenMessenger: solanaBridges.sepolia.tokenMessenger,
    messageTransmitter: 0x04db7926c64f1f32a840f3fa95cb551f3801a3600bae87af87807a54dce12fe8n,
    usdcMint: solanaAddress(solanaBridges.sepolia.usdcMint),
  },
  // The sandbox has mainnet's addresses.
  sandbox: mainnet,
};

/** First blocks of the chains that these tokens are on. */
export const solanaGenesis: Readonly<Record<string, string>> = {
  EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v: '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d',
  '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU': 'EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG',
};

export const thresholdOf = (fast: boolean): bigint => (fast ? FAST_THRESHOLD : STANDARD_THRESHOLD);

function solanaAddress(text: string): SolanaAddress {
  const address = parseSolanaAddress(text);
  if (!address.ok) throw new Error(`${text} ${address.reason}.`);
  return address.value;
}

/** Derived from our own order only, never from the bridge's answers. */
function expectedOf(places: CctpPlaces, usdc: bigint, { sender, order }: Burn): Partial<Record<MessageField, bigint>> {
  return {
    version: CCTP_VERSION,
    sourceDomain: STARKNET_DOMAIN,
    destinationDomain: SOLANA_DOMAIN,
    sender: places.tokenMessenger,
    recipient: toInteger(solanaAddressBytes(SOLANA_TOKEN_MESSENGER)),
    destinationCaller: 0n,
    minFinalityThreshold: thresholdOf(order.fast),
    bodyVersion: CCTP_VERSION,
    burnToken: usdc,
    mintRecipient: toInteger(tokenAccountOf(order.owner, places.usdcMint)),
    amount: order.amount,
    messageSender: sender,
    maxFee: order.maxFee,
  };
}

export function wrongField(places: CctpPlaces, usdc: bigint, burn: Burn, message: BurnMessage): string | undefined {
  const expected = Object.entries(expectedOf(places, usdc, burn)) as [MessageField, bigint][];
  const wrong = expected.find(([field, value]) => message[field] !== value);
  if (wrong) return wrong[0];
  if (message.nonce === 0n) return 'nonce';
  if (message.finalityThresholdExecuted < thresholdOf(burn.order.fast)) return 'finalityThresholdExecuted';
  if (message.feeExecuted > burn.order.maxFee) return 'feeExecuted';
  return Buffer.compare(message.hookData, forwardHook(burn.order.owner)) === 0 ? undefined : 'hookData';
}

const MAGIC = 'cctp-forward';
const MAGIC_BYTES = 24;
const VERSION = 0;
const CREATE_ACCOUNT = 1;

/** Makes the bridge mint by itself: no key and no money on Solana are needed. */
export function forwardHook(owner: SolanaAddress): Uint8Array {
  const payload = Uint8Array.of(CREATE_ACCOUNT, ...solanaAddressBytes(owner));
  const hook = Buffer.alloc(MAGIC_BYTES + 8 + payload.length);
  hook.write(MAGIC, 'ascii');
  hook.writeUInt32BE(VERSION, MAGIC_BYTES);
  hook.writeUInt32BE(payload.length, MAGIC_BYTES + 4);
  hook.set(payload, MAGIC_BYTES + 8);
  return Uint8Array.from(hook);
}

const BURN = selector('deposit_for_burn_with_hook');
/** Felts before the hook: amount, domain, recipient, token, caller, fee and threshold. */
const HOOK_AT = 11;
const MAX_FEE_AT = 8;

/** What the calls of a burn order, where they do. The caller compares them with those of the order. */
export function readBurnOrder(calls: readonly Call[]): BurnOrder | undefined {
  const owner = ownerOfBurn(calls);
  const calldata = calls.find((call) => call.selector === BURN)?.calldata ?? [];
  const u256At = (index: number) => (calldata[index] ?? 0n) + ((calldata[index + 1] ?? 0n) << 128n);
  const threshold = calldata[HOOK_AT - 1];
  if (!owner || (threshold !== FAST_THRESHOLD && threshold !== STANDARD_THRESHOLD)) return undefined;
  return { amount: u256At(0), maxFee: u256At(MAX_FEE_AT), owner, fast: threshold === FAST_THRESHOLD };
}

export function ownerOfBurn(calls: readonly Call[]): SolanaAddress | undefined {
  const calldata = calls.find((call) => call.selector === BURN)?.calldata.slice(HOOK_AT);
  const hook = calldata && decodeByteArray(calldata);
  const owner = hook && solanaAddressOf(hook.subarray(MAGIC_BYTES + 9));
  return owner && Buffer.compare(forwardHook(owner), hook) === 0 ? owner : undefined;
}

const WORD_BYTES = 31;

export function toInteger(bytes: Uint8Array): bigint {
  return bytes.length === 0 ? 0n : BigInt(toHexText(bytes));
}

export function toHexText(bytes: Uint8Array): string {
  return `0x${Buffer.from(bytes).toString('hex')}`;
}

export function readHex(text: string, maxBytes: number): Uint8Array | undefined {
  if (text.length > 2 + 2 * maxBytes || !/^0x(?:[0-9a-fA-F]{2})*$/.test(text)) return undefined;
  return Uint8Array.from(Buffer.from(text.slice(2), 'hex'));
}

function decodeByteArray([count = 0n, ...rest]: readonly bigint[]): Uint8Array | undefined {
  const words = rest.slice(0, Number(count));
  const [last, length, ...more] = rest.slice(Number(count));
  if (last === undefined || length === undefined || length >= BigInt(WORD_BYTES) || more.length > 0) return undefined;
  const bytesOf = (felt: bigint, bytes: number) => Buffer.from(felt.toString(16).padStart(2 * bytes, '0'), 'hex');
  const tail = length === 0n ? Buffer.alloc(0) : bytesOf(last, Number(length));
  return Uint8Array.from(Buffer.concat([...words.map((word) => bytesOf(word, WORD_BYTES)), tail]));
}
