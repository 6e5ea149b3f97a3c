import { randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { connect, type Database, type Db, listen, type MigrationSet, migrate } from '@svc/store';
import { loadPages } from '@svc/web/pages';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import { createApp } from './app.ts';
import { CredentialCache } from './auth/authenticate.ts';
import { UserTokens } from './auth/user-tokens.ts';
import { type OnStop, startDeliveries, startJobs } from './background.ts';
import { checkBridgeContracts } from './bridge/cctp-bridge.ts';
import { Networks, type SandboxPlace } from './chains/networks.ts';
import { ChainUnavailableError } from './chains/node-fetch.ts';
import { explorersOf, type PagesDeps } from './claim-page.ts';
import type { Config, RelayerAccount } from './config.ts';
import { rememberAddresses, startCrypto } from './crypto/pool.ts';
import { openStore, serverMigrations } from './database.ts';
import { readCredentials, writeCredentials } from './dev-credentials.ts';
import { REDEEMS_CHANNEL, RedeemWaiters } from './gifts/redeem.ts';
import { AdmissionControl } from './http/admission.ts';
import type { Health } from './http/monitoring.ts';
import { RateLimiter } from './http/rate-limit.ts';
import { createLog, type Log } from './log.ts';
import { createMailers } from './mail/mailers.ts';
import { type Capabilities, createCapabilities } from './modules.ts';
import { type Development, draftKeys, ensureDevelopment } from './organizations/development.ts';
import { publicOnly } from './outbound/address-guard.ts';
import { createProviders, type Fulfilment } from './purchases/provider.ts';
import { loadCatalogue } from './skus/catalogue.ts';

/** The development parts, handed in from outside so that nothing of the service depends on them. */
export interface Sandbox {
  readonly migrations: MigrationSet;
  readonly keySetPath: string;
  /** Where its attestation service is. */
  readonly bridgePath: string;
  readonly mailboxPath: string;
  /** Where orders of development go. */
  readonly providerPath: string;
  /** Where payments go in development. */
  readonly paymentAddress: bigint;
  /** Who pays for gas in development. */
  readonly relayers: readonly RelayerAccount[];
  /** Who pays gifts out in development. */
  readonly manager: RelayerAccount;
  mount(app: FastifyInstance, db: Database, service: SandboxClient): Promise<{ ownRpcUrl(): string | undefined }>;
}

/** What the sandbox's provider has to know of the service that orders from it. */
export interface SandboxClient {
  /** Both sides sign with it. */
  readonly providerSecret: Uint8Array;
  /** Results are posted to `/{orderId}/result` below it; undefined before it listens, and where it takes none. */
  readonly ordersUrl: () => string | undefined;
}

export interface Service {
  readonly role: Config['role'];
  readonly publicUrl: string;
  readonly database: string;
  readonly development: Development | undefined;
  readonly credentialsFile: string;
  stop(): Promise<void>;
}

const SANDBOX_PREFIX = '/sandbox';
const SWEEP_MS = 50;
const PROVIDER_SECRET_BYTES = 32;

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
  const forPeople = preparePages(config, log);
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
  const address = await run({ config, sandbox, log, db, forPeople, onStop });
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

/** Begun first and waited for last: where the pages have to be built, the database starts at the same time. */
function preparePages(config: Config, log: Log): Promise<PagesDeps | undefined> {
  if (config.role === 'worker') return Promise.resolve(undefined);
  const explorers = explorersOf(config.chains.starknet, config.sandbox);
  const say = (line: string) => {
    log.logger.info(line);
    log.flush();
  };
  const prepared = loadPages(say).then((pages) => ({ pages, explorers }));
  // Whoever waits for it hears of it; until then it is not an accident.
  prepared.catch(() => undefined);
  return prepared;
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

interface Deps {
  readonly config: Config;
  readonly sandbox: Sandbox | undefined;
  readonly log: Log;
  readonly db: Database;
  readonly forPeople: Promise<PagesDeps | undefined>;
  readonly onStop: OnStop;
}

/** How this process and others reach it, and how it reaches the sandbox's node; known once it listens. */
interface Address {
  local: string;
  public: string;
  node: () => string | undefined;
}

/** Requests first, then jobs: those of development reach the sandbox by its address. Answers the address that others see. */
async function run(deps: Deps): Promise<string> {
  const { config, sandbox, log, db, onStop } = deps;
  const address: Address = { local: '', public: '', node: () => undefined };
  const networks = await checkedNetworks(config, log.logger, () => placeOf(sandbox, address));
  const crypto = rememberAddresses(startCrypto({ threads: config.cryptoThreads }));
  onStop(() => crypto.stop());
  const credentials = await watchedCredentials(db, onStop);
  const relayers = {
    production: config.relayers,
    development: sandbox?.relayers.slice(0, config.sandboxRelayers) ?? [],
  };
  const redeemWaiters = await announcedRedeems(deps);
  const mailers = createMailers(config.mail, () => sandbox && address.local + SANDBOX_PREFIX + sandbox.mailboxPath);
  onStop(async () => mailers.close());
  const providerSecret = randomBytes(PROVIDER_SECRET_BYTES);
  const fulfilment = fulfilmentOf(deps, address, providerSecret);
  const capabilities = createCapabilities({
    config,
    db,
    networks,
    crypto,
    relayers,
    managers: { production: config.manager, development: sandbox?.manager },
    bridgeUrl: (environment) =>
      environment === 'production' ? config.bridgeUrl : sandbox && address.local + SANDBOX_PREFIX + sandbox.bridgePath,
    providers: createProviders(fulfilment),
    credentials,
    publicUrl: () => address.public,
    redeemWaiters,
    mailers,
    log: log.logger,
  });
  const health: Health = { stopping: false };
  await listenForRequests({ ...deps, address, credentials, capabilities, health, fulfilment, providerSecret });
  if (config.role !== 'api') {
    await startJobs(deps, capabilities);
    await startDeliveries(deps, capabilities);
  }
  onStop(async () => {
    health.stopping = true;
    redeemWaiters.stop();
  });
  return address.public;
}

/**
 * Development is delivered by this process's own sandbox, with a secret that nobody else has. The sandbox keeps its orders in the
 * database, so that any process may tell their results, to itself.
 */
function fulfilmentOf({ config, sandbox }: Deps, address: Address, secret: Uint8Array): Fulfilment {
  return (environment) => {
    if (environment === 'production') return config.fulfilment;
    return sandbox && { url: address.local + SANDBOX_PREFIX + sandbox.providerPath, secret };
  };
}

function placeOf(sandbox: Sandbox | undefined, address: Address): SandboxPlace | undefined {
  if (!sandbox) return undefined;
  const [url, publicUrl] = [address.local + SANDBOX_PREFIX, address.public + SANDBOX_PREFIX];
  return { url, publicUrl, nodeUrl: address.node(), paymentAddress: sandbox.paymentAddress };
}

interface Listening extends Deps {
  readonly address: Address;
  readonly credentials: CredentialCache;
  readonly capabilities: Capabilities;
  readonly health: Health;
  readonly fulfilment: Fulfilment;
  readonly providerSecret: Uint8Array;
}

async function listenForRequests(deps: Listening): Promise<void> {
  const { config, sandbox, log, db, forPeople, onStop, address, credentials, capabilities, health } = deps;
  const userTokens = new UserTokens({
    guard: publicOnly({ allowLoopback: config.allowLoopbackUrls }),
    sandboxKeySet: () => sandbox && address.local + SANDBOX_PREFIX + sandbox.keySetPath,
  });
  const http = await createApp({
    db,
    authenticator: { credentials, userTokens },
    rateLimiter: new RateLimiter(db, config.requestsPerMinute),
    clientLimiter: new RateLimiter(db, config.claimsPerMinute),
    governor: new AdmissionControl({ perSecond: config.sponsoredPerSecond }),
    handlers: capabilities.handlers,
    gauges: capabilities.gauges,
    checks: capabilities.checks,
    log,
    health,
    trustProxy: config.trustProxy,
    metricsToken: config.metricsToken,
    publicUrl: () => address.public,
    fulfilment: deps.fulfilment,
    forPeople: await forPeople,
  });
  if (sandbox) {
    const mount = async (app: FastifyInstance) => {
      const mounted = await sandbox.mount(app, db, sandboxClient(deps));
      address.node = () => mounted.ownRpcUrl();
    };
    await http.register(mount, { prefix: SANDBOX_PREFIX });
  }
  await http.listen({ host: config.host, port: config.port });
  onStop(() => closeGently(http));
  const bound = http.server.address();
  const port = bound !== null && typeof bound === 'object' ? bound.port : config.port;
  address.local = `http://${reachable(config.host)}:${port}`;
  address.public = config.publicUrl ?? address.local;
}

/** A process that only runs jobs has no interface to tell results to; another one does it. */
function sandboxClient({ config, address, providerSecret }: Listening): SandboxClient {
  const takesResults = config.role !== 'worker';
  return {
    providerSecret,
    ordersUrl: () => (takesResults && address.local !== '' ? `${address.local}/v1/provider/orders` : undefined),
  };
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
async function watchedCredentials(db: Database, onStop: OnStop): Promise<CredentialCache> {
  const credentials = new CredentialCache(db, () => listener.connected);
  const forget = () => credentials.forget();
  const listener = await listen(db.url, 'svc_credentials', { onMessage: forget, onConnect: forget });
  onStop(() => listener.close());
  return credentials;
}

/** Who waits for a redeem hears of its end wherever it was paid. */
async function announcedRedeems({ config, db, onStop }: Deps): Promise<RedeemWaiters> {
  const waiters = new RedeemWaiters();
  if (config.role === 'worker') return waiters;
  const listener = await listen(db.url, REDEEMS_CHANNEL, {
    onMessage: (id) => waiters.ring(id),
    onConnect: () => waiters.ringAll(),
  });
  onStop(() => listener.close());
  return waiters;
}

/** A node of a wrong chain and a token unlike its contract stop the start; a node that does not answer may come back. */
export async function checkedNetworks(
  config: Config,
  log: Logger,
  sandbox: ConstructorParameters<typeof Networks>[1],
): Promise<Networks> {
  const networks = new Networks(config.chains, sandbox);
  const { nodes, unasked } = await networks.check();
  for (const { host, trouble } of nodes) {
    if (trouble !== undefined) log.warn({ host, trouble }, 'a chain node does not answer');
  }
  if (unasked.length > 0) log.warn({ tokens: unasked }, 'the decimals of some tokens could not be checked');
  if (config.bridgeUrl !== undefined) {
    await checkBridgeContracts(networks.starknet('production')).catch((error: unknown) => {
      if (!(error instanceof ChainUnavailableError)) throw error;
      log.warn("the bridge's contracts could not be looked for");
    });
  }
  return networks;
}
