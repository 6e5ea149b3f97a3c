import { oneLine } from '../../mail/one-line.ts';
import type { OrderResult } from './provider.ts';

export type OrderAnswer = OrderResult | { readonly state: 'unknown' };

/** As long as the record of a purchase has room for. It is cut nowhere: half a number finds nothing. */
export const MAX_FILE_NUMBER_LENGTH = 255;
/** A sentence or two for people; what is longer is cut. */
const MAX_REASON_LENGTH = 500;

/** What a fulfilment service says of an order, in an answer or by itself; undefined where it is nothing of the protocol. */
export function readOrderAnswer(body: Uint8Array): OrderAnswer | undefined {
  const { status, fileNumber, reason } = parse(body);
  switch (status) {
    case 'completed':
      return isFileNumber(fileNumber) ? { state: 'completed', fileNumber } : undefined;
    case 'failed':
      return readReason(reason);
    case 'accepted':
      return { state: 'accepted' };
    case 'unknown':
      return { state: 'unknown' };
    default:
      return undefined;
  }
}

function parse(body: Uint8Array): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

export function isFileNumber(value: unknown): value is string {
  if (typeof value !== 'string' || value.trim() === '' || value.length > MAX_FILE_NUMBER_LENGTH) return false;
  return !/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]/u.test(value);
}

function readReason(value: unknown): OrderResult | undefined {
  const reason = typeof value === 'string' ? oneLine(value, MAX_REASON_LENGTH) : '';
  return reason === '' ? undefined : { state: 'failed', reason };
}
