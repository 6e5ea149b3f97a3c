import { timingSafeEqual } from 'node:crypto';
import { ApiError } from '@svc/protocol';
import { type Database, sql } from '@svc/store';
import type { FastifyInstance } from 'fastify';
import { collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { queueStats } from '../jobs/job-store.ts';

/** A figure that a capability knows of itself, by its labels, asked for whenever the metrics are read. */
export interface GaugeSource {
  readonly name: string;
  readonly help: string;
  readonly labelNames: readonly string[];
  read(): Promise<readonly { readonly labels: Record<string, string>; readonly value: number }[]>;
}

export interface Metrics {
  readonly registry: Registry;
}

const BUCKETS_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** Prometheus metrics of one process: its requests by route and status, its database pool, and Node's own. */
export function createMetrics(app: FastifyInstance, db: Database, gauges: readonly GaugeSource[]): Metrics {
  const registry = new Registry();
  // While the database is away its figures are missing, and the others are wanted all the more.
  const jobs = () => queueStats(db).catch(() => []);
  collectDefaultMetrics({ register: registry, prefix: 'svc_' });
  const duration = new Histogram({
    name: 'svc_http_request_duration_seconds',
    help: 'Time from the first byte of a request to the end of its answer',
    labelNames: ['method', 'route', 'status'],
    buckets: BUCKETS_SECONDS,
    registers: [registry],
  });
  new Gauge({
    name: 'svc_database_connections',
    help: 'Connections of the pool by what they are doing; waiting counts requests without one',
    labelNames: ['state'],
    registers: [registry],
    collect() {
      const { pool } = db;
      this.set({ state: 'busy' }, pool.totalCount - pool.idleCount);
      this.set({ state: 'idle' }, pool.idleCount);
      this.set({ state: 'waiting' }, pool.waitingCount);
    },
  });
  new Gauge({
    name: 'svc_jobs',
    help: 'Jobs of the whole deployment by task and state; failed ones have used up their attempts',
    labelNames: ['task', 'state'],
    registers: [registry],
    async collect() {
      this.reset();
      for (const { task, waiting, scheduled, running, failed } of await jobs()) {
        for (const [state, count] of Object.entries({ waiting, scheduled, running, failed }))
          this.set({ task, state }, count);
      }
    },
  });
  new Gauge({
    name: 'svc_jobs_oldest_waiting_seconds',
    help: 'For how long the oldest job of a task has been due without having begun',
    labelNames: ['task'],
    registers: [registry],
    async collect() {
      this.reset();
      for (const { task, oldestWaitingSeconds } of await jobs()) this.set({ task }, oldestWaitingSeconds);
    },
  });
  for (const gauge of gauges) registerGauge(registry, gauge);
  // The route's pattern, never its address: addresses hold gift codes, and each would be a time series of its own.
  app.addHook('onResponse', (request, reply, done) => {
    const route = request.routeOptions.url ?? 'unknown';
    const labels = { method: request.method, route, status: String(reply.statusCode) };
    duration.observe(labels, reply.elapsedTime / 1000);
    done();
  });
  return { registry };
}

function registerGauge(registry: Registry, { name, help, labelNames, read }: GaugeSource): void {
  new Gauge({
    name,
    help,
    labelNames: [...labelNames],
    registers: [registry],
    async collect() {
      this.reset();
      for (const { labels, value } of await read().catch(() => [])) this.set(labels, value);
    },
  });
}

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
  deps: { db: Database; health: Health; metrics: Metrics; metricsToken: string | undefined; checks: Checks },
): void {
  app.get('/healthz', async () => ({ status: 'ok' }));

  app.get('/readyz', async (_, reply) => {
    const [database, others] = await Promise.all([answersInTime(deps.db), readChecks(deps.checks)]);
    const ready = database && !deps.health.stopping;
    reply.code(ready ? 200 : 503);
    return {
      status: ready ? 'ok' : 'unavailable',
      checks: { database: database ? 'ok' : 'unreachable', stopping: deps.health.stopping, ...others },
    };
  });

  app.get('/metrics', async (request, reply) => {
    if (deps.metricsToken !== undefined && !isBearer(request.headers.authorization, deps.metricsToken)) {
      throw new ApiError('missing_credentials', 'Send METRICS_TOKEN as Authorization: Bearer.');
    }
    return reply.type(deps.metrics.registry.contentType).send(await deps.metrics.registry.metrics());
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
