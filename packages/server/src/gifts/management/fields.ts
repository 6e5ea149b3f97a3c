import { parseMoment, parseUsd, type UsdMicros } from '@svc/protocol';
import { refuse } from '../../wallets/fields.ts';

/** Each reads one field of a request; what cannot be read is an `invalid_request` that names the field. */
export function readAmount(amount: number): UsdMicros {
  const micros = parseUsd(amount);
  if (micros.ok) return micros.value;
  // JSON numbers below a millionth print with an exponent.
  return refuse('body.amount', amount < 1 ? 'must have at most 6 decimals' : micros.reason);
}

export function readMoment(text: string, field: string): Date {
  const moment = parseMoment(text);
  return moment.ok ? moment.value : refuse(field, moment.reason);
}

/** Null is no expiry. */
export function readExpiry(text: string | null): Date | null {
  return text === null ? null : readMoment(text, 'body.expiresAt');
}

export function requireAfter(expiresAt: Date | null, startsAt: Date): void {
  if (expiresAt !== null && expiresAt <= startsAt) {
    refuse('body.expiresAt', `must be after startsAt, which is ${startsAt.toISOString()}`);
  }
}
