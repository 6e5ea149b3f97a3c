import { timingSafeEqual } from 'node:crypto';
import { ApiError } from '@svc/protocol';
import type { Database } from '@svc/store';
import { sql } from '@svc/store';
import type { FastifyInstance } from 'fastify';
import type { Metrics } from './metrics.ts';

/** A database that does not answer a trivial question in this time is not one to send requests to. */
const READY_TIMEOUT_MS = 2_000;

/** What is worth knowing but no reason to send requests elsewhere, by name: a word or two each. */
export type Checks = Readonly<Record<string, () => Promise<string>>>;

export interface Health {
  /** Set once the process is on its way out. */
  stopping: boolean;
}

/** What whoever runs the service looks at: is it alive, can it take requests, how is it doing. */
export function registerOperations(
  app: FastifyInstance,
  parts: { db: Database; health: Health; metrics: Metrics; metricsToken: string | undefined; checks: Checks },
): void {
  app.get('/healthz', async () => ({ status: 'ok' }));

  app.get('/readyz', async (_, reply) => {
    const [database, others] = await Promise.all([answersInTime(parts.db), readChecks(parts.checks)]);
    const ready = database && !parts.health.stopping;
    reply.code(ready ? 200 : 503);
    return {
      status: ready ? 'ok' : 'unavailable',
      checks: { database: database ? 'ok' : 'unreachable', stopping: parts.health.stopping, ...others },
    };
  });

  app.get('/metrics', async (request, reply) => {
    if (parts.metricsToken !== undefined && !isBearer(request.headers.authorization, parts.metricsToken)) {
      throw new ApiError('missing_credentials', 'Send METRICS_TOKEN as Authorization: Bearer.');
    }
    return reply.type(parts.metrics.registry.contentType).send(await parts.metrics.registry.metrics());
  });
}

function answersInTime(db: Database): Promise<boolean> {
  const answer = db.run(sql`select 1`).then(() => true);
  return inTime(answer, false);
}

async function readChecks(checks: Checks): Promise<Record<string, string>> {
  const read = Object.entries(checks).map(async ([name, check]) => [name, await inTime(check(), 'unknown')] as const);
  return Object.fromEntries(await Promise.all(read));
}

/** What is asked, or the other thing when it fails or takes too long. */
async function inTime<T>(asked: Promise<T>, otherwise: T): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<T>((resolve) => {
    timer = setTimeout(resolve, READY_TIMEOUT_MS, otherwise);
  });
  return Promise.race([asked.catch(() => otherwise), tooLate]).finally(() => clearTimeout(timer));
}

function isBearer(header: string | undefined, token: string): boolean {
  const given = Buffer.from(header ?? '');
  const wanted = Buffer.from(`Bearer ${token}`);
  return given.length === wanted.length && timingSafeEqual(given, wanted);
}
