import { parseUsd, usdToNumber } from '@svc/protocol';
import { SvcInputError } from '../client/errors.ts';

/** The most that one redemption may give, in millionths of a dollar. */
const MAX_AMOUNT = 10_000_000_000n;

/** The amount as the JSON number that the service takes: exact, because ten thousand dollars have at most eleven digits. */
export function readGiftAmount(amount: string | number): number {
  const micros = parseUsd(amount);
  if (!micros.ok) throw new SvcInputError('invalid_input', `amount ${micros.reason}.`);
  if (micros.value === 0n || micros.value > MAX_AMOUNT) {
    throw new SvcInputError('invalid_input', 'amount must be more than 0 and at most 10000.');
  }
  return usdToNumber(micros.value);
}
