import { MAX_CURRENCY_AMOUNT, type Sku } from '@svc/protocol';
import { problemOfSku } from '../problem.ts';

/** Pesos and dollars have hundredths. */
const TWO_DECIMALS = /^\d+(\.\d{1,2})?$/;

/** Why an organisation cannot have this service, naming the field, or undefined. */
export function problemOfOwnSku(sku: Sku): string | undefined {
  return problemOfAmount(sku.fixedAmount) ?? problemOfSku(sku) ?? problemOfLogo(sku.logoUrl);
}

function problemOfAmount(amount: number | undefined): string | undefined {
  if (amount === undefined) return undefined;
  if (amount > MAX_CURRENCY_AMOUNT) return `fixedAmount is more than ${MAX_CURRENCY_AMOUNT}`;
  return TWO_DECIMALS.test(String(amount)) ? undefined : 'fixedAmount has more than two decimals';
}

/** Apps show it to people: nothing but a picture that lies behind https. */
function problemOfLogo(url: string | undefined): string | undefined {
  const isSecure = url === undefined || (URL.canParse(url) && new URL(url).protocol === 'https:');
  return isSecure ? undefined : 'logoUrl must be an address that starts with https://';
}
