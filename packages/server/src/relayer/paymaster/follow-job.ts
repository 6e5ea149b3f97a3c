import type { NewJob } from '../../jobs/job.ts';

export const FOLLOW_TASK = 'follow-paymaster-relay';

export interface FollowPayload {
  readonly relayId: string;
}

export function followJob(relayId: string, inMs: number): NewJob {
  const payload: FollowPayload = { relayId };
  return { task: FOLLOW_TASK, payload, key: relayId, queue: relayId, runAt: new Date(Date.now() + inMs) };
}
