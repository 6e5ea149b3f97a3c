import { inspect } from 'node:util';
import { parentPort } from 'node:worker_threads';
import type { Job } from '../../src/crypto/crypto.ts';

// The real thread, but it dies of a transaction for chain 0 or a contract with salt 0.
parentPort?.addEventListener('message', (event: MessageEvent) => {
  const { args } = event.data as Job;
  const [{ chainId, salt }] = args as [{ chainId?: bigint; salt?: bigint }];
  if (chainId !== 0n && salt !== 0n) return;
  event.stopImmediatePropagation();
  throw new Error(`Killed by the test with ${inspect(args)}`);
});
await import('../../src/crypto/thread-entry.ts');
