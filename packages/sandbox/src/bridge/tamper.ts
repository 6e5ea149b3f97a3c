import type { TamperedField } from './faults.ts';
import { changeMessage, decodeMessage, type MessageField } from './message.ts';

const fieldOf: Readonly<Record<TamperedField, MessageField>> = {
  amount: 'amount',
  recipient: 'mintRecipient',
  domain: 'destinationDomain',
  token: 'burnToken',
};

/** The message with one bit of a field turned: as close to the true one as a forgery can come. */
export function tamper(message: Uint8Array, field: TamperedField): Uint8Array {
  const name = fieldOf[field];
  const value = decodeMessage(message)?.[name];
  return value === undefined ? message : changeMessage(message, { [name]: value ^ 1n });
}
