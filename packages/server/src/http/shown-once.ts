import type { Endpoint } from '@svc/protocol';
import type { StoredAnswer } from './idempotency.ts';

/**
 * An answer as it may be kept for a repeated Idempotency-Key: null in place of what is shown once. A secret that lay there for a
 * day would be a copy of it in clear, which its own table takes care not to have.
 */
export function withoutShownOnce({ shownOnce }: Pick<Endpoint, 'shownOnce'>, answer: StoredAnswer): StoredAnswer {
  const { status, body } = answer;
  if (!shownOnce || body === null || typeof body !== 'object') return answer;
  const hidden = shownOnce.filter((field) => Object.hasOwn(body, field)).map((field) => [field, null]);
  return { status, body: { ...body, ...Object.fromEntries(hidden) } };
}
