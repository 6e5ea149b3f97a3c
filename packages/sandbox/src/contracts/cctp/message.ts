import { toBytes } from '../byte-array.ts';

/** Of the message and of its body, both. */
const VERSION = 1n;

export interface BurnMessage {
  readonly burnToken: bigint;
  readonly mintRecipient: bigint;
  readonly amount: bigint;
  readonly messageSender: bigint;
  readonly maxFee: bigint;
  readonly hookData: Uint8Array;
}

export interface BridgeMessage {
  readonly sourceDomain: bigint;
  readonly destinationDomain: bigint;
  readonly sender: bigint;
  readonly recipient: bigint;
  readonly destinationCaller: bigint;
  readonly minFinalityThreshold: bigint;
  readonly body: Uint8Array;
}

type Field = readonly [value: bigint, bytes: number];

function concatenate(fields: readonly Field[], tail: Uint8Array): Uint8Array {
  const parts = fields.map(([value, bytes]) => {
    const part = toBytes(value, bytes);
    if (!part) throw new RangeError('A field of a bridge message does not fit.');
    return part;
  });
  return Uint8Array.from([...parts, tail].flatMap((part) => [...part]));
}

/** The attestation service fills in what is zero here: fee executed and expiration block. */
export function burnMessageBytes(message: BurnMessage): Uint8Array {
  return concatenate(
    [
      [VERSION, 4],
      [message.burnToken, 32],
      [message.mintRecipient, 32],
      [message.amount, 32],
      [message.messageSender, 32],
      [message.maxFee, 32],
      [0n, 32],
      [0n, 32],
    ],
    message.hookData,
  );
}

/** The attestation service fills in what is zero here: nonce and executed finality. */
export function bridgeMessageBytes(message: BridgeMessage): Uint8Array {
  return concatenate(
    [
      [VERSION, 4],
      [message.sourceDomain, 4],
      [message.destinationDomain, 4],
      [0n, 32],
      [message.sender, 32],
      [message.recipient, 32],
      [message.destinationCaller, 32],
      [message.minFinalityThreshold, 4],
      [0n, 4],
    ],
    message.body,
  );
}
