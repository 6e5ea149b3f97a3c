import type { Database } from '@svc/store';
import type { FastifyInstance } from 'fastify';
import { collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { queueStats } from '../jobs/inspect.ts';

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
