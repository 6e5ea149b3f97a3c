import { randomBytes } from 'node:crypto';
import { connect, type Database, listen, listenToAll, type MigrationSet } from '@svc/store';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import { createApp } from './app.ts';
import { CredentialCache, createAuthenticate } from './auth/authenticate.ts';
import { RecipientTokens, UserTokens } from './auth/user-tokens.ts';
import { checkBridgeContracts, placesOn } from './bridge/cctp-bridge.ts';
import { solanaGenesis } from './bridge/cctp-message.ts';
import { SolanaNodes } from './bridge/solana-node.ts';
import { Networks } from './chains/networks.ts';
import { ChainUnavailableError } from './chains/node-fetch.ts';
import { type AccountKey, type Config, isPlayMoneyAlone, type RelayerAccount } from './config.ts';
import { createRemoteSigner, type HeldKey, type SigningKey } from './crypto/crypto.ts';
import { cacheAddresses, startCrypto } from './crypto/pool.ts';
import { foldersOf, openDatabase } from './database.ts';
import { EVENTS_CHANNEL, EventStreams } from './events/events.ts';
import { proofKey } from './gifts/code-lookup.ts';
import { REDEEMS_CHANNEL, RedeemWaiters } from './gifts/redeem.ts';
import { IDEMPOTENCY_CHANNEL, KeyWaiters } from './http/idempotency.ts';
import { AdmissionControl } from './http/limits.ts';
import type { Health } from './http/monitoring.ts';
import { RequestLog } from './http/request-log.ts';
import { startWorkers } from './jobs/workers.ts';
import { bind, type Listener } from './listener.ts';
import { createLog } from './log.ts';
import { createMailers } from './mail/mailers.ts';
import { createDevelopmentLink, pathOfLink } from './members/sessions.ts';
import { type Addresses, createModules, type Modules, type Platform } from './modules.ts';
import {
  credentialsFileOf,
  type Development,
  prepareDevelopment,
  writeCredentials,
} from './organizations/development.ts';
import { reportUnboundKeySets } from './organizations/settings.ts';
import { guardOfTenants, isLoopbackAddress } from './outbound/address-guard.ts';
import { loadServedPages } from './pages.ts';
import type { Fulfilment } from './purchases/provider.ts';
import type { RelayerKey } from './relayer/accounts.ts';
import { loadCatalogue } from './skus/skus.ts';
import { Tracing } from './util/trace.ts';

