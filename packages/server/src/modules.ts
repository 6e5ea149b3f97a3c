import { type Environment, formatDecimal } from '@svc/protocol';
import type { Database, Db } from '@svc/store';
import type { Logger } from 'pino';
import { operatorOf } from './audit-log.ts';
import { checkToken } from './auth/check-token.ts';
import type { RecipientTokens, UserTokens } from './auth/user-tokens.ts';
import type { Bridge } from './bridge/bridge.ts';
import { checkBridgeContracts, createCctpBridge } from './bridge/cctp-bridge.ts';
import type { SolanaNodes } from './bridge/solana-node.ts';
import * as chains from './chains/module.ts';
import type { Networks } from './chains/networks.ts';
import { nodeUse } from './chains/node-fetch.ts';
import type { Config } from './config.ts';
import type { CryptoPool } from './crypto/pool.ts';
import * as deposits from './deposits/module.ts';
import type { EventStreams } from './events/events.ts';
import * as events from './events/module.ts';
import { createExchange, type Exchange, fixedRates, usdToCentavos } from './exchanges/exchange.ts';
import * as exchanges from './exchanges/module.ts';
import { RateBook } from './exchanges/rate-book.ts';
import { sourcesInOrder } from './exchanges/rate-sources.ts';
import { ClaimProofs, CodeLookup } from './gifts/code-lookup.ts';
import { EvidenceLinks } from './gifts/evidence.ts';
import * as gifts from './gifts/module.ts';
import { giftImporters, namedGiftPayment } from './gifts/operator.ts';
import { PayoutWaker } from './gifts/payouts.ts';
import type { RedeemWaiters } from './gifts/redeem.ts';
import type { Handlers } from './http/call.ts';
import { deleteOldKeys } from './http/idempotency.ts';
import { deleteEndedWindows } from './http/limits.ts';
import { type Jobs, type Module, mergeJobs, mergeUnique, processGauge } from './http/module.ts';
import { type Checks, diskCheck, type GaugeSource, type Health, readReadiness } from './http/monitoring.ts';
import type { RequestLog } from './http/request-log.ts';
import * as indexer from './indexer/module.ts';
import { queueGiftMails } from './mail/mail.ts';
import type { Mailers } from './mail/mailers.ts';
import * as mail from './mail/module.ts';
import { inviteMember } from './members/members.ts';
import * as members from './members/module.ts';
import { passkeySiteOf } from './members/passkeys.ts';
import type { DevelopmentOwner } from './members/sessions.ts';
import * as operator from './operator/module.ts';
import * as organizations from './organizations/module.ts';
import type { Organizations } from './organizations/organization-store.ts';
import { findBrand } from './organizations/settings.ts';
import * as purchases from './purchases/module.ts';
import { namedRefund, refundImporter } from './purchases/operator.ts';
import { createProviders } from './purchases/provider.ts';
import * as recipients from './recipients/module.ts';
import { RecipientChallenges } from './recipients/sign-in.ts';
import { type DefaultLimits, NO_LIMITS } from './relayer/budget.ts';
import * as relayer from './relayer/module.ts';
import type { OutcomeHandlers } from './relayer/outcome.ts';
import type { ReconcileDeps } from './relayer/reconcile-accounts.ts';
import * as reports from './reports/module.ts';
import * as skus from './skus/module.ts';
import * as solanaTransfers from './solana-transfers/module.ts';
import { wellKnownName } from './transactions/decode.ts';
import * as transactions from './transactions/module.ts';
import * as treasuries from './treasuries/module.ts';
import * as wallets from './wallets/module.ts';

/** Without a slash at the end. */
export interface Addresses {
  readonly local: string;
  readonly public: string;
  readonly sandbox: string | undefined;
  /** The attestation service of the bridge to Solana; undefined where there is no bridge. */
  readonly bridge: (environment: Environment) => string | undefined;
}

