import type { Client } from '@svc/sdk';

/** A redeem waits up to half a minute for the chain. */
const TIMEOUT_MS = 60_000;

/**
 * What the library's claim operations need. Made by hand: they take no key, and `createClient` wants one. The service stands beside this
 * page, below whatever path a proxy puts before both.
 */
export function claimClient(pageUrl: string): Client {
  return {
    baseUrl: new URL('../v1', pageUrl).href,
    publicKey: '',
    secretKey: undefined,
    bearerToken: undefined,
    nodeUrls: [],
    fetch: (input, init) => fetch(input, init),
    // The page says what is wrong and asks again itself, rather than being silent for a minute.
    maxRetries: 0,
    timeoutMs: TIMEOUT_MS,
    runtime: { now: () => Date.now(), sleep, randomBytes: (count) => crypto.getRandomValues(new Uint8Array(count)) },
  };
}

function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, ms);
    if (signal?.aborted) stop();
    else signal?.addEventListener('abort', stop, { once: true });
  });
}
