import { availableParallelism } from 'node:os';
import path from 'node:path';
import type { ChainSettings, LiveStarknet } from './chains/networks.ts';
import { evmChainNames } from './chains/tokens.ts';
import { type RelayerAccount, VariableReader } from './variables.ts';

export type { RelayerAccount };

/** Every setting of the service, read once from the environment and checked before anything starts. */
export interface Config {
  readonly host: string;
  readonly port: number;
  /** The address that others see, without a trailing slash; undefined means the one that is listened on. */
  readonly publicUrl: string | undefined;
  readonly dataDir: string;
  /** undefined means the embedded PostgreSQL. */
  readonly databaseUrl: string | undefined;
  readonly databasePoolSize: number;
  readonly role: 'all' | 'api' | 'worker';
  readonly workerConcurrency: number;
  readonly sandbox: boolean;
  readonly logLevel: string;
  readonly requestsPerMinute: number;
  readonly trustProxy: boolean;
  readonly allowLoopbackUrls: boolean;
  readonly metricsToken: string | undefined;
  readonly developmentPublicKey: string | undefined;
  readonly developmentSecretKey: string | undefined;
  readonly skuCatalogue: string;
  readonly rates: {
    readonly url: string | undefined;
    readonly token: string | undefined;
    readonly banxicoToken: string | undefined;
    readonly developmentMxnPerUsd: string;
  };
  /** The live chains, for production. */
  readonly chains: ChainSettings;
  /** Who pays for gas in production: accounts of ours, or a paymaster. */
  readonly relayers: readonly RelayerAccount[];
  readonly paymaster: { readonly url: string; readonly apiKey: string } | undefined;
  /** The most that one sponsored transaction may cost, in FRI. */
  readonly maxFee: bigint;
  /** How many of the sandbox's relayers are used in development. */
  readonly sandboxRelayers: number;
  readonly cryptoThreads: number;
}

const FRI_PER_STRK = 10n ** 18n;
/** As many as exist there from the start. */
const MAX_SANDBOX_RELAYERS = 4;
const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'];
const SHIPPED_CATALOGUE = path.resolve(import.meta.dirname, '../catalogue/mexico.json');

/** Reads the configuration, or throws one error that names everything that is wrong with it. */
export function readConfig(env: Record<string, string | undefined>): Config {
  const read = new VariableReader(env);
  const config: Config = {
    host: read.text('HOST') ?? '127.0.0.1',
    port: read.integer('PORT', 8080, 0, 65_535),
    publicUrl: read.url('PUBLIC_URL', ['http:', 'https:'])?.replace(/\/+$/, ''),
    dataDir: path.resolve(read.text('SVC_DATA_DIR') ?? '.svc'),
    databaseUrl: read.databaseUrl('DATABASE_URL'),
    databasePoolSize: read.integer('DATABASE_POOL_SIZE', 10, 2, 200),
    role: read.choice('SVC_ROLE', ['all', 'api', 'worker'], 'all'),
    workerConcurrency: read.integer('WORKER_CONCURRENCY', 10, 1, 1_000),
    sandbox: read.choice('SANDBOX', ['on', 'off'], 'on') === 'on',
    logLevel: read.choice('LOG_LEVEL', LOG_LEVELS, 'info'),
    requestsPerMinute: read.integer('RATE_LIMIT_PER_MINUTE', 100, 1, 1_000_000_000),
    trustProxy: read.choice('TRUST_PROXY', ['on', 'off'], 'off') === 'on',
    allowLoopbackUrls: read.choice('ALLOW_LOOPBACK_URLS', ['on', 'off'], 'off') === 'on',
    metricsToken: read.text('METRICS_TOKEN'),
    developmentPublicKey: read.matching('SVC_DEV_PUBLIC_KEY', /^pk_dev_[A-Za-z0-9]{32,128}$/),
    developmentSecretKey: read.matching('SVC_DEV_SECRET_KEY', /^sk_dev_[A-Za-z0-9]{32,128}$/),
    skuCatalogue: path.resolve(read.text('SKU_CATALOGUE') ?? SHIPPED_CATALOGUE),
    rates: {
      url: read.url('RATE_URL', ['http:', 'https:']),
      token: read.text('RATE_TOKEN'),
      banxicoToken: read.text('BANXICO_TOKEN'),
      developmentMxnPerUsd: read.matching('DEV_MXN_PER_USD', /^(?!0+(\.0+)?$)\d{1,3}(\.\d{1,8})?$/) ?? '18.5',
    },
    chains: { starknet: readStarknet(read), evmRpcUrls: readEvmUrls(read) },
    relayers: read.accounts('RELAYER_ACCOUNTS'),
    paymaster: readPaymaster(read),
    maxFee: BigInt(read.integer('MAX_FEE_STRK', 5, 1, 10_000)) * FRI_PER_STRK,
    sandboxRelayers: read.integer('SANDBOX_RELAYERS', MAX_SANDBOX_RELAYERS, 1, MAX_SANDBOX_RELAYERS),
    cryptoThreads: read.integer('CRYPTO_THREADS', Math.max(1, availableParallelism() - 1), 1, 64),
  };
  if (config.chains.starknet && !config.paymaster) {
    read.needed('RELAYER_ACCOUNTS', 'must be set, or PAYMASTER_URL: somebody has to pay for gas on the live Starknet');
  }
  read.finish();
  return config;
}

/** All or none: half a configuration would fail at the first payment. */
function readStarknet(read: VariableReader): LiveStarknet | undefined {
  const network = read.choice('STARKNET_NETWORK', ['mainnet', 'sepolia'], undefined);
  const found = {
    rpcUrls: read.urls('STARKNET_RPC_URLS'),
    publicRpcUrl: read.url('STARKNET_PUBLIC_RPC_URL', ['http:', 'https:']),
    svcClassHash: read.classHash('SVC_CLASS_HASH'),
    paymentAddress: read.starknetAddress('PAYMENT_ADDRESS'),
  };
  read.together([
    'STARKNET_NETWORK',
    'STARKNET_RPC_URLS',
    'STARKNET_PUBLIC_RPC_URL',
    'SVC_CLASS_HASH',
    'PAYMENT_ADDRESS',
  ]);
  const { rpcUrls, publicRpcUrl, svcClassHash, paymentAddress } = found;
  if (!network || !rpcUrls || !publicRpcUrl || !svcClassHash || !paymentAddress) return undefined;
  return { network, rpcUrls, publicRpcUrl, svcClassHash, paymentAddress };
}

function readPaymaster(read: VariableReader): Config['paymaster'] {
  const url = read.url('PAYMASTER_URL', ['http:', 'https:']);
  const apiKey = read.text('PAYMASTER_API_KEY');
  read.together(['PAYMASTER_URL', 'PAYMASTER_API_KEY']);
  return url && apiKey ? { url, apiKey } : undefined;
}

function readEvmUrls(read: VariableReader): ChainSettings['evmRpcUrls'] {
  return Object.fromEntries(
    evmChainNames.flatMap((chain) => {
      const urls = read.urls(`${chain}_RPC_URLS`);
      return urls ? [[chain, urls] as const] : [];
    }),
  );
}
