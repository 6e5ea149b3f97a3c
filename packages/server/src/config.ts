import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import path from 'node:path';
import {
  type Environment,
  environments,
  MAX_BULK_RECIPIENTS,
  type Parsed,
  parsed,
  parseTokenAmount,
  type UsdMicros,
  unparsed,
} from '@svc/protocol';
import { chainIds } from '@svc/starknet';
import {
  type ChainSettings,
  type LiveNetwork,
  type LiveStarknet,
  parseLiveNetwork,
  poolOf,
} from './chains/networks.ts';
import { evmChainNames } from './chains/tokens.ts';
import type { RemoteSignerOptions } from './crypto/crypto.ts';
import { type AccountKey, type RelayerAccount, VariableReader } from './env-reader.ts';
import type { MissLimits } from './gifts/code-lookup.ts';
import { KeystoreError, keystoreNames, openKeystore } from './keystore.ts';
import { type MailSettings, parseSender, parseSmtpUrl, SANDBOX_SENDER } from './mail/settings.ts';
import { type FulfilmentAccess, parseFulfilmentSecret, parseFulfilmentUrl } from './purchases/provider.ts';
import { type SponsorLimits, STRK_DECIMALS } from './relayer/budget.ts';
import type { TraceSettings } from './util/trace.ts';

export type { AccountKey, RelayerAccount };

/** Read once from the environment and checked before anything starts. */
export interface Config {
  readonly host: string;
  readonly port: number;
  /** Without a trailing slash; undefined: the address it listens on. */
  readonly publicUrl: string | undefined;
  readonly dataDir: string;
  /** undefined: the embedded PostgreSQL. */
  readonly databaseUrl: string | undefined;
  /** Migrates, and grants the role of `databaseUrl` what the service needs. */
  readonly databaseOwnerUrl: string | undefined;
  readonly databasePoolSize: number;
  readonly role: 'all' | 'api' | 'worker';
  readonly workerConcurrency: number;
  readonly sandbox: boolean;
  /** At `/`. */
  readonly homePage: boolean;
  readonly logLevel: string;
  /** undefined: text on a terminal, else JSON. */
  readonly logFormat: 'json' | 'text' | undefined;
  /** Of a secret key, of a user, and of a client address with a public key alone. */
  readonly requestsPerMinute: number;
  /** Of all users of a public key together. */
  readonly publicKeyPerMinute: number;
  /** Per client address. */
  readonly claimsPerMinute: number;
  /** Per minute: of a client address, and of all together. */
  readonly unknownCodes: MissLimits;
  /** Of an organisation, in both environments together. */
  readonly chosenCodesPerMinute: number;
  /** Per client address. */
  readonly failedAuthPerMinute: number;
  readonly sponsoredPerSecond: number;
  /** Number of proxies in front; only their entries of X-Forwarded-For are believed. */
  readonly trustProxy: number;
  /** Environments whose key sets and webhooks may be on this machine. */
  readonly loopbackEnvironments: readonly Environment[];
  readonly metricsToken: string | undefined;
  readonly requestLog: boolean;
  /** Of an environment, at most. */
  readonly loggedRequests: number;
  /** Lets scripts do what operators do; undefined: operators sign in. */
  readonly operatorToken: string | undefined;
  readonly developmentPublicKey: string | undefined;
  readonly developmentSecretKey: string | undefined;
  readonly skuCatalogue: string;
  readonly rates: {
    readonly url: string | undefined;
    readonly token: string | undefined;
    readonly banxicoToken: string | undefined;
    readonly developmentMxnPerUsd: string;
  };
  readonly chains: ChainSettings;
  readonly relayers: readonly RelayerAccount[];
  readonly bridgeUrl: string | undefined;
  /** Undefined: the bridge's word is taken for mints on Solana. */
  readonly solanaRpcUrls: readonly string[] | undefined;
  readonly manager: RelayerAccount | undefined;
  /** They end what they began, and get nothing new. */
  readonly draining: readonly RelayerAccount[];
  /** Owns the deposit addresses in place of the manager's key. */
  readonly depositKey: AccountKey | undefined;
  /** Holds the keys of accounts that name a public key. */
  readonly signer: RemoteSignerOptions | undefined;
  readonly paymaster: { readonly url: string; readonly apiKey: string } | undefined;
  /** FRI, for each transaction that is signed. */
  readonly maxFee: bigint;
  /** Of an environment of production, unless its own settings differ. */
  readonly sponsorLimits: SponsorLimits;
  readonly sandboxRelayers: number;
  readonly cryptoThreads: number;
  /** Blocks that a deposit of production needs before it counts. */
  readonly depositConfirmations: number;
  /** Held per redemption. */
  readonly giftGas: UsdMicros;
  readonly mail: MailSettings;
  /** For an environment of production and a UTC day. */
  readonly dailyMails: number;
  /** Until then, production tokens are valid without an issuer and audience in the settings. */
  readonly unboundKeySetsUntil: Date | undefined;
  readonly fulfilment: FulfilmentAccess | undefined;
  /** In place of the sandbox's provider. */
  readonly developmentFulfilment: FulfilmentAccess | undefined;
  /** Undefined: nothing is traced. */
  readonly tracing: TraceSettings | undefined;
  readonly warnings: readonly string[];
}

