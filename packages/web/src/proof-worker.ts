import type { ProofOfWork } from '@svc/protocol';
import { solveProof } from '@svc/sdk';

addEventListener('message', async ({ data }: MessageEvent<ProofOfWork>) => {
  postMessage(await solveProof(data));
});
