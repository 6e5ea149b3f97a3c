import { parentPort } from 'node:worker_threads';
import { pedersen, sign, starkKey, verify } from '@svc/starknet';
import { useWebAssembly } from '@svc/starknet/wasm';
import { type Job, operations, type ThreadMessage } from './crypto.ts';

const port = parentPort;
if (!port) throw new Error('This file is started as a worker thread.');
const post = (message: ThreadMessage) => port.postMessage(message);

port.on('message', (job: Job) => {
  const start = performance.now();
  try {
    const answer = perform(job);
    post({ kind: 'done', answer, ms: performance.now() - start });
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    post({ kind: 'failed', message, ms: performance.now() - start });
  }
});

useWebAssembly();
warmUp();
post({ kind: 'ready' });

function perform({ operation, args }: Job): unknown {
  const call = operations[operation] as (...args: readonly unknown[]) => unknown;
  return call(...args);
}

/** Builds the multiplication tables, which take longer than many jobs. */
function warmUp(): void {
  const { r, s } = sign(1n, 1n);
  verify(1n, starkKey(1n), r, s);
  pedersen(1n, 1n);
}
