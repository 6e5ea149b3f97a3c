import { toInteger } from './bytes.ts';

const BODY_START = 148;
const HOOK_START = BODY_START + 228;

/** Where the numbers of a burn's message begin, and their bytes. */
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

/** Undefined where the bytes are too few for a burn's message; all that follows the numbers is its hook. */
export function decodeMessage(bytes: Uint8Array): BurnMessage | undefined {
  if (bytes.length < HOOK_START) return undefined;
  const numbers = Object.entries(layout).map(([field, [start, length]]) => [
    field,
    toInteger(bytes.subarray(start, start + length)),
  ]);
  return { ...(Object.fromEntries(numbers) as Record<MessageField, bigint>), hookData: bytes.subarray(HOOK_START) };
}