/** What every module may build on: it exists before any of them. */
export interface Platform
  extends Pick<relayer.RelayerModuleDeps, 'relayers' | 'managers' | 'draining' | 'depositKeys'>,
    Pick<purchases.PurchaseModuleDeps, 'fulfilment'> {
  readonly config: Config;
  readonly db: Database;
  readonly log: Logger;
  readonly networks: Networks;
  readonly solana: (environment: Environment) => SolanaNodes | undefined;
  readonly crypto: CryptoPool;
  readonly addresses: Addresses;
  readonly credentials: Organizations & { clear(): void };
  readonly userTokens: UserTokens;
  readonly recipientTokens: RecipientTokens;
  readonly waiters: RedeemWaiters;
  readonly streams: EventStreams;
  readonly requestLog: RequestLog | undefined;
  readonly mailers: Mailers;
  readonly health: Health;
  /** Where this process writes. */
  readonly folders: readonly string[];
  /** Undefined outside the embedded default. */
  readonly development: DevelopmentOwner | undefined;
  /** The same in all processes: each checks challenges that another issued. */
  readonly proofKey: Uint8Array;
}

export interface Modules {
  readonly handlers: Handlers;
  readonly jobs: Jobs;
  /** Sending of webhooks, on workers and a pool of its own. */
  readonly deliveries: (db: Database) => Jobs;
  readonly gauges: readonly GaugeSource[];
  readonly checks: Checks;
  readonly routes: readonly NonNullable<Module['routes']>[];
  readonly checkNonces: () => Promise<void>;
}

