import path from 'node:path';

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
}

export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'];
const SHIPPED_CATALOGUE = path.resolve(import.meta.dirname, '../catalogue/mexico.json');

/** Reads the configuration, or throws one error that names everything that is wrong with it. */
export function readConfig(env: Record<string, string | undefined>): Config {
  const read = new Reader(env);
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
  };
  read.finish();
  return config;
}

class Reader {
  readonly #env: Record<string, string | undefined>;
  readonly #problems: string[] = [];

  constructor(env: Record<string, string | undefined>) {
    this.#env = env;
  }

  /** An empty variable counts as unset: that is what `NAME= npm start` means. */
  text(name: string): string | undefined {
    return this.#env[name]?.trim() || undefined;
  }

  integer(name: string, fallback: number, min: number, max: number): number {
    const text = this.text(name);
    if (text === undefined) return fallback;
    const value = Number(text);
    if (/^\d+$/.test(text) && value >= min && value <= max) return value;
    return this.#refuse(name, `must be a whole number from ${min} to ${max}`, fallback);
  }

  choice<const T extends string>(name: string, allowed: readonly T[], fallback: T): T {
    const text = this.text(name);
    if (text === undefined) return fallback;
    const found = allowed.find((value) => value === text);
    return found ?? this.#refuse(name, `must be one of ${allowed.join(', ')}`, fallback);
  }

  url(name: string, protocols: readonly string[]): string | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    if (URL.canParse(text) && protocols.includes(new URL(text).protocol)) return text;
    return this.#refuse(name, `must be an address that starts with ${protocols.map((p) => `${p}//`).join(' or ')}`);
  }

  /** The driver reads more forms than the web's addresses have, but a bare % in a password confuses it. */
  databaseUrl(name: string): string | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    if (!/^postgres(ql)?:\/\//.test(text)) return this.#refuse(name, 'must start with postgres:// or postgresql://');
    if (/%(?![0-9A-Fa-f]{2})/.test(text)) return this.#refuse(name, 'must spell a % of its password as %25');
    return text;
  }

  matching(name: string, pattern: RegExp): string | undefined {
    const text = this.text(name);
    if (text === undefined || pattern.test(text)) return text;
    return this.#refuse(name, `must match ${pattern.source}`);
  }

  finish(): void {
    if (this.#problems.length > 0)
      throw new ConfigError(`The configuration is not usable:\n${this.#problems.join('\n')}`);
  }

  // The value itself may be a secret, so the message names only the variable.
  #refuse<T>(name: string, problem: string, fallback?: T): T {
    this.#problems.push(`  ${name} ${problem}`);
    return fallback as T;
  }
}
