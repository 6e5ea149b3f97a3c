import type { Environment } from '@svc/protocol';
import { toHex } from '@svc/starknet';
import type { Database, Db } from '@svc/store';
import type { Logger } from 'pino';
import type { Networks } from './chains/networks.ts';
import { nodeUse } from './chains/node-fetch.ts';
import { configHandlers } from './chains/routes.ts';
import type { Config, RelayerAccount } from './config.ts';
import type { CryptoPool } from './crypto/pool.ts';
import { fixedRates } from './exchanges/fixed-rates.ts';
import { RateBook } from './exchanges/rate-book.ts';
import { exchangeHandlers } from './exchanges/routes.ts';
import { createExchange, type Exchange } from './exchanges/service.ts';
import { sourcesInOrder } from './exchanges/sources/in-order.ts';
import { followingJobs } from './following/jobs.ts';
import { followingHandlers } from './following/routes.ts';
import type { Handlers } from './http/call.ts';
import type { GaugeSource } from './http/metrics.ts';
import type { Checks } from './http/operations.ts';
import type { JobHandlers } from './jobs/job.ts';
import type { RecurringJob } from './jobs/recurring.ts';
import { type Organizations, organizationHandlers } from './organizations/routes.ts';
import { relayerJobs } from './relayer/jobs.ts';
import type { OutcomeHandlers } from './relayer/outcome.ts';
import { createOwnSponsor } from './relayer/own-sponsor.ts';
import { createPaymasterClient } from './relayer/paymaster/client.ts';
import { paymasterJobs } from './relayer/paymaster/jobs.ts';
import { createPaymasterSponsor } from './relayer/paymaster/sponsor.ts';
import { relayerChecks, relayerGauges } from './relayer/reports.ts';
import type { Sponsor } from './relayer/sponsor.ts';
import { skuHandlers } from './skus/routes.ts';
import { transactionJobs } from './transactions/jobs.ts';
import { transactionOutcomes } from './transactions/outcomes.ts';
import { setHashOfRelay } from './transactions/relay-hash.ts';
import { transactionHandlers } from './transactions/routes.ts';
import { upkeep, upkeepHandlers } from './upkeep.ts';
import { walletJobs } from './wallets/confirm-upgrade.ts';
import { keepTransactionHash, walletOutcomes } from './wallets/outcomes.ts';
import { walletHandlers } from './wallets/routes.ts';

export interface CapabilityParts {
  readonly config: Config;
  readonly db: Database;
  readonly networks: Networks;
  readonly crypto: CryptoPool;
  /** Accounts of ours that pay for gas. */
  readonly relayers: Readonly<Record<Environment, readonly RelayerAccount[]>>;
  readonly credentials: Organizations;
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
  readonly gauges: readonly GaugeSource[];
  readonly checks: Checks;
}

export function createCapabilities(parts: CapabilityParts): Capabilities {
  const { config, db, networks, crypto, log } = parts;
  const environments = networks.environments();
  const gas = payForGas(parts, environments);
  const callers = config.paymaster ? ('any' as const) : undefined;
  const common = { db, networks, crypto, sponsor: gas.sponsor, callers };
  const work: Jobs[] = [
    { handlers: upkeepHandlers(db), recurring: upkeep },
    gas.jobs,
    { handlers: walletJobs(common), recurring: [] },
    transactionJobs(common),
    followingJobs({ db, networks, log, environments }),
  ];
  return {
    handlers: {
      ...skuHandlers(db),
      ...exchangeHandlers(createRates(config, db, log)),
      ...organizationHandlers(db, parts.credentials),
      ...configHandlers(networks),
      ...walletHandlers(common),
      ...transactionHandlers(common),
      ...followingHandlers(common),
    },
    jobs: joined(work),
    gauges: [...relayerGauges(db.reads), ...ownGauges(crypto)],
    checks: relayerChecks(db.reads),
  };
}

/** Production may leave gas to a paymaster; everything else is paid by accounts of ours. */
function payForGas(
  { config, db, networks, crypto, relayers, log }: CapabilityParts,
  environments: readonly Environment[],
): { readonly sponsor: Sponsor; readonly jobs: Jobs } {
  const outcomes: OutcomeHandlers = { ...walletOutcomes(), ...transactionOutcomes() };
  const common = { db, networks, crypto, outcomes, log, maxFeeFri: config.maxFee };
  const keys = (environment: Environment) => relayers[environment];
  const own = { sponsor: createOwnSponsor({ ...common, keys }), jobs: relayerJobs({ ...common, keys, environments }) };
  if (!config.paymaster) return own;
  const onHash = async (tx: Db, relayId: string, hash: bigint) => {
    await keepTransactionHash(tx, relayId, hash);
    await setHashOfRelay(tx, relayId, toHex(hash));
  };
  const paymasterParts = { ...common, paymaster: createPaymasterClient(config.paymaster), onHash };
  const paymaster = createPaymasterSponsor(paymasterParts);
  const sponsorOf = (environment: Environment) => (environment === 'production' ? paymaster : own.sponsor);
  return {
    sponsor: {
      prepare: (request) => sponsorOf(request.environment).prepare(request),
      sponsor: (sponsorship, store) => sponsorOf(sponsorship.environment).sponsor(sponsorship, store),
    },
    jobs: joined([own.jobs, paymasterJobs(paymasterParts)]),
  };
}

function joined(all: readonly Jobs[]): Jobs {
  return {
    handlers: Object.assign({}, ...all.map(({ handlers }) => handlers)) as JobHandlers,
    recurring: all.flatMap(({ recurring }) => recurring),
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
