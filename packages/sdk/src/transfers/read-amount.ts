import { parseTokenAmount } from '@svc/protocol';
import { SvcInputError } from '../client/errors.ts';

/** A human amount in the token's smallest units, exactly; more than zero. */
export function readAmount(amount: string | number, decimals: number): bigint {
  if (typeof amount === 'number' && !isExact(amount)) refuse('is a number that is not exact: pass it as text');
  // A number stands for its shortest printed form, which is what was typed.
  const raw = parseTokenAmount(String(amount), decimals);
  if (!raw.ok) refuse(raw.reason);
  if (raw.value === 0n) refuse('must be more than zero');
  return raw.value;
}

const isExact = (amount: number) => Number.isFinite(amount) && Math.abs(amount) <= Number.MAX_SAFE_INTEGER;

function refuse(reason: string): never {
  throw new SvcInputError('invalid_input', `amount ${reason}.`);
}
