import { createHash } from 'node:crypto';
import { ApiError } from '@svc/protocol';
import { readBody, readText } from '../controls/body.ts';

export interface Order {
  readonly orderId: string;
  readonly environment: string;
  readonly organizationId: string;
  readonly catalogue: string;
  readonly providerId: string;
  readonly skuId: string;
  readonly reference: string;
  readonly amount: string;
  readonly currency: string;
}

/** What becomes of an order in the end: one of the two is null. */
export interface Fate {
  readonly fileNumber: string | null;
  readonly reason: string | null;
}

const fields = [
  'orderId',
  'environment',
  'organizationId',
  'catalogue',
  'providerId',
  'skuId',
  'reference',
  'amount',
  'currency',
] as const satisfies readonly (keyof Order)[];
/** Longer than any of them can be. */
const MAX_LENGTH = 255;
const FILE_NUMBER_DIGITS = 10;

const REFUSAL =
  'El proveedor de pruebas rechaza las referencias que terminan en 0000. The sandbox provider refuses references that end in 0000.';

/** The order in a body whose signature was checked. */
export function readOrder(bytes: Uint8Array): Order {
  const body = readBody(parse(bytes));
  return Object.fromEntries(fields.map((field) => [field, readText(body, field, MAX_LENGTH)])) as unknown as Order;
}

/** The last digits of its reference decide, and nothing else. */
export function fateOf({ orderId, reference }: Order): Fate {
  if (reference.endsWith('0000')) return { fileNumber: null, reason: REFUSAL };
  return { fileNumber: fileNumberOf(orderId), reason: null };
}

export function isSlow({ reference }: Order): boolean {
  return reference.endsWith('1111');
}

/** The same for the same order, on every machine. */
export function fileNumberOf(orderId: string): string {
  const number = createHash('sha256').update(orderId).digest().readBigUInt64BE();
  return String(number % 10n ** BigInt(FILE_NUMBER_DIGITS)).padStart(FILE_NUMBER_DIGITS, '0');
}

function parse(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(bytes).toString('utf8'));
  } catch {
    throw new ApiError('invalid_request', 'The body is not valid JSON.');
  }
}