/** Measured on two cores with the sandbox: at ten a second, reads keep just over half of their rate. */
const SPONSORED_PER_SECOND_AND_CORE = 4;
/** Counters are 32-bit integers. */
export const MAX_PER_MINUTE = 1_000_000_000;
/** Users at their own limit that a public key's ceiling has room for. */
const BUSY_USERS_OF_KEY = 100;
/** Clients at their limit of unknown codes before look-ups of all need a proof of work. */
const GUESSING_CLIENTS = 100;
const proxies = { off: 0, on: 1, '1': 1, '2': 2, '3': 3, '4': 4, '5': 5 } as const;
const FRI_PER_STRK = 10n ** 18n;
/** Thousands of transfers. */
const DAILY_STRK = 500n;
const USER_DAILY_STRK = 20n;
const POOL_FEE_STRK = 4n;
/** More is taken for a typing error. */
const MAX_DAILY_STRK = 1_000_000_000n;
/** A cent, many times what a transfer costs. */
const GIFT_GAS = 10_000n;
/** 100 USD: more is taken for a typing error. */
const MAX_GIFT_GAS = 100_000_000n;
/** Predeployed in the sandbox. */
const MAX_SANDBOX_RELAYERS = 4;
/** Read by other parts: the launcher, the embedded database, the tests. */
const ELSEWHERE = ['SVC_POSTGRES_BIN', 'SVC_CHROMIUM', 'SVC_SEEDS', 'SVC_TEST_DATABASE_URL'];
const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'];
const SHIPPED_CATALOGUE = path.resolve(import.meta.dirname, '../catalogue/mexico.json');

