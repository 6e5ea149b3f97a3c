import { parseDecimal, type Sku } from '@svc/protocol';
import { SvcInputError } from '../client/errors.ts';

/** Pesos and dollars have hundredths; what is finer the service refuses, and would refuse it after the payment. */
const MONEY_DECIMALS = 2;
/** The most of a currency that the service converts at once. */
const MAX_AMOUNT = 100_000_000_000n;
/** The longest reference that the service reads. */
const MAX_REFERENCE_LENGTH = 128;

/** The amount to buy for, in the service's currency: what is fixed, or what was asked for. */
export function purchaseAmount(sku: Sku, asked: number | undefined): number {
  const amount = asked ?? sku.fixedAmount;
  if (amount === undefined) refuse(`currencyAmount is required: ${sku.name} has no fixed amount`);
  const cents = parseDecimal(String(amount), MONEY_DECIMALS);
  if (!cents.ok) refuse(`currencyAmount ${cents.reason}`);
  if (cents.value === 0n || cents.value > MAX_AMOUNT) refuse('currencyAmount must be above 0 and at most a billion');
  if (sku.fixedAmount !== undefined && amount !== sku.fixedAmount) {
    refuse(`currencyAmount must be ${sku.fixedAmount}, the fixed amount of ${sku.name}`);
  }
  const isFit = fits(sku.amountRegexValidation, String(amount));
  if (isFit === false) refuse(`currencyAmount is not one that ${sku.name} accepts: ${sku.amountLabel}`);
  if (isFit === undefined && sku.fixedAmount === undefined) {
    refuse(`currencyAmount cannot be checked before paying: ${sku.amountLabel}`);
  }
  return amount;
}

/** The service reads the reference after the payment, so a wrong one must be found before it. */
export function requireReference(sku: Sku, reference: string): void {
  const isFit = reference.length <= MAX_REFERENCE_LENGTH ? fits(sku.referenceRegexValidation, reference) : false;
  // Where this pattern cannot be read here, the service's own check has to say it, or nobody does.
  if (isFit || (isFit === undefined && sku.canCheckSkuReference)) return;
  const reason = isFit === undefined ? 'cannot be checked before paying' : `does not fit ${sku.name}`;
  refuse(`skuReference ${reason}: ${sku.referenceLabel}`);
}

/** Undefined for a pattern in a dialect that JavaScript does not read. */
function fits(pattern: string, text: string): boolean | undefined {
  try {
    return new RegExp(pattern, 'u').test(text);
  } catch {
    return undefined;
  }
}

function refuse(reason: string): never {
  throw new SvcInputError('invalid_input', `${reason}. Nothing was paid.`);
}
