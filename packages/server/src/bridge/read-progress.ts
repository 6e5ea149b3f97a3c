import type { BridgeProgress, Burn } from './bridge.ts';
import { readHex, toHexText } from './bytes.ts';
import type { CctpPlaces } from './cctp.ts';
import { wrongField } from './check-message.ts';
import { decodeMessage } from './message.ts';
import type { ShownMessage } from './shown-message.ts';

/** Ours have 441 bytes; the rest is for a header that grows. */
const MAX_MESSAGE_BYTES = 2_048;
const MAX_ATTESTATION_BYTES = 2_048;
const NONCE_START = 12;
const NONCE_END = 44;

/** What the service's messages of a burn mean for it. One is expected, because a transaction of ours burns once. */
export function readProgress(
  places: CctpPlaces,
  usdc: bigint,
  burn: Burn,
  messages: readonly ShownMessage[],
): BridgeProgress {
  const [shown, ...others] = messages;
  if (!shown) return { state: 'UNSEEN' };
  if (others.length > 0) return { state: 'WRONG', reason: 'The bridge shows several messages for one burn.' };
  if (!shown.complete) return { state: 'PENDING' };
  const bytes = readHex(shown.message, MAX_MESSAGE_BYTES);
  const message = bytes && decodeMessage(bytes);
  if (!bytes || !message) return { state: 'WRONG', reason: 'The attested message cannot be read.' };
  const wrong = wrongField(places, usdc, burn, message);
  if (wrong !== undefined) {
    return { state: 'WRONG', reason: `The attested message does not say what was burned: ${wrong} differs.` };
  }
  const attestation = readHex(shown.attestation, MAX_ATTESTATION_BYTES);
  if (!attestation?.length) return { state: 'WRONG', reason: 'The attestation cannot be read.' };
  return {
    state: 'ATTESTED',
    nonce: toHexText(bytes.subarray(NONCE_START, NONCE_END)),
    message: toHexText(bytes),
    attestation: toHexText(attestation),
    feeExecuted: message.feeExecuted,
    forwardState: shown.forwardState,
    receiveHash: shown.forwardTxHash,
  };
}