export function readConfig(env: Record<string, string | undefined>): Config {
  const read = new VariableReader(env);
  readKeystore(read);
  const starknet = readStarknet(read);
  const requestsPerMinute = read.integer('RATE_LIMIT_PER_MINUTE', 100, 1, MAX_PER_MINUTE);
  const config: Config = {
    host: read.text('HOST') ?? '127.0.0.1',
    port: read.integer('PORT', 8080, 0, 65_535),
    publicUrl: read.url('PUBLIC_URL', ['http:', 'https:'])?.replace(/\/+$/, ''),
    dataDir: path.resolve(read.text('SVC_DATA_DIR') ?? '.svc'),
    databaseUrl: read.databaseUrl('DATABASE_URL'),
    databaseOwnerUrl: read.databaseUrl('DATABASE_OWNER_URL'),
    databasePoolSize: read.integer('DATABASE_POOL_SIZE', 10, 2, 200),
    role: read.choice('SVC_ROLE', ['all', 'api', 'worker'], 'all'),
    workerConcurrency: read.integer('WORKER_CONCURRENCY', 10, 1, 1_000),
    // Beside live money, play money has to be asked for.
    sandbox: read.choice('SANDBOX', ['on', 'off'], starknet ? 'off' : 'on') === 'on',
    homePage: read.choice('HOME_PAGE', ['on', 'off'], starknet ? 'off' : 'on') === 'on',
    logLevel: read.choice('LOG_LEVEL', LOG_LEVELS, 'info'),
    logFormat: read.choice('LOG_FORMAT', ['json', 'text'], undefined),
    requestsPerMinute,
    publicKeyPerMinute: read.integer(
      'PUBLIC_KEY_LIMIT_PER_MINUTE',
      Math.min(requestsPerMinute * BUSY_USERS_OF_KEY, MAX_PER_MINUTE),
      1,
      MAX_PER_MINUTE,
    ),
    claimsPerMinute: read.integer('CLAIM_LIMIT_PER_MINUTE', 100, 1, MAX_PER_MINUTE),
    unknownCodes: readMissLimits(read),
    chosenCodesPerMinute: read.integer('CHOSEN_CODES_PER_MINUTE', 1_000, MAX_BULK_RECIPIENTS, MAX_PER_MINUTE),
    failedAuthPerMinute: read.integer('FAILED_AUTH_PER_MINUTE', 300, 1, MAX_PER_MINUTE),
    sponsoredPerSecond: read.integer(
      'SPONSORED_PER_SECOND',
      SPONSORED_PER_SECOND_AND_CORE * availableParallelism(),
      1,
      100_000,
    ),
    trustProxy: proxies[read.choice('TRUST_PROXY', ['off', 'on', '1', '2', '3', '4', '5'], 'off')],
    loopbackEnvironments: [],
    metricsToken: read.text('METRICS_TOKEN'),
    requestLog: read.choice('REQUEST_LOG', ['on', 'off'], 'on') === 'on',
    loggedRequests: read.integer('REQUEST_LOG_ROWS', 200_000, 1_000, 100_000_000),
    operatorToken: read.matching('OPERATOR_TOKEN', /^op_[A-Za-z0-9_-]{32,128}$/),
    developmentPublicKey: read.matching('SVC_DEV_PUBLIC_KEY', /^pk_dev_[A-Za-z0-9]{32,128}$/),
    developmentSecretKey: read.matching('SVC_DEV_SECRET_KEY', /^sk_dev_[A-Za-z0-9]{32,128}$/),
    skuCatalogue: path.resolve(read.text('SKU_CATALOGUE') ?? SHIPPED_CATALOGUE),
    rates: {
      url: read.url('RATE_URL', ['http:', 'https:']),
      token: read.text('RATE_TOKEN'),
      banxicoToken: read.text('BANXICO_TOKEN'),
      developmentMxnPerUsd: read.matching('DEV_MXN_PER_USD', /^(?!0+(\.0+)?$)\d{1,3}(\.\d{1,8})?$/) ?? '18.5',
    },
    chains: { starknet, evmRpcUrls: readEvmUrls(read) },
    relayers: read.accounts('RELAYER_ACCOUNTS'),
    bridgeUrl: readBridgeUrl(read, starknet),
    solanaRpcUrls: read.urls('SOLANA_RPC_URLS'),
    manager: read.account('MANAGER_ACCOUNT'),
    draining: read.accounts('DRAINING_ACCOUNTS'),
    depositKey: read.accountKey('DEPOSIT_KEY'),
    signer: readSigner(read),
    paymaster: readPaymaster(read),
    maxFee: BigInt(read.integer('MAX_FEE_STRK', 5, 1, 10_000)) * FRI_PER_STRK,
    sponsorLimits: {
      dailyFri: readStrk(read, 'SPONSORED_DAILY_STRK') ?? DAILY_STRK * FRI_PER_STRK,
      userDailyFri: readStrk(read, 'SPONSORED_USER_DAILY_STRK') ?? USER_DAILY_STRK * FRI_PER_STRK,
      userDailyTransactions: read.integer('SPONSORED_USER_DAILY_TRANSACTIONS', 200, 0, 1_000_000_000),
      userDailyWallets: read.integer('SPONSORED_USER_DAILY_WALLETS', 5, 0, 1_000_000_000),
    },
    sandboxRelayers: read.integer('SANDBOX_RELAYERS', MAX_SANDBOX_RELAYERS, 1, MAX_SANDBOX_RELAYERS),
    cryptoThreads: read.integer('CRYPTO_THREADS', Math.max(1, availableParallelism() - 1), 1, 64),
    depositConfirmations: read.integer('DEPOSIT_CONFIRMATIONS', 10, 1, 100_000),
    giftGas: read.usd('GIFT_GAS_USD', GIFT_GAS, MAX_GIFT_GAS),
    mail: readMail(read),
    dailyMails: read.integer('DAILY_MAILS', 5_000, 0, 1_000_000_000),
    unboundKeySetsUntil: read.day('UNBOUND_KEY_SETS_UNTIL'),
    fulfilment: readFulfilment(read, 'FULFILMENT'),
    developmentFulfilment: readFulfilment(read, 'DEV_FULFILMENT'),
    tracing: readTracing(read),
    warnings: [],
  };
  if (config.databaseOwnerUrl !== undefined && config.databaseUrl === undefined) {
    read.needed('DATABASE_URL', 'must be set with DATABASE_OWNER_URL: it names the role that the service works as');
  }
  if (config.chains.starknet && !config.paymaster) {
    read.needed('RELAYER_ACCOUNTS', 'must be set, or PAYMASTER_URL: gas on the live Starknet has to be paid');
  }
  if (config.relayers.some(({ address }) => address === config.manager?.address)) {
    read.refuse(
      'MANAGER_ACCOUNT',
      'must not be among RELAYER_ACCOUNTS: an account that pays for gas must not hold the money of gifts',
    );
  }
  const paying = new Set(
    [...config.relayers, ...(config.manager ? [config.manager] : [])].map(({ address }) => address),
  );
  if (config.draining.some(({ address }) => paying.has(address))) {
    read.refuse('DRAINING_ACCOUNTS', 'must not name an account that pays');
  }
  const held = [...config.relayers, ...config.draining, config.manager, config.depositKey].some(
    (key) => key !== undefined && 'publicKey' in key,
  );
  if (held) read.needed('SIGNER_URL', 'must be set: an account names the signer in place of a private key');
  const network = config.chains.starknet?.network;
  if (config.sandbox && typeof network === 'object' && network.chainId === chainIds.SVC_SANDBOX) {
    read.refuse(
      'SANDBOX',
      "must be off: STARKNET_NETWORK has the sandbox's chain id, so signatures would be valid on both",
    );
  }
  const loopbackEnvironments = readLoopback(read, config);
  read.finish();
  const isShared =
    typeof network === 'object' && (network.chainId === chainIds.SN_MAIN || network.chainId === chainIds.SN_SEPOLIA);
  const shared = 'STARKNET_NETWORK has the chain id of a public network: what users sign is valid there as well.';
  return { ...config, loopbackEnvironments, warnings: [...(isShared ? [shared] : []), ...read.misspelled(ELSEWHERE)] };
}

