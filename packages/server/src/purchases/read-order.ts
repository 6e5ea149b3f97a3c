import { ApiError, type BodyOf, type endpoints, formatDecimal, MAX_CURRENCY_AMOUNT, parseDecimal } from '@svc/protocol';
import { matchesPattern } from '../skus/pattern.ts';
import type { SkuRow } from '../skus/service.ts';

/** Pesos and dollars have hundredths. */
const MONEY_DECIMALS = 2;
const MICROS_A_CENT = 10_000n;
const MAX_CENTS = BigInt(MAX_CURRENCY_AMOUNT) * 100n;

/** An amount of money as it was asked for, exact. */
export interface Money {
  readonly cents: bigint;
  /** Its shortest plain spelling. */
  readonly text: string;
  readonly micros: bigint;
}

type Body = BodyOf<typeof endpoints.createSkuPurchase>;

/** JSON numbers have no spelling of their own: their shortest one is read, and what is finer than money is refused, never rounded. */
export function readAmount({ currencyAmount }: Pick<Body, 'currencyAmount'>): Money {
  const cents = parseDecimal(String(currencyAmount), MONEY_DECIMALS);
  if (!cents.ok || cents.value === 0n || cents.value > MAX_CENTS) {
    const bounds = `above 0 and at most ${MAX_CURRENCY_AMOUNT}, with at most ${MONEY_DECIMALS} decimals`;
    throw new ApiError('invalid_amount', `currencyAmount must be ${bounds}.`);
  }
  const text = formatDecimal(cents.value, MONEY_DECIMALS);
  return { cents: cents.value, text, micros: cents.value * MICROS_A_CENT };
}

/** Whether the service takes this reference and this amount; throws `invalid_reference` or `invalid_amount`. */
export function requireFit(sku: SkuRow, reference: string, amount: Money): void {
  if (!matchesPattern(sku.reference_pattern, reference)) {
    throw new ApiError('invalid_reference', `skuReference does not have the expected form: ${sku.reference_label}.`);
  }
  if (sku.fixed_amount !== null && !isSameAmount(sku.fixed_amount, amount)) {
    const fixed = `${Number(sku.fixed_amount)} ${sku.currency}`;
    throw new ApiError('invalid_amount', `currencyAmount must be ${fixed}, the fixed amount of this service.`);
  }
  if (!spellings(amount).some((text) => matchesPattern(sku.amount_pattern, text))) {
    throw new ApiError('invalid_amount', `currencyAmount does not have the expected form: ${sku.amount_label}.`);
  }
}

/** Finer than any amount that is saved. */
const FIXED_DECIMALS = 30;

function isSameAmount(fixed: string, { text }: Money): boolean {
  const [one, other] = [parseDecimal(fixed, FIXED_DECIMALS), parseDecimal(text, FIXED_DECIMALS)];
  return one.ok && other.ok && one.value === other.value;
}

/** A pattern may be written for the shortest spelling or for the one with both decimals: 50.5 and 50.50 are the same money. */
function spellings({ cents, text }: Money): string[] {
  const [whole, fraction] = [cents / 100n, (cents % 100n).toString().padStart(MONEY_DECIMALS, '0')];
  return [text, `${whole}.${fraction}`];
}
