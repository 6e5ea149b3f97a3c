import { timingSafeEqual } from 'node:crypto';
import { statfs } from 'node:fs/promises';
import { ApiError, levelOfWord } from '@svc/protocol';
import type { Database, Reads } from '@svc/store';
import type { FastifyBaseLogger, FastifyInstance, FastifyRequest } from 'fastify';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { queueStats } from '../jobs/job.ts';

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
/** Half of Prometheus' own timeout. */
const GAUGE_TIMEOUT_MS = 5_000;

export function createMetrics(app: FastifyInstance, db: Database, gauges: readonly GaugeSource[]): Metrics {
  const registry = new Registry();
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
  const failures = new Counter({
    name: 'svc_gauge_failures',
    help: 'Reads of a gauge that failed; it shows its last value meanwhile',
    labelNames: ['gauge'],
    registers: [registry],
  });
  for (const source of [...jobGauges(db.lists), ...gauges]) registerGauge(registry, source, failures, app.log);
  const series = new Map<string, Histogram.Internal<'method' | 'route' | 'status'>>();
  /** As many as metrics have lines; the registry would look them up by a name that it puts together anew. */
  const seriesOf = (method: string, route: string, status: string) => {
    const name = `${status} ${method} ${route}`;
    const known = series.get(name) ?? duration.labels({ method, route, status });
    series.set(name, known);
    return known;
  };
  // The route's pattern, not the URL: URLs hold gift codes, and each would be a time series of its own.
  app.addHook('onResponse', (request, reply, done) => {
    const route = request.routeOptions.url ?? 'unknown';
    seriesOf(request.method, route, String(reply.statusCode)).observe(reply.elapsedTime / 1000);
    done();
  });
  return { registry };
}

function jobGauges(lists: Reads): GaugeSource[] {
  const read = shareRead(() => queueStats(lists));
  return [
    {
      name: 'svc_jobs',
      help: 'Jobs of the whole deployment by task and state; failed ones have used up their attempts',
      labelNames: ['task', 'state'],
      read: async () =>
        (await read()).flatMap(({ task, oldestWaitingSeconds: _, ...counts }) =>
          Object.entries(counts).map(([state, value]) => ({ labels: { task, state }, value })),
        ),
    },
    {
      name: 'svc_jobs_oldest_waiting_seconds',
      help: 'For how long the oldest job of a task has been due without having begun',
      labelNames: ['task'],
      read: async () =>
        (await read()).map((stats) => ({ labels: { task: stats.task }, value: stats.oldestWaitingSeconds })),
    },
  ];
}

/** One read for all gauges of a scrape that need the same rows. */
export function shareRead<T>(read: () => Promise<T>): () => Promise<T> {
  let running: Promise<T> | undefined;
  return () => {
    running ??= read().finally(() => {
      running = undefined;
    });
    return running;
  };
}

/** A failing gauge keeps its last value: a gap would silence alarms on it. */
function registerGauge(
  registry: Registry,
  { name, help, labelNames, read }: GaugeSource,
  failures: Counter<'gauge'>,
  log: FastifyBaseLogger,
): void {
  let failing = false;
  new Gauge({
    name,
    help,
    labelNames: [...labelNames],
    registers: [registry],
    async collect() {
      try {
        const values = await within(GAUGE_TIMEOUT_MS, read());
        this.reset();
        for (const { labels, value } of values) this.set(labels, value);
        if (failing) log.info({ gauge: name }, 'gauge read recovered');
        failing = false;
      } catch (error) {
        failures.inc({ gauge: name });
        if (!failing) log.warn({ gauge: name, err: error }, 'gauge read failed');
        failing = true;
      }
    },
  });
}

const READY_TIMEOUT_MS = 2_000;

/** One word each, reported by /readyz. */
export type Checks = Readonly<Record<string, () => Promise<string>>>;

export interface Health {
  stopping: boolean;
  /** A request had X-Forwarded-For although TRUST_PROXY is off: all clients behind that proxy count as one. */
  hasUntrustedProxy: boolean;
  /** Requests that this process sends to its own public address, by token: how many addresses proxies have written. */
  readonly probes: Map<string, number | undefined>;
}

export const PROBE_HEADER = 'x-svc-probe';

export interface OperationsDeps {
  readonly db: Database;
  readonly health: Health;
  readonly metrics: Metrics;
  readonly metricsToken: string | undefined;
  /** Requests may come from elsewhere through a proxy on this machine. */
  readonly isBehindProxy: boolean;
  readonly checks: Checks;
}

export interface Readiness {
  readonly isReady: boolean;
  readonly checks: Readonly<Record<string, string | boolean>>;
}

