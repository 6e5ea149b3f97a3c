import { toBytes, toInteger } from '../contracts/codec.ts';
import type { TamperedField } from './faults.ts';
import type { BridgeSettings } from './settings.ts';

/** Offset and length of each field; those of the burn are in the message body. */
const BODY_START = 148;
const fields = {
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
} as const;
const HOOK_START = BODY_START + 228;

export type MessageField = keyof typeof fields;
export type MessageChanges = Readonly<Partial<Record<MessageField, bigint>>>;
export type BurnFields = Readonly<Record<MessageField, bigint>> & {
  readonly body: Uint8Array;
  readonly hookData: Uint8Array;
};

export function decodeMessage(message: Uint8Array): BurnFields | undefined {
  if (message.length < HOOK_START) return undefined;
  const entries = Object.entries(fields).map(([name, [start, length]]) => [
    name,
    toInteger(message.subarray(start, start + length)),
  ]);
  return {
    ...(Object.fromEntries(entries) as Record<MessageField, bigint>),
    body: message.subarray(BODY_START),
    hookData: message.subarray(HOOK_START),
  };
}

export function changeMessage(message: Uint8Array, changes: MessageChanges): Uint8Array {
  const changed = Uint8Array.from(message);
  for (const [name, [start, length]] of Object.entries(fields)) {
    const value = changes[name as MessageField];
    if (value === undefined) continue;
    const bytes = toBytes(value, length);
    if (!bytes) throw new RangeError(`${name} does not fit into a bridge message.`);
    changed.set(bytes, start);
  }
  return changed;
}

const MAGIC = new TextEncoder().encode('cctp-forward');
const MAGIC_BYTES = 24;
const VERSION = 0n;
/** One flag byte (create the token account) and the owner's key. */
const PAYLOAD_BYTES = 33;
const CREATE_ACCOUNT = 1;
const PAYLOAD_START = MAGIC_BYTES + 8;

export type ForwardHook =
  | { readonly kind: 'none' }
  | { readonly kind: 'malformed' }
  | { readonly kind: 'owner'; readonly owner: Uint8Array };

export function readForwardHook(hook: Uint8Array): ForwardHook {
  if (!startsWithMagic(hook)) return { kind: 'none' };
  const version = toInteger(hook.subarray(MAGIC_BYTES, MAGIC_BYTES + 4));
  const length = toInteger(hook.subarray(MAGIC_BYTES + 4, PAYLOAD_START));
  const whole = hook.length === PAYLOAD_START + PAYLOAD_BYTES && length === BigInt(PAYLOAD_BYTES);
  if (!whole || version !== VERSION || hook[PAYLOAD_START] !== CREATE_ACCOUNT) return { kind: 'malformed' };
  return { kind: 'owner', owner: hook.subarray(PAYLOAD_START + 1) };
}

function startsWithMagic(hook: Uint8Array): boolean {
  if (hook.length < MAGIC_BYTES) return false;
  return hook.subarray(0, MAGIC_BYTES).every((byte, index) => byte === (MAGIC[index] ?? 0));
}

const fieldOf: Readonly<Record<TamperedField, MessageField>> = {
  amount: 'amount',
  recipient: 'mintRecipient',
  domain: 'destinationDomain',
  token: 'burnToken',
};

export function tamper(message: Uint8Array, field: TamperedField): Uint8Array {
  const name = fieldOf[field];
  const value = decodeMessage(message)?.[name];
  return value === undefined ? message : changeMessage(message, { [name]: value ^ 1n });
}

export const FAST_THRESHOLD = 1_000;
export const STANDARD_THRESHOLD = 2_000;
const MILLION = 1_000_000n;
const PER_BASIS_POINT = 100;

export function isFast(minFinalityThreshold: bigint): boolean {
  return minFinalityThreshold <= BigInt(FAST_THRESHOLD);
}

export interface FeeInput {
  readonly amount: bigint;
  readonly maxFee: bigint;
  readonly fast: boolean;
  readonly forwarded: boolean;
}

/** Rounded up, and at most `maxFee`. */
export function feeOf({ amount, maxFee, fast, forwarded }: FeeInput, settings: BridgeSettings): bigint {
  const share = fast ? (amount * BigInt(settings.fastFeePerMillion) + MILLION - 1n) / MILLION : 0n;
  const fee = share + (forwarded ? BigInt(settings.forwardFee) : 0n);
  return fee < maxFee ? fee : maxFee;
}

export function showFees({ fastFeePerMillion, forwardFee }: BridgeSettings, forward: boolean) {
  const forwarding = forward ? { forwardFee: { low: forwardFee, med: forwardFee, high: forwardFee } } : {};
  return [
    { finalityThreshold: FAST_THRESHOLD, minimumFee: fastFeePerMillion / PER_BASIS_POINT, ...forwarding },
    { finalityThreshold: STANDARD_THRESHOLD, minimumFee: 0, ...forwarding },
  ];
}