/** In the order of the layers: every dependency is a value that exists already. */
export function createModules(platform: Platform): Modules {
  const { config, db, log, networks, crypto, addresses, fulfilment } = platform;
  const outcomes = mergeUnique('relay outcome', [
    wallets.relayOutcomes(),
    transactions.relayOutcomes(solanaTransfers.relayOutcomes({ networks, log })),
    gifts.relayOutcomes({ networks, log }),
    purchases.relayOutcomes({ networks, log }),
    deposits.relayOutcomes(),
    treasuries.relayOutcomes(addresses.public),
  ]) as OutcomeHandlers;
  const onHash = [
    wallets.setRelayTransactionHash,
    transactions.setRelayTransactionHash,
    solanaTransfers.setRelayTransactionHash,
  ];
  const relays = relayer.create({
    ...platform,
    paymaster: config.paymaster,
    maxFeeFri: config.maxFee,
    sponsorLimits: sponsorLimitsOf(config),
    outcomes,
    onHash,
  });
  const { sponsor, payer } = relays;
  const signing = { db, networks, crypto, sponsor, log, callers: config.paymaster ? ('any' as const) : undefined };
  const environments = networks.environments();
  const paying = {
    payer,
    manager: payer.manager,
    environments: environments.filter((each) => platform.managers[each]),
  };
  const crediting = {
    ...{ db, networks, crypto, payer, log },
    confirmations: (each: Environment) => (each === 'production' ? config.depositConfirmations : 1),
  };
  const bridge = createCctpBridge({ networks, url: addresses.bridge, solana: platform.solana });
  const providers = createProviders(fulfilment);
  const exchange = openExchange(config, db, log);
  const { loopbackEnvironments } = config;
  const proofs = new ClaimProofs(platform.proofKey);
  const links = new EvidenceLinks(platform.proofKey);
  const passkeySite = passkeySiteOf(config.publicUrl, addresses.local);
  const mxnPerUsd = quickRate(exchange);
  const claiming = {
    ...paying,
    ...{ db, networks, log, bridge, proofs, waiters: platform.waiters, publicUrl: addresses.public },
    payouts: new PayoutWaker(db, log),
    canBridge: (each: Environment) => bridge.serves(each),
    codes: new CodeLookup({ db: db.control, limits: config.unknownCodes, proofs, log }),
    pesos: async (each: Environment, amount: bigint) => {
      const rate = await mxnPerUsd(each);
      return rate === undefined ? undefined : formatDecimal(usdToCentavos(amount, rate), CENTAVO_DECIMALS);
    },
  };

  const modules = {
    chains: chains.create({ networks }),
    organizations: organizations.create({
      db,
      log,
      unboundKeySetsUntil: config.unboundKeySetsUntil,
      loopbackEnvironments,
      credentials: platform.credentials,
      depositAddress: deposits.depositAddressReader(crediting),
      checkToken: (token, settings) => checkToken(platform.userTokens, token, settings),
      publicUrl: addresses.public,
    }),
    mail: mail.create({
      ...{ db, log, mailers: platform.mailers, dailyMails: config.dailyMails },
      brandOf: (owner) => findBrand(db.reads, addresses.public, owner),
    }),
    members: members.create({
      db,
      credentials: platform.credentials,
      publicUrl: addresses.public,
      mailEnvironment: mailEnvironmentOf(config),
      isSecure: addresses.public.startsWith('https:'),
      passkeySite,
      isConfigured: (each) => environments.includes(each),
      development: platform.development,
    }),
    events: events.create({ db, loopbackEnvironments, streams: platform.streams }),
    relays,
    wallets: wallets.create({ ...signing, nameOfFunction: wellKnownName }),
    transactions: transactions.create(signing),
    solanaTransfers: solanaTransfers.create({ ...signing, bridge }),
    indexer: indexer.create({ db, networks, log, environments, watcher: deposits.depositWatcher(crediting) }),
    deposits: deposits.create({ ...crediting, sponsor, environments: paying.environments }),
    treasuries: treasuries.create({ ...{ db, networks, crypto, sponsor, environments }, publicUrl: addresses.public }),
    skus: skus.create({ db }),
    exchanges: exchanges.create({ exchange }),
    gifts: gifts.create({
      ...claiming,
      queueMails: (tx, mails) =>
        queueGiftMails(tx, mails, mails[0]?.environment === 'production' ? config.dailyMails : undefined, new Date()),
      organizations: platform.credentials,
      gas: config.giftGas,
      chosenCodesPerMinute: config.chosenCodesPerMinute,
      links,
    }),
    recipients: recipients.create({
      ...{ db, networks, passkeySite, mxnPerUsd, claims: claiming, wallets: signing },
      tokens: platform.recipientTokens,
      challenges: new RecipientChallenges(platform.proofKey),
      waiters: platform.waiters,
      publicUrl: addresses.public,
    }),
    purchases: purchases.create({
      ...paying,
      db,
      networks,
      log,
      exchange,
      fulfilment,
      providers,
    }),
    reports: reports.create({ db, requestLog: platform.requestLog, loggedRequests: config.loggedRequests }),
  };
  const all: readonly Module[] = Object.values(modules);
  const checks: Checks = {
    ...mergeUnique(
      'readiness check',
      all.map(({ checks = {} }) => checks),
    ),
    disk: diskCheck(platform.folders),
  };
  const operating = operator.create({
    ...platform,
    role: config.role,
    readiness: () => readReadiness({ db, health: platform.health, checks }),
    reconciling: reconciling({ db, networks, outcomes }),
    sponsorLimits: sponsorLimitsOf(config),
    surroundings: {
      publicUrl: config.publicUrl,
      trustProxy: config.trustProxy,
      probes: platform.health.probes,
      mail: { host: config.mail.smtp?.host, verify: platform.mailers.of('production')?.verify },
      askBridge: config.bridgeUrl === undefined ? undefined : () => askBridge(networks, bridge),
      checkSolana: checkerOf(platform.solana('production')),
      fulfilment: { url: config.fulfilment?.url, provider: providers('production') },
      deliveries: () => events.deliveryBacklog(db.lists),
    },
    inviteOwner: async (tx, { organizationId, email, operator }) => {
      const mails = { publicUrl: addresses.public, mailEnvironment: mailEnvironmentOf(config) };
      const actor = operatorOf(organizationId, 'production', operator);
      const { invitationUrl } = await inviteMember(tx, mails, actor, { email, role: 'OWNER' });
      return invitationUrl ?? null;
    },
  });
  return {
    handlers: {
      ...modules.chains.handlers,
      ...modules.organizations.handlers,
      ...modules.members.handlers,
      ...modules.events.handlers,
      ...modules.relays.handlers,
      ...modules.wallets.handlers,
      ...modules.transactions.handlers,
      ...modules.solanaTransfers.handlers,
      ...modules.indexer.handlers,
      ...modules.deposits.handlers,
      ...modules.treasuries.handlers,
      ...modules.skus.handlers,
      ...modules.exchanges.handlers,
      ...modules.gifts.handlers,
      ...modules.recipients.handlers,
      ...modules.purchases.handlers,
      ...modules.reports.handlers,
      ...operating.handlers,
    } satisfies Handlers,
    jobs: mergeJobs([maintenance(db), ...all.flatMap(({ jobs = [] }) => jobs)]),
    deliveries: (pool) => events.deliveryJobs({ db: pool, log, loopbackEnvironments }),
    gauges: [...all.flatMap(({ gauges = [] }) => gauges), ...processGauges(crypto)],
    checks,
    routes: all.flatMap(({ routes }) => (routes ? [routes] : [])),
    checkNonces: relays.checkNonces,
  };
}

