import type { NodemailerError } from 'nodemailer';
import type { Delivery } from './mailer.ts';
import { oneLine } from './one-line.ts';

/** What a server says of a refusal is a line or two. */
const MAX_REASON_LENGTH = 300;

/**
 * Whether a failed attempt is the end. Only a no to this recipient or this message is: a no to our login or our sender says
 * nothing of the letter, and the operator can mend it.
 */
export function judgeFailure(error: NodemailerError): Exclude<Delivery, { outcome: 'SENT' }> {
  const { code, command } = error;
  const refused = error.permanent === true && (command === 'RCPT TO' || command === 'DATA');
  // No server was asked: the address could not be put into a command.
  const unsendable = code === 'EENVELOPE' && command === 'API';
  if (unsendable) return { outcome: 'REFUSED', reason: 'The address cannot be written to.' };
  if (refused) return { outcome: 'REFUSED', reason: oneLine(error.response ?? '', MAX_REASON_LENGTH) };
  return { outcome: 'DELAYED', reason: withoutWords(error) };
}

/** Codes alone: a server's own words often repeat the recipient's address. */
function withoutWords({ code, originalCode, command, responseCode, timeoutType }: NodemailerError): string {
  const parts = [code, originalCode, timeoutType, command, responseCode].filter((part) => part !== undefined);
  return parts.length === 0 ? 'The mail could not be sent.' : `The mail server did not take it (${parts.join(' ')}).`;
}
