import { attest } from './attester.ts';
import type { Burn } from './burns.ts';
import { FAST_THRESHOLD, isFast, STANDARD_THRESHOLD } from './fees.ts';
import { type BurnFields, changeMessage, decodeMessage } from './message.ts';
import { tamper } from './tamper.ts';

const CCTP_VERSION = 2;
/** One of the reasons that the live service gives. */
const DELAY_REASON = 'insufficient_allowance_available';

/** A burn as the attestation service shows it. */
export function showMessage(burn: Burn) {
  const common = { eventNonce: burn.nonce, cctpVersion: CCTP_VERSION };
  const message = attestedMessage(burn);
  if (!message) {
    const delayReason = burn.fault?.kind === 'delayed' ? DELAY_REASON : null;
    const pending = { message: '0x', attestation: 'PENDING', decodedMessage: null, status: 'pending_confirmations' };
    return { ...common, ...pending, delayReason, forwardState: null, forwardTxHash: null };
  }
  const shown = burn.fault?.kind === 'tampered-message' ? tamper(message, burn.fault.field ?? 'amount') : message;
  return {
    ...common,
    message: hex(shown),
    attestation: hex(attest(message)),
    decodedMessage: showDecoded(shown),
    status: 'complete',
    delayReason: null,
    forwardState: burn.forwardState ?? null,
    forwardTxHash: burn.forwardTxHash ?? null,
  };
}

/** The message with what the service fills in; undefined before it is attested. */
export function attestedMessage({ message, nonce, sent, attestation }: Burn): Uint8Array | undefined {
  if (!attestation) return undefined;
  return changeMessage(message, {
    nonce: BigInt(nonce),
    finalityThresholdExecuted: BigInt(isFast(sent.minFinalityThreshold) ? FAST_THRESHOLD : STANDARD_THRESHOLD),
    feeExecuted: attestation.feeExecuted,
    expirationBlock: attestation.expirationBlock,
  });
}

/** Numbers are decimal texts; keys and addresses are 32 bytes in hex. */
export function showDecoded(message: Uint8Array) {
  const fields = decodeMessage(message);
  if (!fields) throw new Error('A message that was attested cannot be read.');
  return {
    sourceDomain: String(fields.sourceDomain),
    destinationDomain: String(fields.destinationDomain),
    nonce: word(fields.nonce),
    sender: word(fields.sender),
    recipient: word(fields.recipient),
    destinationCaller: word(fields.destinationCaller),
    minFinalityThreshold: String(fields.minFinalityThreshold),
    finalityThresholdExecuted: String(fields.finalityThresholdExecuted),
    messageBody: hex(fields.body),
    decodedMessageBody: showBody(fields),
  };
}

function showBody(fields: BurnFields) {
  return {
    burnToken: word(fields.burnToken),
    mintRecipient: word(fields.mintRecipient),
    amount: String(fields.amount),
    messageSender: word(fields.messageSender),
    maxFee: String(fields.maxFee),
    feeExecuted: String(fields.feeExecuted),
    expirationBlock: String(fields.expirationBlock),
    hookData: hex(fields.hookData),
  };
}

function hex(bytes: Uint8Array): string {
  return `0x${Buffer.from(bytes).toString('hex')}`;
}

function word(value: bigint): string {
  return `0x${value.toString(16).padStart(64, '0')}`;
}
