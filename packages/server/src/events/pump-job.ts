import type { Db } from '@svc/store';
import { enqueueMany } from '../jobs/enqueue.ts';

export const PUMP_TASK = 'deliver-webhooks';
/** With pauses of an hour that is days; whoever looks after webhooks begins anew after that. */
const MAX_ATTEMPTS = 100;

/** Has the due deliveries of webhooks sent, one process at a time for each; at once, or at the given time. */
export async function enqueuePumps(tx: Db, webhookIds: readonly string[], runAt?: Date): Promise<void> {
  const jobs = webhookIds.map((id) => ({
    task: PUMP_TASK,
    key: id,
    payload: { id },
    queue: `webhook-${id}`,
    maxAttempts: MAX_ATTEMPTS,
    ...(runAt && { runAt }),
  }));
  await enqueueMany(tx, jobs);
}
