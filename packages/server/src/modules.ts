import type { Environment } from '@svc/protocol';
import { toHex } from '@svc/starknet';
import type { Database, Db } from '@svc/store';
import type { Logger } from 'pino';
import type { Bridge } from './bridge/bridge.ts';
import { createCctpBridge } from './bridge/cctp-bridge.ts';
import { configHandlers } from './chains/module.ts';
import type { Networks } from './chains/networks.ts';
import { nodeUse } from './chains/node-fetch.ts';
import type { Config, RelayerAccount } from './config.ts';
import type { CryptoPool } from './crypto/pool.ts';
import { depositHandlers } from './deposits/module.ts';
import { deliveryJobs, webhookGauges, webhookHandlers, webhookJobs } from './events/module.ts';
import { createExchange, type Exchange, fixedRates } from './exchanges/exchange.ts';
import { exchangeHandlers } from './exchanges/module.ts';
import { RateBook } from './exchanges/rate-book.ts';
import { sourcesInOrder } from './exchanges/rate-sources.ts';
import { burnOutcomes } from './gifts/bridge-redeem.ts';
import { type ClaimDeps, CodeLookup } from './gifts/claim.ts';
import type { GiftDeps } from './gifts/create-gifts.ts';
import { bridgingGauges, bridgingJobs, claimHandlers, giftHandlers, giftJobs, payoutGauges } from './gifts/module.ts';
import { payoutJobs, payoutOutcomes, usdcOf } from './gifts/payouts.ts';
import type { RedeemWaiters } from './gifts/redeem.ts';
import type { Handlers } from './http/call.ts';
import { forgetOldKeys } from './http/idempotency.ts';
import type { Checks, GaugeSource } from './http/monitoring.ts';
import { forgetEndedWindows } from './http/rate-limit.ts';
import { followingHandlers, followingJobs } from './indexer/module.ts';
import type { JobHandlers, RecurringJob } from './jobs/job.ts';
import { queueMails } from './mail/mail.ts';
import type { Mailers } from './mail/mailers.ts';
import { mailGauges, mailJobs } from './mail/module.ts';
import { managementHandlers, organizationHandlers } from './organizations/module.ts';
import type { Organizations } from './organizations/organization-store.ts';
import { fulfilmentJobs, purchaseGauges, purchaseHandlers, refundJobs } from './purchases/module.ts';
import type { Providers } from './purchases/provider.ts';
import { refundOutcomes } from './purchases/refund-outcome.ts';
import { relayerChecks, relayerGauges } from './relayer/module.ts';
import type { OutcomeHandlers } from './relayer/outcome.ts';
import { createPayer, type Payer } from './relayer/payer.ts';
import { createPaymasterClient } from './relayer/paymaster/client.ts';
import { paymasterJobs } from './relayer/paymaster/follow.ts';
import { createPaymasterSponsor } from './relayer/paymaster/sponsor.ts';
import type { Sponsor } from './relayer/relay.ts';
import { createRelayerSponsor } from './relayer/relayer-sponsor.ts';
import { relayerJobs } from './relayer/worker/worker.ts';
import { ownSkuHandlers, skuHandlers } from './skus/module.ts';
import { transactionHandlers, transactionJobs } from './transactions/module.ts';
import { setHashOfRelay } from './transactions/record-store.ts';
import { transactionOutcomes } from './transactions/relay-outcome.ts';
import { walletHandlers } from './wallets/module.ts';
import { keepTransactionHash, walletJobs, walletOutcomes } from './wallets/relay-outcome.ts';

export interface CapabilityDeps {
  readonly config: Config;
  readonly db: Database;
  readonly networks: Networks;
  readonly crypto: CryptoPool;
  /** Accounts of ours that pay for gas. */
  readonly relayers: Readonly<Record<Environment, readonly RelayerAccount[]>>;
  /** Accounts of ours that pay gifts out. */
  readonly managers: Readonly<Record<Environment, RelayerAccount | undefined>>;
  readonly credentials: Organizations & { forget(): void };
  /** Where the attestation service of the bridge to Solana is; undefined where there is no bridge. */
  readonly bridgeUrl: (environment: Environment) => string | undefined;
  /** Who delivers what was bought. */
  readonly providers: Providers;
  /** The address that others see; known once the process listens. */
  readonly publicUrl: () => string;
  /** Requests that wait until a redeem is paid. */
  readonly redeemWaiters: RedeemWaiters;
  readonly mailers: Mailers;
  readonly log: Logger;
}

