import { SvcApiError, SvcConnectionError } from './errors.ts';
import { isObject } from './is-object.ts';
import { isRedirect } from './is-redirect.ts';

/** What the service answered, or throws the error that it answered with. */
export function readAnswer(response: Response, text: string, nowMs: number): unknown {
  const answer = parse(text);
  if (response.ok && answer.ok) return answer.value;
  throw toError(response, answer.ok ? answer.value : undefined, nowMs);
}

function parse(text: string): { ok: true; value: unknown } | { ok: false } {
  try {
    return { ok: true, value: JSON.parse(text) as unknown };
  } catch {
    return { ok: false };
  }
}

function toError(response: Response, body: unknown, nowMs: number): SvcApiError | SvcConnectionError {
  const { status, headers } = response;
  if (isRedirect(response)) {
    return new SvcConnectionError(
      'invalid_answer',
      'The answer leads elsewhere. Is baseUrl the address of the service?',
    );
  }
  if (status < 400) {
    return new SvcConnectionError('invalid_answer', 'The answer is not JSON. Is baseUrl the address of the service?');
  }
  const details = {
    status,
    requestId: headers.get('x-request-id') ?? undefined,
    retryAfterMs: readRetryAfter(headers.get('retry-after'), nowMs),
  };
  const { error, message } = isObject(body) ? body : ({} as Record<string, unknown>);
  if (typeof error === 'string' && typeof message === 'string') return new SvcApiError(error, message, details);
  // A proxy on the way, most often.
  return new SvcApiError('unexpected_answer', `HTTP ${status} without an explanation.`, details);
}

/** In seconds, as the service says it, or a date, as a proxy may. */
function readRetryAfter(text: string | null, nowMs: number): number | undefined {
  if (text === null) return undefined;
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1_000;
  const atMs = Date.parse(text);
  return Number.isNaN(atMs) ? undefined : Math.max(0, atMs - nowMs);
}
