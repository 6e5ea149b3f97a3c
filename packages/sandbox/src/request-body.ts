import { ApiError } from '@svc/protocol';

export type Body = Readonly<Record<string, unknown>>;

/** An absent body is an empty one. */
export function readBody(body: unknown): Body {
  if (body === undefined || body === null) return {};
  if (typeof body === 'object' && !Array.isArray(body)) return body as Body;
  throw new ApiError('invalid_request', 'The body must be an object.');
}

export function readWhole(body: Body, field: string, min: number, max: number): number {
  const value = body[field];
  if (typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max) return value;
  throw new ApiError('invalid_request', `body.${field} must be a whole number from ${min} to ${max}.`);
}

export function readOptionalWhole(body: Body, field: string, min: number, max: number): number | undefined {
  return body[field] === undefined ? undefined : readWhole(body, field, min, max);
}

export function readText(body: Body, field: string, maxLength: number): string {
  const value = body[field];
  const fits = typeof value === 'string' && value.length > 0 && value.length <= maxLength;
  // PostgreSQL text cannot hold lone surrogates or NUL.
  if (fits && value.isWellFormed() && !value.includes('\0')) return value;
  throw new ApiError('invalid_request', `body.${field} must be a text of 1 to ${maxLength} characters.`);
}

export function readOptionalText(body: Body, field: string, maxLength: number): string | undefined {
  return body[field] === undefined ? undefined : readText(body, field, maxLength);
}

export function readOneOf<T extends string>(body: Body, field: string, choices: readonly T[]): T {
  const choice = choices.find((one) => one === body[field]);
  if (choice !== undefined) return choice;
  throw new ApiError('invalid_request', `body.${field} must be one of ${choices.join(', ')}.`);
}
