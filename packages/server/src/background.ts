import { connect, type Database } from '@svc/store';
import type { Logger } from 'pino';
import type { Config } from './config.ts';
import { startWorkers } from './jobs/workers.ts';
import type { Modules } from './modules.ts';
import type { Tracing } from './util/trace.ts';

export interface BackgroundDeps {
  readonly config: Config;
  readonly log: Logger;
  readonly db: Database;
  readonly tracing: Tracing | undefined;
}

interface Background {
  stop(): Promise<void>;
}

/** Delivering mostly waits for receivers; each webhook has up to four requests of some kilobytes under way. */
const WEBHOOKS_AT_ONCE = 64;
const DELIVERY_POOL_SIZE = 4;
const DELIVERY_QUEUE_POOL_SIZE = 2;
const DELIVERY_GRACE_MS = 2_000;

/** Webhook receivers may be slow or hang, so deliveries take no worker and no connection from jobs that move money. */
export async function startBackground(
  { config, log, db, tracing }: BackgroundDeps,
  modules: Modules,
): Promise<Background> {
  const { url } = db;
  const jobs = await startWorkers({ url, ...modules.jobs, concurrency: config.workerConcurrency, log, tracing });
  const pool = connect(url, { max: DELIVERY_POOL_SIZE, applicationName: 'svc webhooks' });
  const stopJobs = async () => {
    await jobs.stop();
    await pool.close();
  };
  try {
    const deliveries = await startWorkers({
      url,
      ...modules.deliveries(pool),
      concurrency: WEBHOOKS_AT_ONCE,
      poolSize: DELIVERY_QUEUE_POOL_SIZE,
      // What is cut off is sent again by the next worker.
      graceMs: DELIVERY_GRACE_MS,
      log,
    });
    return {
      stop: async () => {
        await deliveries.stop();
        await stopJobs();
      },
    };
  } catch (error) {
    await stopJobs();
    throw error;
  }
}
