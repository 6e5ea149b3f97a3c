import { rm } from 'node:fs/promises';
import path from 'node:path';
import { connect, type Database, type Db, listen, type MigrationSet, migrate } from '@svc/store';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import { createApp } from './app.ts';
import type { Config } from './config.ts';
import { readCredentials, writeCredentials } from './credentials-file.ts';
import { fixedRates } from './exchanges/fixed-rates.ts';
import { RateBook } from './exchanges/rate-book.ts';
import { exchangeHandlers } from './exchanges/routes.ts';
import { createExchange, type Exchange } from './exchanges/service.ts';
import { sourcesInOrder } from './exchanges/sources/in-order.ts';
import { CredentialCache } from './http/credential-cache.ts';
import { RateLimiter } from './http/rate-limit.ts';
import { UserTokens } from './http/user-token.ts';
import { startWorkers } from './jobs/workers.ts';
import { createLog, type Log } from './log.ts';
import { serverMigrations } from './migrations.ts';
import { openStore } from './open-store.ts';
import { type Development, draftKeys, ensureDevelopment } from './organizations/development.ts';
import { organizationHandlers } from './organizations/routes.ts';
import { publicOnly } from './outbound/address-guard.ts';
import { loadCatalogue } from './skus/catalogue.ts';
import { skuHandlers } from './skus/routes.ts';
import { upkeep, upkeepHandlers } from './upkeep.ts';

/** The development parts, handed in from outside so that nothing of the service depends on them. */
export interface Sandbox {
  readonly migrations: MigrationSet;
  readonly keySetPath: string;
  mount(app: FastifyInstance, db: Database): Promise<void>;
}

export interface Service {
  readonly role: Config['role'];
  readonly publicUrl: string;
  readonly database: string;
  readonly development: Development | undefined;
  readonly credentialsFile: string;
  stop(): Promise<void>;
}

type OnStop = (step: () => Promise<unknown>) => void;

const SANDBOX_PREFIX = '/sandbox';
const SWEEP_MS = 50;

