// The script of a worker that makes proofs of private balances; see `proofWorker` of the client's options.
import { answerJob } from './prover.ts';

type Job = Parameters<typeof answerJob>[0];

interface WorkerScope {
  addEventListener?(type: 'message', listener: (event: { readonly data: Job }) => void): void;
  readonly process?: {
    getBuiltinModule?(name: string): { readonly parentPort?: ParentPort | null } | undefined;
  };
}

interface ParentPort {
  on(type: 'message', listener: (job: Job) => void): void;
}

const scope = globalThis as unknown as WorkerScope;
/** Of Node's `worker_threads`; browsers have none. */
const parentPort = scope.process?.getBuiltinModule?.('node:worker_threads')?.parentPort;

if (parentPort) parentPort.on('message', (job) => void answerJob(job));
else scope.addEventListener?.('message', ({ data }) => void answerJob(data));