/** Play money alone on a database of its own, reached at its own address: there are no organisations of others. */
export const isEmbeddedDefault = ({ databaseUrl, ...config }: Config): boolean =>
  databaseUrl === undefined && isPlayMoneyAlone(config);

/** A page on this machine may ask for a link to sign in. */
export const isPlayMoneyAlone = (config: Pick<Config, 'sandbox' | 'chains' | 'publicUrl' | 'trustProxy'>): boolean =>
  config.sandbox && !config.chains.starknet && config.publicUrl === undefined && config.trustProxy === 0;

function readLoopback(read: VariableReader, config: Config): readonly Environment[] {
  const choice = read.choice('ALLOW_LOOPBACK_URLS', ['on', 'off'], undefined);
  if (choice === undefined) return isEmbeddedDefault(config) ? ['development'] : [];
  return choice === 'on' ? environments : [];
}

function readMissLimits(read: VariableReader): MissLimits {
  const perClient = read.integer('UNKNOWN_CODES_PER_MINUTE', 10, 1, MAX_PER_MINUTE);
  const usual = Math.min(perClient * GUESSING_CLIENTS, MAX_PER_MINUTE);
  return { perClient, total: read.integer('UNKNOWN_CODES_TOTAL_PER_MINUTE', usual, 1, MAX_PER_MINUTE) };
}