interface BackgroundDeps {
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
async function startBackground({ config, log, db, tracing }: BackgroundDeps, modules: Modules): Promise<Background> {
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

/** What exists in development only. It is handed in, so that nothing of the service depends on it. */
export interface Sandbox {
  readonly migrations: MigrationSet;
  readonly keySetPath: string;
  readonly bridgePath: string;
  readonly solanaRpcPath: string;
  readonly mailboxPath: string;
  readonly providerPath: string;
  readonly paymentAddress: bigint;
  readonly relayers: readonly RelayerKey[];
  readonly manager: RelayerKey;
  start(db: Database, reportError: (message: string) => void): Promise<SandboxNode>;
}

interface SandboxNode {
  readonly rpcUrl: string;
  mount(app: FastifyInstance, client: SandboxClient, own: { publicUrl: string | undefined; isLocal: boolean }): void;
  stop(): Promise<void>;
}

/** What the sandbox's provider has to know of the service that orders from it. */
interface SandboxClient {
  readonly providerSecret: Uint8Array;
  /** Results are posted to `/{orderId}/result` below it; undefined where this process takes none. */
  readonly ordersUrl: string | undefined;
}

export interface Service {
  readonly role: Config['role'];
  readonly publicUrl: string;
  readonly database: string;
  readonly development: Development | undefined;
  /** Signs in once as the owner of the development organisation. */
  readonly signInUrl: string | undefined;
  readonly credentialsFile: string;
  /** After all log lines so far, in one piece. */
  print(text: string): void;
  stop(): Promise<void>;
}

const SANDBOX_PREFIX = '/sandbox';
const PROVIDER_SECRET_BYTES = 32;

export async function startService(config: Config, sandbox: Sandbox | undefined, logFile?: string): Promise<Service> {
  const { logger: log, ...lines } = createLog(config.logLevel, config.logFormat, logFile);
  const steps = createStopList(log);
  for (const warning of config.warnings) log.warn(warning);
  try {
    const pages = loadServedPages(config, log, lines.flush);
    const database = await openDatabase(config, sandbox?.migrations, log);
    steps.add(() => database.close());
    const { db } = database;
    const tracing = config.tracing && (await Tracing.start(config.tracing));
    steps.add(async () => tracing?.stop());
    const catalogue = await loadCatalogue(db, config.skuCatalogue);
    log.info({ skus: catalogue.count, changed: catalogue.changed }, 'SKU catalogue loaded');
    // A process that only runs jobs has no address to call, so it needs no keys.
    const development = sandbox && config.role !== 'worker' ? await prepareDevelopment(config, db) : undefined;
    const node = await sandbox?.start(db, (message) => log.error(message));
    steps.add(async () => node?.stop());
    const listener = await bind(config);
    steps.add(() => listener.close());
    const addresses = addressesOf(config, listener, sandbox);
    const networks = await openNetworks(config, addresses, sandbox, node, log);
    const solana = await openSolana(config, addresses, sandbox, networks, log);
    const crypto = cacheAddresses(startCrypto({ threads: config.cryptoThreads }));
    steps.add(() => crypto.stop());
    const keys = openKeys(config, steps);
    const credentials = await watchCredentials(db, steps);
    const { waiters, keyWaiters, streams } = await watchForRequests(db, config.role, steps);
    const mailers = createMailers(config.mail, sandbox && addresses.sandbox + sandbox.mailboxPath);
    steps.add(async () => mailers.close());
    const owner = development && { organizationId: development.organizationId, isOperator: !config.chains.starknet };
    const requestLog = config.requestLog && config.role !== 'worker' ? new RequestLog(db, log) : undefined;
    steps.add(async () => requestLog?.stop());
    const providerSecret = randomBytes(PROVIDER_SECRET_BYTES);
    const userTokens = new UserTokens({
      guard: guardOfTenants(config.loopbackEnvironments),
      sandboxKeySet: sandbox && addresses.sandbox + sandbox.keySetPath,
      unboundUntil: config.unboundKeySetsUntil,
    });
    const deploymentKey = await proofKey(db);
    const recipientTokens = new RecipientTokens(deploymentKey);
    const health: Health = { stopping: false, hasUntrustedProxy: false, probes: new Map() };
    const modules = createModules({
      health,
      folders: foldersOf(config),
      config,
      db,
      log,
      networks,
      solana,
      crypto,
      addresses,
      credentials,
      userTokens,
      recipientTokens,
      waiters,
      streams,
      requestLog,
      mailers,
      proofKey: deploymentKey,
      development: isPlayMoneyAlone(config) ? owner : undefined,
      relayers: {
        production: config.relayers.map(keys.ofAccount),
        development: sandbox?.relayers.slice(0, config.sandboxRelayers) ?? [],
      },
      managers: { production: config.manager && keys.ofAccount(config.manager), development: sandbox?.manager },
      draining: { production: config.draining.map(keys.ofAccount), development: [] },
      depositKeys: { production: config.depositKey && keys.of(config.depositKey), development: undefined },
      fulfilment: fulfilmentOf(config, addresses, sandbox, providerSecret),
    });
    await modules.checkNonces();
    const admission = new AdmissionControl({ perSecond: config.sponsoredPerSecond });
    await reportUnboundKeySets(db.lists, log, config.unboundKeySetsUntil);
    const app = await createApp({
      ...modules,
      config,
      db,
      log,
      writeLine: lines.writeLine,
      server: listener.server,
      health,
      admission,
      keyWaiters,
      authenticate: createAuthenticate({
        credentials,
        userTokens,
        recipientTokens,
        db: db.control,
        site: config,
        operatorToken: config.operatorToken,
      }),
      publicUrl: addresses.public,
      pages: await pages,
      requestLog,
      tracing,
    });
    steps.add(() => app.close());
    // A process that only runs jobs takes no results; another one does.
    const ordersUrl = config.role === 'worker' ? undefined : `${addresses.local}/v1/provider/orders`;
    const own = { publicUrl: config.publicUrl, isLocal: config.host === 'localhost' || isLoopbackAddress(config.host) };
    await app.register(async (scope) => node?.mount(scope, { providerSecret, ordersUrl }, own), {
      prefix: SANDBOX_PREFIX,
    });
    await app.ready();
    listener.serve(app);
    log.info(`Server listening at ${listener.localUrl}`);
    // Requests in flight end before the application does.
    steps.add(() => listener.close());
    if (config.role !== 'api') {
      const background = await startBackground({ config, log, db, tracing }, modules);
      steps.add(() => background.stop());
    }
    steps.add(async () => {
      health.stopping = true;
      admission.stop();
      waiters.stop();
      streams.stop();
    });
    const credentialsFile = credentialsFileOf(config);
    if (development?.secretKey !== undefined) {
      await writeCredentials(credentialsFile, {
        baseUrl: `${addresses.public}/v1`,
        publicKey: development.publicKey,
        secretKey: development.secretKey,
        organizationId: development.organizationId,
        rpcUrl: `${addresses.public}${SANDBOX_PREFIX}/starknet/rpc`,
      });
    }
    const link = owner && (await createDevelopmentLink(db, owner));
    return {
      role: config.role,
      publicUrl: addresses.public,
      database: database.description,
      development,
      signInUrl: link && addresses.public + pathOfLink('SIGN_IN', link.token),
      credentialsFile,
      print: lines.print,
      stop: steps.run,
    };
  } catch (error) {
    await steps.run();
    throw error;
  }
}

interface StopList {
  add(step: () => Promise<unknown>): void;
  /** Last added first. A step that fails is logged, and the others still run. */
  run(): Promise<void>;
}

function createStopList(log: Logger): StopList {
  const steps: (() => Promise<unknown>)[] = [];
  return {
    add: (step) => void steps.push(step),
    async run() {
      for (const step of steps.splice(0).reverse()) {
        await step().catch((error: unknown) => log.error({ err: error }, 'shutdown step failed'));
      }
    },
  };
}

function addressesOf(config: Config, listener: Listener, sandbox: Sandbox | undefined): Addresses {
  const local = listener.localUrl;
  const sandboxUrl = sandbox && local + SANDBOX_PREFIX;
  return {
    local,
    public: config.publicUrl ?? local,
    sandbox: sandboxUrl,
    bridge: (environment) =>
      environment === 'production' ? config.bridgeUrl : sandbox && sandboxUrl + sandbox.bridgePath,
  };
}

/** In development the own sandbox delivers, unless another service is named. It stores its orders in the database, so any process can report results. */
function fulfilmentOf(
  config: Config,
  addresses: Addresses,
  sandbox: Sandbox | undefined,
  secret: Uint8Array,
): Fulfilment {
  return (environment) => {
    if (environment === 'production') return config.fulfilment;
    return config.developmentFulfilment ?? (sandbox && { url: addresses.sandbox + sandbox.providerPath, secret });
  };
}

/** A node of a wrong chain and a token unlike its contract stop the start; a node that does not answer may come back. */
async function openNetworks(
  config: Config,
  addresses: Addresses,
  sandbox: Sandbox | undefined,
  node: SandboxNode | undefined,
  log: Logger,
): Promise<Networks> {
  const networks = new Networks(
    config.chains,
    sandbox && {
      url: addresses.local + SANDBOX_PREFIX,
      publicUrl: addresses.public + SANDBOX_PREFIX,
      nodeUrl: node?.rpcUrl,
      paymentAddress: sandbox.paymentAddress,
    },
  );
  const { nodes, unasked } = await networks.check();
  for (const { host, trouble } of nodes) {
    if (trouble !== undefined) log.warn({ host, trouble }, 'chain node unreachable');
  }
  if (unasked.length > 0) log.warn({ tokens: unasked }, 'token decimals not checked');
  if (config.bridgeUrl !== undefined) {
    await checkBridgeContracts(networks.starknet('production')).catch((error: unknown) => {
      if (!(error instanceof ChainUnavailableError)) throw error;
      log.warn({ err: error }, 'bridge contracts not checked');
    });
  }
  return networks;
}

/** Nodes that check what the bridge says. In development the sandbox is one. */
async function openSolana(
  config: Config,
  addresses: Addresses,
  sandbox: Sandbox | undefined,
  networks: Networks,
  log: Logger,
): Promise<Platform['solana']> {
  const { solanaRpcUrls: urls, bridgeUrl } = config;
  const own = sandbox && new SolanaNodes({ urls: [addresses.sandbox + sandbox.solanaRpcPath], genesis: undefined });
  const live = urls && bridgeUrl !== undefined ? liveSolana(urls, networks) : undefined;
  for (const { host, trouble } of (await live?.checkChain()) ?? []) {
    if (trouble !== undefined) log.warn({ host, trouble }, 'Solana node unreachable');
  }
  if (bridgeUrl !== undefined && !live) log.warn('SOLANA_RPC_URLS is not set: mints on Solana are not checked');
  return (environment) => (environment === 'production' ? live : own);
}

function liveSolana(urls: readonly string[], networks: Networks): SolanaNodes {
  const { usdcMint } = placesOn(networks.starknet('production'));
  return new SolanaNodes({ urls, genesis: solanaGenesis[usdcMint] });
}

/** Keys of the settings, and those that the signer holds for them. */
function openKeys(config: Config, steps: StopList) {
  const signer = config.signer && createRemoteSigner(config.signer);
  steps.add(async () => signer?.close());
  const held = (publicKey: bigint): HeldKey => {
    if (!signer) throw new Error('SIGNER_URL must be set.');
    return signer.keyOf(publicKey);
  };
  return {
    of: (key: AccountKey): SigningKey => ('privateKey' in key ? key.privateKey : held(key.publicKey)),
    ofAccount: (account: RelayerAccount): RelayerKey =>
      'privateKey' in account ? account : { address: account.address, held: held(account.publicKey) },
  };
}

async function watchCredentials(db: Database, steps: StopList): Promise<CredentialCache> {
  const credentials = new CredentialCache(db.control, () => listener.connected);
  const clear = () => credentials.clear();
  const listener = await listen(db.url, 'svc_credentials', { onMessage: clear, onConnect: clear });
  steps.add(() => listener.close());
  return credentials;
}

interface Watched {
  readonly waiters: RedeemWaiters;
  readonly keyWaiters: KeyWaiters;
  readonly streams: EventStreams;
}

/** Requests that wait learn in every process of what they wait for: redeems, answers to duplicates, events. */
async function watchForRequests(db: Database, role: Config['role'], steps: StopList): Promise<Watched> {
  const watched = { waiters: new RedeemWaiters(), keyWaiters: new KeyWaiters(), streams: new EventStreams() };
  if (role === 'worker') return watched;
  const channels = {
    [REDEEMS_CHANNEL]: (id: string) => watched.waiters.notify(id),
    [IDEMPOTENCY_CHANNEL]: (id: string) => watched.keyWaiters.notify(id),
    [EVENTS_CHANNEL]: (key: string) => watched.streams.notify(key),
  };
  const onConnect = () => {
    for (const each of Object.values(watched)) each.notifyAll();
  };
  const listener = await listenToAll(db.url, channels, { onConnect });
  steps.add(() => listener.close());
  return watched;
}
