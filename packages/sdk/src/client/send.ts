import type { Client } from './client.ts';
import { SvcConnectionError } from './errors.ts';
import { readAnswer } from './read-answer.ts';
import { pauseBefore } from './retry.ts';
import { withoutCookies } from './without-cookies.ts';

export interface Sending {
  readonly method: string;
  readonly url: string;
  /** Asked for each try. */
  readonly headers: () => Promise<Record<string, string>>;
  readonly body?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Sends a request until it is answered, or cannot be, or was tried often enough. `retry.ts` says what is safe to send again. */
export async function sendWithRetries(client: Client, sending: Sending): Promise<unknown> {
  const { method, signal } = sending;
  for (let attempt = 1; ; attempt++) {
    try {
      const { response, text } = await exchange(client, sending);
      return readAnswer(response, text, client.runtime.now());
    } catch (error) {
      const pauseMs = pauseBefore({ method, attempt, error }, client);
      if (pauseMs === undefined || signal?.aborted) throw error;
      await client.runtime.sleep(pauseMs, signal);
    }
  }
}

async function exchange(client: Client, { method, url, headers, body, signal }: Sending) {
  const init = { method, headers: await headers(), ...(body === undefined ? {} : { body }) };
  const timeout = AbortSignal.timeout(client.timeoutMs);
  try {
    const response = await client.fetch(url, {
      ...init,
      ...withoutCookies(),
      signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
      // Keys and tokens go to the address that was configured and nowhere else.
      redirect: 'manual',
    });
    return { response, text: await response.text() };
  } catch (error) {
    if (signal?.aborted) throw error;
    throw unanswered(new URL(url).host, timeout.aborted ? client.timeoutMs : undefined, error);
  }
}

function unanswered(host: string, afterMs: number | undefined, cause: unknown): SvcConnectionError {
  if (afterMs === undefined) {
    return new SvcConnectionError('connection_failed', `${host} could not be reached.`, { cause });
  }
  return new SvcConnectionError('timeout', `${host} did not answer within ${afterMs} ms.`, { cause });
}