/** Before anything else: accounts come from it as from the environment. */
function readKeystore(read: VariableReader): void {
  const [file, passphrase] = [read.text('ACCOUNTS_KEYSTORE'), read.text('ACCOUNTS_PASSPHRASE')];
  read.together(['ACCOUNTS_KEYSTORE', 'ACCOUNTS_PASSPHRASE']);
  if (file === undefined || passphrase === undefined) return;
  try {
    const secrets = openKeystore(readFileSync(file, 'utf8'), passphrase);
    for (const name of keystoreNames) {
      if (secrets[name] !== undefined) read.provide(name, secrets[name], 'ACCOUNTS_KEYSTORE');
    }
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
    read.refuse('ACCOUNTS_KEYSTORE', `cannot be opened: ${error instanceof KeystoreError ? error.message : code}`);
  }
}

function readSigner(read: VariableReader): RemoteSignerOptions | undefined {
  const url = read.url('SIGNER_URL', ['https:']);
  const [certificate, key] = [read.text('SIGNER_CERTIFICATE'), read.text('SIGNER_KEY')];
  const ca = read.text('SIGNER_CA');
  read.together(['SIGNER_URL', 'SIGNER_CERTIFICATE', 'SIGNER_KEY']);
  return url && certificate && key ? { url, certificate, key, ca } : undefined;
}

/** All or none: half a configuration would fail at the first payment. */
function readStarknet(read: VariableReader): LiveStarknet | undefined {
  const network = read.parsed('STARKNET_NETWORK', parseLiveNetwork);
  const custom = typeof network === 'object' ? network : undefined;
  const found = {
    rpcUrls: read.urls('STARKNET_RPC_URLS'),
    publicRpcUrl: read.url('STARKNET_PUBLIC_RPC_URL', ['http:', 'https:']),
    svcClassHash: read.classHash('SVC_CLASS_HASH') ?? custom?.svcClassHash,
    paymentAddress: read.starknetAddress('PAYMENT_ADDRESS'),
  };
  read.together([
    'STARKNET_NETWORK',
    'STARKNET_RPC_URLS',
    'STARKNET_PUBLIC_RPC_URL',
    ...(custom ? [] : ['SVC_CLASS_HASH']),
    'PAYMENT_ADDRESS',
  ]);
  const { rpcUrls, publicRpcUrl, svcClassHash, paymentAddress } = found;
  if (!network || !rpcUrls || !publicRpcUrl || !svcClassHash || !paymentAddress) return undefined;
  return { network, rpcUrls, publicRpcUrl, svcClassHash, paymentAddress, pool: readPool(read, network) };
}

const MAX_LAG_BLOCKS = 1_000;

function readPool(read: VariableReader, network: LiveNetwork): LiveStarknet['pool'] {
  const mode = read.choice('PRIVATE_BALANCE', ['off', 'paused', 'open'], undefined);
  const fee = readStrk(read, 'POOL_FEE_STRK') ?? POOL_FEE_STRK * FRI_PER_STRK;
  const lagBlocks = read.integer('POOL_LAG_BLOCKS', 12, 0, MAX_LAG_BLOCKS);
  const place = poolOf(network);
  if (!place && (mode === 'open' || mode === 'paused')) {
    read.refuse('PRIVATE_BALANCE', 'needs a pool: mainnet has one, a network file names it in pool');
  }
  if (!place || mode === 'off') return undefined;
  const isSponsored = read.text('PAYMASTER_URL') === undefined;
  return { ...place, isSponsored, terms: { fee, lagBlocks, shieldPaused: mode !== 'open' } };
}

/** Circle has a service of its own for test networks. */
const attestationUrls = { mainnet: 'https://iris-api.circle.com', sepolia: 'https://iris-api-sandbox.circle.com' };

