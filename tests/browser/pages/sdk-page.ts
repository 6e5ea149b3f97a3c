import * as sdk from '@svc/sdk';
// In this file's chunk; otherwise the first use would load it from a file of its own.
import * as privateBalance from '@svc/sdk/private-balance';

interface PageWorker {
  onmessage: ((event: { readonly data: unknown }) => void) | null;
  postMessage(message: unknown): void;
  terminate(): void;
}
const { Worker } = globalThis as unknown as { Worker: new (url: string, options: { type: 'module' }) => PageWorker };

function askWorker(message: unknown): Promise<unknown> {
  const worker = new Worker('/worker.js', { type: 'module' });
  const answer = new Promise((resolve) => {
    worker.onmessage = ({ data }) => resolve(data);
  });
  worker.postMessage(message);
  return answer.finally(() => worker.terminate());
}

export interface LibraryPage {
  readonly sdk: typeof sdk;
  readonly askWorker: typeof askWorker;
  readonly privateBalance: typeof privateBalance;
  readonly startProofWorker: () => sdk.ProofWorker;
}

const startProofWorker = () => new Worker('/proof-worker.js', { type: 'module' });
// The tests call the library through these globals.
Object.assign(globalThis, { sdk, askWorker, privateBalance, startProofWorker } satisfies LibraryPage);