interface Jobs {
  readonly handlers: JobHandlers;
  readonly recurring: readonly RecurringJob[];
}

/** Everything that the service can do: on request, by itself, and what it tells of its state. */
export interface Capabilities {
  readonly handlers: Handlers;
  readonly jobs: Jobs;
  /** Sending of webhooks, for workers and a pool of connections of its own. */
  readonly deliveries: (db: Database) => Jobs;
  readonly gauges: readonly GaugeSource[];
  readonly checks: Checks;
}

export function createCapabilities(deps: CapabilityDeps): Capabilities {
  const { config, db, networks, crypto, log } = deps;
  const environments = networks.environments();
  const gas = payForGas(deps, environments);
  const callers = config.paymaster ? ('any' as const) : undefined;
  const common = { db, networks, crypto, sponsor: gas.sponsor, callers };
  const bridge = createCctpBridge({ networks, url: deps.bridgeUrl });
  const gifts = giftDeps(deps, gas.payer, bridge);
  const exchange = createRates(config, db, log);
  const paying = environments.filter((environment) => deps.managers[environment]);
  const work: Jobs[] = [
    { handlers: upkeepHandlers(db), recurring: upkeep },
    gas.jobs,
    { handlers: walletJobs({ db, networks, log }), recurring: [] },
    transactionJobs({ db, networks, log }),
    followingJobs({ db, networks, log, environments }),
    giftJobs(gifts),
    payoutJobs({ db, networks, payer: gas.payer, log, environments: paying }),
    bridgingJobs({ db, bridge, payer: gas.payer, log }),
    mailJobs({ db, mailers: deps.mailers, log }),
    webhookJobs(db),
    fulfilmentJobs({ db, networks, providers: deps.providers, log }),
    refundJobs({ db, networks, payer: gas.payer, log, environments: paying }),
  ];
  return {
    handlers: {
      ...skuHandlers(db),
      ...ownSkuHandlers(db),
      ...exchangeHandlers(exchange),
      ...purchaseHandlers({ db, networks, exchange, providers: deps.providers, payer: gas.payer, log }),
      ...organizationHandlers(db, deps.credentials),
      ...managementHandlers({
        db,
        allowLoopback: config.allowLoopbackUrls,
        forget: () => deps.credentials.forget(),
      }),
      ...configHandlers(networks),
      ...webhookHandlers({ db, allowLoopback: config.allowLoopbackUrls }),
      ...walletHandlers(common),
      ...transactionHandlers(common),
      ...followingHandlers(common),
      ...giftHandlers(gifts),
      ...claimHandlers(claimDeps(deps, gas.payer, bridge)),
      ...depositHandlers({ db, networks, ownAccounts: (environment) => managersOf(deps, environment) }),
    },
    jobs: joined(work),
    deliveries: (pool) => deliveryJobs({ db: pool, log, allowLoopback: config.allowLoopbackUrls }),
    gauges: [
      ...relayerGauges(db.reads),
      ...payoutGauges(db.reads),
      ...bridgingGauges(db.reads),
      ...mailGauges(db.reads),
      ...webhookGauges(db.reads),
      ...purchaseGauges(db.reads),
      ...ownGauges(crypto),
    ],
    checks: relayerChecks(db.reads),
  };
}

function claimDeps({ config, db, networks, redeemWaiters }: CapabilityDeps, payer: Payer, bridge: Bridge): ClaimDeps {
  return {
    db,
    networks,
    manager: payer.manager,
    canBridge: (environment) => bridge.serves(environment),
    codes: new CodeLookup(db, config.unknownCodesPerMinute),
    waiters: redeemWaiters,
  };
}

function managersOf({ managers }: CapabilityDeps, environment: Environment): bigint[] {
  const manager = managers[environment];
  return manager ? [manager.address] : [];
}