export async function readReadiness({
  db,
  health,
  checks,
}: Pick<OperationsDeps, 'db' | 'health' | 'checks'>): Promise<Readiness> {
  const [database, others] = await Promise.all([answersInTime(db), readChecks(checks)]);
  const isReady =
    database && !health.stopping && !Object.values(others).some((word) => levelOfWord(word) === 'failing');
  const proxy = health.hasUntrustedProxy ? 'untrusted' : 'ok';
  return {
    isReady,
    checks: { database: database ? 'ok' : 'unreachable', stopping: health.stopping, proxy, ...others },
  };
}

export function registerOperations(app: FastifyInstance, deps: OperationsDeps): void {
  app.get('/healthz', async () => ({ status: 'ok' }));

  app.get('/readyz', async (_, reply) => {
    const { isReady, checks } = await readReadiness(deps);
    reply.code(isReady ? 200 : 503);
    return { status: isReady ? 'ok' : 'unavailable', checks };
  });

  app.get('/metrics', async (request, reply) => {
    requireMetricsAccess(deps, request);
    return reply.type(deps.metrics.registry.contentType).send(await deps.metrics.registry.metrics());
  });
}

function requireMetricsAccess({ metricsToken, isBehindProxy }: OperationsDeps, request: FastifyRequest): void {
  const { headers, raw } = request;
  if (metricsToken !== undefined) {
    if (isBearer(headers.authorization, metricsToken)) return;
    throw new ApiError('missing_credentials', 'Send METRICS_TOKEN as Authorization: Bearer.');
  }
  const isForwarded = headers['x-forwarded-for'] !== undefined || headers.forwarded !== undefined;
  if (isBehindProxy || isForwarded || !isLoopback(raw.socket.remoteAddress)) {
    throw new ApiError('missing_credentials', 'Metrics are for this machine only, until METRICS_TOKEN is set.');
  }
}

const isLoopback = (address = '') => /^(::ffff:)?127\.|^::1$/.test(address);

export function watchForwarding(app: FastifyInstance, health: Health, isTrusted = false): void {
  app.addHook('onRequest', (request, _, done) => {
    if (!isTrusted && !health.hasUntrustedProxy && request.headers['x-forwarded-for'] !== undefined) {
      health.hasUntrustedProxy = true;
      app.log.warn('X-Forwarded-For ignored because TRUST_PROXY is off: clients behind a proxy count as one');
    }
    const probe = request.headers[PROBE_HEADER];
    if (typeof probe === 'string' && health.probes.has(probe)) health.probes.set(probe, forwardedBy(request));
    done();
  });
}

/** One entry for each proxy, where the client sends none. */
function forwardedBy({ headers }: FastifyRequest): number {
  const written = headers['x-forwarded-for'];
  return written === undefined ? 0 : String(written).split(',').length;
}

/** PostgreSQL needs room for several files of 16 MB to go on. */
const FULL_BYTES = 128 * 1024 * 1024;
const LOW_BYTES = 1024 * 1024 * 1024;

export function diskCheck(
  folders: readonly string[],
  freeBytesOf: (folder: string) => Promise<number | undefined> = readFreeBytes,
): () => Promise<string> {
  return async () => {
    const free = (await Promise.all(folders.map(freeBytesOf))).filter((bytes) => bytes !== undefined);
    if (free.some((bytes) => bytes < FULL_BYTES)) return 'full';
    return free.some((bytes) => bytes < LOW_BYTES) ? 'low' : 'ok';
  };
}

const readFreeBytes = async (folder: string): Promise<number | undefined> => (await readDisk(folder))?.freeBytes;

/** Undefined where the folder does not exist: nothing is written there. */
export async function readDisk(folder: string): Promise<{ freeBytes: number; totalBytes: number } | undefined> {
  try {
    const { bavail, blocks, bsize } = await statfs(folder);
    return { freeBytes: bavail * bsize, totalBytes: blocks * bsize };
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}

/** On a connection of its own: a busy pool does not make the process unready. */
function answersInTime(db: Database): Promise<boolean> {
  return within(READY_TIMEOUT_MS, db.probe()).then(
    () => true,
    () => false,
  );
}

async function readChecks(checks: Checks): Promise<Record<string, string>> {
  const read = Object.entries(checks).map(async ([name, check]) => {
    return [name, await within(READY_TIMEOUT_MS, check()).catch(() => 'unknown')] as const;
  });
  return Object.fromEntries(await Promise.all(read));
}

async function within<T>(timeoutMs: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}

function isBearer(header: string | undefined, token: string): boolean {
  const given = Buffer.from(header ?? '');
  const expected = Buffer.from(`Bearer ${token}`);
  return given.length === expected.length && timingSafeEqual(given, expected);
}