const checkerOf = (nodes: SolanaNodes | undefined) => nodes && (() => nodes.checkChain());

/** Its contracts on Starknet, and its service. */
async function askBridge(networks: Networks, bridge: Bridge): Promise<void> {
  await Promise.all([
    checkBridgeContracts(networks.starknet('production')),
    bridge.fee('production', 1_000_000n, false),
  ]);
}

/** What `reconcile` needs of the capabilities whose payments it imports. */
export const reconciling = (deps: Pick<ReconcileDeps, 'db' | 'networks' | 'outcomes'>): ReconcileDeps => ({
  ...deps,
  importers: { ...giftImporters, refund: refundImporter },
  named: [namedGiftPayment, namedRefund],
});

/** The sandbox's gas is worth nothing. */
export const sponsorLimitsOf =
  ({ sponsorLimits }: Pick<Config, 'sponsorLimits'>): DefaultLimits =>
  (environment) =>
    environment === 'production' ? sponsorLimits : NO_LIMITS;

/** Links to sign in never reach the sandbox's open mailbox where live money is. */
export function mailEnvironmentOf({ mail, sandbox, chains }: Config): Environment | undefined {
  if (mail.smtp) return 'production';
  return sandbox && !chains.starknet ? 'development' : undefined;
}

function openExchange(config: Config, db: Db, log: Logger): Exchange {
  const { url, token, banxicoToken, developmentMxnPerUsd } = config.rates;
  const sources = sourcesInOrder({ operatorUrl: url, operatorToken: token, banxicoToken });
  return createExchange({
    production: new RateBook({ db, sources, now: Date.now, log: (failure) => log.warn(failure, 'rate source failed') }),
    development: fixedRates(developmentMxnPerUsd),
  });
}

const CENTAVO_DECIMALS = 2;
/** Pages show pesos beside dollars; they do not wait for them. */
const RATE_WAIT_MS = 1_000;

const quickRate =
  (exchange: Exchange) =>
  (environment: Environment): Promise<bigint | undefined> => {
    const waited = new Promise<undefined>((resolve) => {
      setTimeout(() => resolve(undefined), RATE_WAIT_MS).unref();
    });
    return Promise.race([exchange.mxnPerUsd(environment).catch(() => undefined), waited]);
  };

/** Each job runs on one replica. */
function maintenance(db: Db): Jobs {
  return {
    handlers: {
      'forget-idempotency-keys': async () => void (await deleteOldKeys(db)),
      'forget-rate-windows': async () => void (await deleteEndedWindows(db)),
    },
    recurring: [
      { task: 'forget-idempotency-keys', everySeconds: 3_600 },
      { task: 'forget-rate-windows', everySeconds: 600 },
    ],
  };
}

function processGauges(crypto: CryptoPool): GaugeSource[] {
  return [
    processGauge(
      'svc_cryptography_seconds',
      'Time that threads spent on hashes and signatures',
      () => crypto.busyMs() / 1_000,
    ),
    processGauge('svc_chain_requests', 'Requests to nodes of chains', () => nodeUse.requests),
    processGauge('svc_chain_calls', 'Calls in requests to nodes of chains', () => nodeUse.calls),
    processGauge(
      'svc_chain_request_failures',
      'Requests to nodes of chains without a usable answer',
      () => nodeUse.failures,
    ),
    processGauge(
      'svc_chain_requests_seconds',
      'Time spent waiting for nodes of chains, summed up',
      () => nodeUse.ms / 1_000,
    ),
  ];
}
