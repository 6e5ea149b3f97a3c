import type { Sku } from '@svc/protocol';
import { compilePattern, matchesPattern } from './pattern.ts';

type Checked = Pick<Sku, 'referenceRegexValidation' | 'amountRegexValidation' | 'fixedAmount'>;

/** Why a service could not be sold as it is described, naming the field, or undefined. */
export function problemOfSku(sku: Checked): string | undefined {
  for (const field of ['referenceRegexValidation', 'amountRegexValidation'] as const) {
    try {
      compilePattern(sku[field]);
    } catch (error) {
      return `${field}: ${error instanceof Error ? error.message : 'not a pattern'}`;
    }
  }
  if (sku.fixedAmount !== undefined && !matchesPattern(sku.amountRegexValidation, String(sku.fixedAmount))) {
    return 'fixedAmount does not match amountRegexValidation';
  }
  return undefined;
}
