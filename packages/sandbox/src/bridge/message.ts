import { toBytes, toInteger } from '../contracts/byte-array.ts';

/** Where the fields of a message begin and how long they are; those of a burn lie in its body. */
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

/** Undefined where the bytes are too few for a burn. */
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

/** The same message with other values in some of its fields. */
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