/** Starts everything in order: database, application, workers. `stop` undoes it in the opposite order. */
export async function startService(config: Config, sandbox: Sandbox | undefined): Promise<Service> {
  const log = createLog(config.logLevel);
  const steps: (() => Promise<unknown>)[] = [];
  const stop = async () => {
    for (const step of steps.splice(0).reverse()) {
      await step().catch((error: unknown) => log.logger.error({ err: error }, 'a part did not stop cleanly'));
    }
  };
  try {
    const started = await start(config, sandbox, log, (step) => steps.push(step));
    log.flush();
    return { ...started, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function start(
  config: Config,
  sandbox: Sandbox | undefined,
  log: Log,
  onStop: OnStop,
): Promise<Omit<Service, 'stop'>> {
  const store = await openStore(config, (line) => log.logger.info(line));
  onStop(() => store.close());
  await migrate(store.url, [serverMigrations, ...(sandbox ? [sandbox.migrations] : [])]);
  const db = connect(store.url, { max: config.databasePoolSize });
  onStop(() => db.close());
  const catalogue = await loadCatalogue(db, config.skuCatalogue);
  log.logger.info({ skus: catalogue.count, changed: catalogue.changed }, 'SKU catalogue loaded');

  const credentialsFile = path.join(config.dataDir, 'credentials.json');
  // A process that only runs jobs has no address for anyone to call.
  const development =
    sandbox && config.role !== 'worker' ? await prepareDevelopment(config, db, credentialsFile) : undefined;
  if (config.role !== 'api') await startJobs(config, log.logger, db, store.url, onStop);
  const address = await listenForRequests(config, sandbox, log, db, store.url, onStop);
  if (development?.secretKey !== undefined) {
    await writeCredentials(credentialsFile, {
      baseUrl: `${address}/v1`,
      publicKey: development.publicKey,
      secretKey: development.secretKey,
      organizationId: development.organizationId,
      rpcUrl: `${address}${SANDBOX_PREFIX}/starknet/rpc`,
    });
  }
  return { role: config.role, publicUrl: address, database: store.description, development, credentialsFile };
}

/** Keys are written down before the database knows them: a start that fails in between loses none. */
async function prepareDevelopment(config: Config, db: Db, credentialsFile: string): Promise<Development> {
  const kept = { ...draftKeys(), ...(await readCredentials(credentialsFile)) };
  await writeCredentials(credentialsFile, kept);
  const development = await ensureDevelopment(db, {
    wanted: { publicKey: config.developmentPublicKey, secretKey: config.developmentSecretKey },
    kept,
    replaceLostSecret: config.databaseUrl === undefined,
  });
  if (development.secretKey === undefined) await rm(credentialsFile, { force: true });
  return development;
}

async function startJobs(config: Config, log: Logger, db: Db, databaseUrl: string, onStop: OnStop): Promise<void> {
  const workers = await startWorkers({
    url: databaseUrl,
    handlers: upkeepHandlers(db),
    recurring: upkeep,
    concurrency: config.workerConcurrency,
    log,
  });
  onStop(() => workers.stop());
}

/** Answers the address that others see. */
async function listenForRequests(
  config: Config,
  sandbox: Sandbox | undefined,
  log: Log,
  db: Database,
  databaseUrl: string,
  onStop: OnStop,
): Promise<string> {
  const address = { local: '', public: '' };
  const health = { stopping: false };
  const userTokens = new UserTokens({
    guard: publicOnly({ allowLoopback: config.allowLoopbackUrls }),
    sandboxKeySet: () => sandbox && address.local + SANDBOX_PREFIX + sandbox.keySetPath,
  });
  const credentials = await watchedCredentials(databaseUrl, db, onStop);
  const http = await createApp({
    db,
    authenticator: { credentials, userTokens },
    rateLimiter: new RateLimiter(db, config.requestsPerMinute),
    handlers: {
      ...skuHandlers(db),
      ...exchangeHandlers(createRates(config, db, log.logger)),
      ...organizationHandlers(db, credentials),
    },
    log,
    health,
    trustProxy: config.trustProxy,
    metricsToken: config.metricsToken,
    publicUrl: () => address.public,
    servesInterface: config.role !== 'worker',
  });
  if (sandbox && config.role !== 'worker')
    await http.register((app) => sandbox.mount(app, db), { prefix: SANDBOX_PREFIX });
  await http.listen({ host: config.host, port: config.port });
  const bound = http.server.address();
  const port = bound !== null && typeof bound === 'object' ? bound.port : config.port;
  onStop(async () => {
    health.stopping = true;
    await closeGently(http);
  });
  address.local = `http://${reachable(config.host)}:${port}`;
  address.public = config.publicUrl ?? address.local;
  return address.public;
}

/** Where this machine reaches a server that listens on the given host. */
function reachable(host: string): string {
  if (host === '0.0.0.0' || host === '::' || host === 'localhost') return '127.0.0.1';
  return host.includes(':') ? `[${host}]` : host;
}

/** Lets requests in flight finish; connections that only wait for a next request are closed as soon as they are idle. */
async function closeGently(http: FastifyInstance): Promise<void> {
  const sweep = setInterval(() => http.server.closeIdleConnections(), SWEEP_MS);
  await http.close().finally(() => clearInterval(sweep));
}

/** Keys and settings in memory, forgotten whenever the database announces a change. */
async function watchedCredentials(databaseUrl: string, db: Db, onStop: OnStop): Promise<CredentialCache> {
  const credentials = new CredentialCache(db, () => listener.connected);
  const forget = () => credentials.forget();
  const listener = await listen(databaseUrl, 'svc_credentials', { onMessage: forget, onConnect: forget });
  onStop(() => listener.close());
  return credentials;
}

function createRates(config: Config, db: Db, log: Logger): Exchange {
  const { url, token, banxicoToken, developmentMxnPerUsd } = config.rates;
  const sources = sourcesInOrder({ operatorUrl: url, operatorToken: token, banxicoToken });
  return createExchange({
    production: new RateBook({ db, sources, now: Date.now, log: (failure) => log.warn(failure, 'rate source failed') }),
    development: fixedRates(developmentMxnPerUsd),
  });
}
