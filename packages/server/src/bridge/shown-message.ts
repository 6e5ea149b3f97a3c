import type { ForwardState } from './bridge.ts';

/** A burn as the attestation service shows it. */
export interface ShownMessage {
  readonly complete: boolean;
  readonly message: string;
  readonly attestation: string;
  readonly forwardState: ForwardState;
  readonly forwardTxHash: string | undefined;
}

/** A transaction of ours burns once; a long list is not an answer to our question. */
const MAX_MESSAGES = 100;
/** A signature on Solana is 88 characters of base58 at most. */
const TRANSACTION = /^[1-9A-HJ-NP-Za-km-z]{32,88}$/;
const forwardStates = ['PENDING', 'CONFIRMED', 'COMPLETE', 'FAILED'] as const;

/** Undefined where the answer does not have the form of one. */
export function readMessages(answer: unknown): readonly ShownMessage[] | undefined {
  const { messages } = (answer ?? {}) as { messages?: unknown };
  if (!Array.isArray(messages) || messages.length > MAX_MESSAGES) return undefined;
  const read = messages.map(readMessage);
  return read.every((message) => message !== undefined) ? read : undefined;
}

function readMessage(shown: unknown): ShownMessage | undefined {
  const { message, attestation, status, forwardState, forwardTxHash } = (shown ?? {}) as Record<string, unknown>;
  if (status === 'pending_confirmations' || attestation === 'PENDING') return PENDING;
  if (status !== 'complete' || typeof message !== 'string' || typeof attestation !== 'string') return undefined;
  const hash = typeof forwardTxHash === 'string' && TRANSACTION.test(forwardTxHash) ? forwardTxHash : undefined;
  const state = forwardStates.find((known) => known === forwardState);
  return { complete: true, message, attestation, forwardState: state, forwardTxHash: hash };
}

const PENDING: ShownMessage = {
  complete: false,
  message: '',
  attestation: '',
  forwardState: undefined,
  forwardTxHash: undefined,
};
