import type { ProofOfWork } from '@svc/protocol';
import { type Client, solveProof } from '@svc/sdk';

/** A redeem waits up to 30 seconds for the chain. */
const TIMEOUT_MS = 60_000;

/** `createClient` requires keys; claims need none. The API is next to this page, below any prefix of a proxy. */
export function claimClient(pageUrl: string): Client {
  return {
    baseUrl: new URL('../v1', pageUrl).href,
    publicKey: '',
    secretKey: undefined,
    bearerToken: undefined,
    // The sandbox's clock can differ from the device's. Pages may ask their own host only.
    nodeUrls: [new URL('../sandbox/starknet/rpc', pageUrl).href],
    // A new wallet's class must be one of the library's own list on live networks.
    trust: { chainId: undefined, classHashes: [], tokens: [], paymentAddress: undefined, privatePool: undefined },
    allowWeakEncryptKeys: false,
    solveProof: (challenge) => solveInWorker(challenge).catch(() => solveProof(challenge)),
    fetch: (input, init) => fetch(input, init),
    // The page shows errors and retries itself.
    maxRetries: 0,
    timeoutMs: TIMEOUT_MS,
    runtime: { now: () => Date.now(), sleep, randomBytes: (count) => crypto.getRandomValues(new Uint8Array(count)) },
  };
}

/** A page that works does not answer its user. */
async function solveInWorker(challenge: ProofOfWork): Promise<string> {
  const worker = new Worker(new URL('./proof-worker.ts', import.meta.url), { type: 'module' });
  try {
    return await new Promise<string>((resolve, reject) => {
      worker.addEventListener('message', ({ data }: MessageEvent<string>) => resolve(data));
      worker.addEventListener('error', () => reject(new Error('The worker failed.')));
      worker.postMessage(challenge);
    });
  } finally {
    worker.terminate();
  }
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
