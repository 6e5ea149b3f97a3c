import type { Client } from './client.ts';
import { SvcApiError, SvcConnectionError, SvcInputError } from './errors.ts';

export interface PollOptions {
  /** Between two requests. Default: 3000. */
  readonly retryIntervalMs?: number | undefined;
  /** In total. Default: 300000. */
  readonly timeoutMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface Polled<T> {
  readonly name: string;
  readonly read: () => Promise<T>;
  readonly isFinal: (value: T) => boolean;
}

const RETRY_INTERVAL_MS = 3_000;
const TIMEOUT_MS = 300_000;
/** Faster polling would exceed the service's rate limit. */
const SHORTEST_INTERVAL_MS = 100;

/**
 * Polls until the result is final. Connection errors and restarts of the service are retried; a refusal is thrown at
 * once.
 */
export async function pollUntil<T>(client: Client, options: PollOptions, polled: Polled<T>): Promise<T> {
  const { retryIntervalMs = RETRY_INTERVAL_MS, timeoutMs = TIMEOUT_MS, signal } = options;
  if (!(retryIntervalMs >= SHORTEST_INTERVAL_MS && timeoutMs >= 0)) {
    throw new SvcInputError('invalid_input', `retryIntervalMs must be at least ${SHORTEST_INTERVAL_MS}, timeoutMs 0.`);
  }
  const { runtime } = client;
  const deadline = runtime.now() + timeoutMs;
  for (;;) {
    signal?.throwIfAborted();
    const result = await attempt(polled.read);
    if ('value' in result && polled.isFinal(result.value)) return result.value;
    const leftMs = deadline - runtime.now();
    if (leftMs <= 0) throw timedOut(polled.name, timeoutMs, 'failure' in result ? result.failure : undefined);
    await runtime.sleep(Math.min(retryIntervalMs, leftMs), signal);
  }
}

async function attempt<T>(read: () => Promise<T>): Promise<{ value: T } | { failure: unknown }> {
  try {
    return { value: await read() };
  } catch (failure) {
    if (isTransient(failure)) return { failure };
    throw failure;
  }
}

export function isTransient(error: unknown): boolean {
  if (error instanceof SvcApiError) return error.status >= 500 || error.status === 429;
  return error instanceof SvcConnectionError && error.code !== 'invalid_answer';
}

function timedOut(name: string, timeoutMs: number, cause: unknown): SvcConnectionError {
  const message = `${name} was not final within ${timeoutMs} ms. It goes on: wait for it again.`;
  return new SvcConnectionError('timeout', message, cause === undefined ? {} : { cause });
}
