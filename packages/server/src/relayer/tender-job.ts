import type { Environment } from '@svc/protocol';
import { toHex } from '@svc/starknet';
import type { NewJob } from '../jobs/job.ts';
import { tenderTask } from './spelling.ts';

export interface TenderPayload {
  /** The relayer account, as the database spells it. */
  readonly account: string;
}

/** One after the other for each account: two at once would only do the same twice. */
export function tenderJob(environment: Environment, chainId: bigint, account: string, runAt?: Date): NewJob {
  const payload: TenderPayload = { account };
  const queue = `relayer ${toHex(chainId)} ${account}`;
  return { task: tenderTask(environment), payload, key: account, queue, ...(runAt && { runAt }) };
}