/** Production may leave gas to a paymaster; everything else is paid by accounts of ours. */
function payForGas(
  { config, db, networks, crypto, relayers, managers, log }: CapabilityDeps,
  environments: readonly Environment[],
): { readonly sponsor: Sponsor; readonly payer: Payer; readonly jobs: Jobs } {
  const outcomes: OutcomeHandlers = {
    ...walletOutcomes(),
    ...transactionOutcomes(),
    ...payoutOutcomes({ networks, log }),
    ...burnOutcomes({ usdc: (environment) => usdcOf(networks, environment), log }),
    ...refundOutcomes({ networks, log }),
  };
  const managerKey = (environment: Environment) => managers[environment];
  const common = { db, networks, crypto, outcomes, log, maxFeeFri: config.maxFee, managerKey };
  const payer = createPayer(common);
  const keys = (environment: Environment) => relayers[environment];
  const own = {
    sponsor: createRelayerSponsor({ ...common, keys }),
    jobs: relayerJobs({ ...common, keys, environments }),
  };
  if (!config.paymaster) return { ...own, payer };
  const onHash = async (tx: Db, relayId: string, hash: bigint) => {
    await keepTransactionHash(tx, relayId, hash);
    await setHashOfRelay(tx, relayId, toHex(hash));
  };
  const paymasterDeps = { ...common, paymaster: createPaymasterClient(config.paymaster), onHash };
  const paymaster = createPaymasterSponsor(paymasterDeps);
  const sponsorOf = (environment: Environment) => (environment === 'production' ? paymaster : own.sponsor);
  return {
    sponsor: {
      prepare: (request) => sponsorOf(request.environment).prepare(request),
      sponsor: (sponsorship, store) => sponsorOf(sponsorship.environment).sponsor(sponsorship, store),
    },
    payer,
    jobs: joined([own.jobs, paymasterJobs(paymasterDeps)]),
  };
}

function joined(all: readonly Jobs[]): Jobs {
  return {
    handlers: Object.assign({}, ...all.map(({ handlers }) => handlers)) as JobHandlers,
    recurring: all.flatMap(({ recurring }) => recurring),
  };
}

function giftDeps({ config, db, credentials, publicUrl }: CapabilityDeps, payer: Payer, bridge: Bridge): GiftDeps {
  return {
    db,
    organizations: credentials,
    gas: config.giftGas,
    manager: payer.manager,
    bridge,
    queueMails,
    publicUrl,
  };
}

function ownGauges(crypto: CryptoPool): GaugeSource[] {
  const gauge = (name: string, help: string, value: () => number): GaugeSource => {
    return { name, help, labelNames: [], read: async () => [{ labels: {}, value: value() }] };
  };
  return [
    gauge(
      'svc_cryptography_seconds',
      'Time that threads spent on hashes and signatures',
      () => crypto.busyMs() / 1_000,
    ),
    gauge('svc_chain_requests', 'Requests to nodes of chains', () => nodeUse.requests),
    gauge('svc_chain_request_failures', 'Requests to nodes of chains without a usable answer', () => nodeUse.failures),
    gauge('svc_chain_requests_seconds', 'Time spent waiting for nodes of chains, summed up', () => nodeUse.ms / 1_000),
  ];
}

function createRates(config: Config, db: Db, log: Logger): Exchange {
  const { url, token, banxicoToken, developmentMxnPerUsd } = config.rates;
  const sources = sourcesInOrder({ operatorUrl: url, operatorToken: token, banxicoToken });
  return createExchange({
    production: new RateBook({ db, sources, now: Date.now, log: (failure) => log.warn(failure, 'rate source failed') }),
    development: fixedRates(developmentMxnPerUsd),
  });
}

/** What keeps the house clean: small recurring jobs, each run once over all replicas. */
export function upkeepHandlers(db: Db): JobHandlers {
  return {
    'forget-idempotency-keys': async () => {
      await forgetOldKeys(db);
    },
    'forget-rate-windows': async () => {
      await forgetEndedWindows(db);
    },
  };
}

export const upkeep: readonly RecurringJob[] = [
  { task: 'forget-idempotency-keys', everySeconds: 3_600 },
  { task: 'forget-rate-windows', everySeconds: 600 },
];