function readBridgeUrl(read: VariableReader, starknet: LiveStarknet | undefined): string | undefined {
  const url = read.url('BRIDGE_URL', ['http:', 'https:']);
  const isOn = read.choice('BRIDGE', ['on', 'off'], 'on') === 'on';
  if (!starknet || !isOn) return undefined;
  const { network } = starknet;
  if (typeof network === 'string') return url ?? attestationUrls[network];
  if (url && !network.bridge)
    read.refuse('BRIDGE_URL', 'needs bridge in the network file: the contracts of that bridge');
  return network.bridge && (url ?? network.bridge.url);
}

function readStrk(read: VariableReader, name: string): bigint | undefined {
  return read.parsed(name, (text) => {
    const fri = parseTokenAmount(text, STRK_DECIMALS);
    if (!fri.ok || fri.value <= MAX_DAILY_STRK * FRI_PER_STRK) return fri;
    return unparsed(`must be STRK from 0 to ${MAX_DAILY_STRK}`);
  });
}

function readPaymaster(read: VariableReader): Config['paymaster'] {
  const url = read.url('PAYMASTER_URL', ['http:', 'https:']);
  const apiKey = read.text('PAYMASTER_API_KEY');
  read.together(['PAYMASTER_URL', 'PAYMASTER_API_KEY']);
  return url && apiKey ? { url, apiKey } : undefined;
}

/** Orders are signed, so a URL without a secret is useless. */
function readFulfilment(read: VariableReader, prefix: 'FULFILMENT' | 'DEV_FULFILMENT'): FulfilmentAccess | undefined {
  const url = read.parsed(`${prefix}_URL`, parseFulfilmentUrl);
  const secret = read.parsed(`${prefix}_SECRET`, parseFulfilmentSecret);
  read.together([`${prefix}_URL`, `${prefix}_SECRET`]);
  return url !== undefined && secret !== undefined ? { url, secret } : undefined;
}

/** By the names that OpenTelemetry gives them. */
function readTracing(read: VariableReader): TraceSettings | undefined {
  const endpoint = read.url('OTEL_EXPORTER_OTLP_ENDPOINT', ['http:', 'https:']);
  const headers = read.parsed('OTEL_EXPORTER_OTLP_HEADERS', parseHeaders) ?? {};
  const serviceName = read.text('OTEL_SERVICE_NAME') ?? 'svc';
  const ratio = Number(read.matching('OTEL_TRACES_SAMPLER_ARG', /^(0(\.\d{1,9})?|1(\.0{1,9})?)$/) ?? '1');
  return endpoint === undefined ? undefined : { endpoint, headers, serviceName, ratio };
}

const HEADER = /^\s*(?<name>[\w-]{1,100})\s*=\s*(?<value>[\x21-\x7e]{1,4096})\s*$/;

function parseHeaders(text: string): Parsed<Record<string, string>> {
  const found = text.split(',').map((part) => HEADER.exec(part)?.groups);
  if (found.some((each) => each === undefined)) return unparsed('must be name=value, separated by commas');
  return parsed(Object.fromEntries(found.map((each) => [each?.name ?? '', each?.value ?? ''])));
}

/** No default sender: mail servers refuse senders of other domains. */
function readMail(read: VariableReader): MailSettings {
  const smtp = read.parsed('SMTP_URL', parseSmtpUrl);
  const sender = read.parsed('MAIL_FROM', parseSender);
  if (smtp) {
    read.needed('MAIL_FROM', 'must be set too: mail that goes out has a sender');
    read.needed('PUBLIC_URL', 'must be set too: mail that goes out has links to it');
  }
  return { smtp, sender: sender ?? SANDBOX_SENDER };
}

function readEvmUrls(read: VariableReader): ChainSettings['evmRpcUrls'] {
  return Object.fromEntries(
    evmChainNames.flatMap((chain) => {
      const urls = read.urls(`${chain}_RPC_URLS`);
      return urls ? [[chain, urls] as const] : [];
    }),
  );
}
