import { connect, type Database } from '@svc/store';
import type { Config } from './config.ts';
import { startWorkers } from './jobs/workers.ts';
import type { Log } from './log.ts';
import type { Capabilities } from './modules.ts';

/** Takes a step that is taken back when the service stops, the last first. */
export type OnStop = (step: () => Promise<unknown>) => void;

export interface BackgroundDeps {
  readonly config: Config;
  readonly log: Log;
  readonly db: Database;
  readonly onStop: OnStop;
}

/** Sending waits for others nearly all of its time; each webhook has up to four requests under way, of some kilobytes. */
const WEBHOOKS_AT_ONCE = 64;
const DELIVERY_POOL_SIZE = 4;
const DELIVERY_QUEUE_POOL_SIZE = 2;
const DELIVERY_GRACE_MS = 2_000;

/** Jobs of the queue: what the service does by itself. */
export async function startJobs({ config, log, db, onStop }: BackgroundDeps, { jobs }: Capabilities): Promise<void> {
  const workers = await startWorkers({
    url: db.url,
    ...jobs,
    concurrency: config.workerConcurrency,
    log: log.logger,
  });
  onStop(() => workers.stop());
}

/** Receivers of webhooks may be slow or hang: they take no place and no connection from jobs that move money. */
export async function startDeliveries(
  { log, db, onStop }: BackgroundDeps,
  { deliveries }: Capabilities,
): Promise<void> {
  const pool = connect(db.url, { max: DELIVERY_POOL_SIZE, applicationName: 'svc webhooks' });
  onStop(() => pool.close());
  const workers = await startWorkers({
    url: db.url,
    ...deliveries(pool),
    concurrency: WEBHOOKS_AT_ONCE,
    poolSize: DELIVERY_QUEUE_POOL_SIZE,
    // What is cut off is sent again by whoever comes next.
    graceMs: DELIVERY_GRACE_MS,
    log: log.logger,
  });
  onStop(() => workers.stop());
}
