import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Catalogue, Environment } from '@svc/protocol';
import type { Database } from '@svc/store';
import { TestDatabase } from '@svc/store/testing';
import { inject } from 'vitest';
import { startSandbox as startSandboxServer } from '../../packages/sandbox/testing/sandbox-server.ts';
import { credit } from '../../packages/server/src/ledger/ledger.ts';
import { createOrganization, generateKey, issueKey } from '../../packages/server/src/organizations/api-keys.ts';
import * as store from '../../packages/server/src/organizations/organization-store.ts';
import { serverDatabase, serviceUrl } from '../../packages/server/testing/database.ts';
import { type StoredPurchase, storePurchase } from '../../packages/server/testing/stored-purchases.ts';
import { App, type CreatedGift, type Keys, Organization, Owner, type Webhook } from './app.ts';
import { Sandbox } from './sandbox.ts';
import {
  errorLines,
  type RunningServer,
  type ServerAddress,
  type ServerOptions,
  type ServerProcess,
  startHosted,
  startServer,
} from './server.ts';

type Env = Record<string, string>;

/** No limit that a test could meet. */
const UNLIMITED = {
  RATE_LIMIT_PER_MINUTE: '1000000',
  CLAIM_LIMIT_PER_MINUTE: '1000000',
  UNKNOWN_CODES_PER_MINUTE: '1000000',
  CHOSEN_CODES_PER_MINUTE: '1000000',
  FAILED_AUTH_PER_MINUTE: '1000000',
};
/** 10,000 USD, what the development organisation starts with. */
const STARTING_CREDITS = 10_000_000_000n;

export const OPERATOR_TOKEN = 'op_of-the-tests-0123456789-0123456789';
export const SHARED_SETTINGS = { ALLOW_LOOPBACK_URLS: 'on', OPERATOR_TOKEN };

export type AnyService = TestService<ServerAddress>;

/** The service in processes of its own. The builders act for the development organisation. */
export class TestService<S extends ServerAddress = RunningServer> {
  readonly database: TestDatabase;
  readonly server: S;
  readonly app: App;
  readonly sandbox: Sandbox;
  readonly #env: Env;
  readonly #started: RunningServer[];
  readonly #release: () => Promise<void>;
  readonly #output: () => string;
  #users = 0;

  /** In a process of its own, for tests that kill it. The database is dropped at the end unless it was given. */
  static start(env: Env = {}, given?: TestDatabase): Promise<TestService<ServerProcess>> {
    return TestService.#start((all) => startServer({ env: all }), env, given);
  }

  /** Beside others in one process, with a database of its own. */
  static hosted(env: Env = {}): Promise<TestService> {
    return TestService.#start((all) => startHosted(inject('sharedServiceUrl'), all), env);
  }

  static async #start<S extends RunningServer>(
    startWith: (env: Env) => Promise<S>,
    env: Env,
    given?: TestDatabase,
  ): Promise<TestService<S>> {
    const database = given ?? (await serverDatabase());
    const release = () => (given ? given.db.close() : database.drop());
    // A given one may be empty: the service's role is granted tables that are there.
    const roles = given ? {} : { DATABASE_URL: await serviceUrl(database.url), DATABASE_OWNER_URL: database.url };
    const common = {
      DATABASE_URL: database.url,
      ...roles,
      DATABASE_POOL_SIZE: '5',
      ...UNLIMITED,
      SVC_DEV_PUBLIC_KEY: generateKey('public', 'development'),
      SVC_DEV_SECRET_KEY: generateKey('secret', 'development'),
      ...env,
    };
    try {
      const server = await startWith(common);
      return new TestService<S>({ database, server, env: common, started: [server], release });
    } catch (error) {
      await release();
      throw error;
    }
  }

  /** One service for all test files, an organisation for each: for tests without settings, faults or a clock of their own. */
  static async shared(): Promise<AnyService> {
    const sharedUrl = inject('sharedServiceUrl');
    const response = await fetch(sharedUrl);
    if (!response.ok) throw new Error(await response.text());
    const { databaseUrl, outputFile, origin, credentials } = (await response.json()) as SharedService;
    const before = readFileSync(outputFile, 'utf8').length;
    const database = new TestDatabase(databaseUrl);
    const organization = await likeDevelopment(database.db);
    const server = { origin, isShared: true, credentials: { ...credentials, ...organization } };
    // Of role api: the jobs of all files run in the shared process.
    const common = { DATABASE_URL: await serviceUrl(databaseUrl), DATABASE_POOL_SIZE: '5', SVC_ROLE: 'api' };
    const env = { ...common, ...UNLIMITED, ...SHARED_SETTINGS };
    let isReleased = false;
    const release = async () => {
      await database.db.close();
      if (!isReleased) await fetch(sharedUrl, { method: 'DELETE' });
      isReleased = true;
    };
    const service = { database, server, env, started: [], release };
    return new TestService<ServerAddress>({ ...service, output: () => readFileSync(outputFile, 'utf8').slice(before) });
  }

  private constructor(parts: {
    readonly database: TestDatabase;
    readonly server: S;
    readonly env: Env;
    readonly started: RunningServer[];
    readonly release: () => Promise<void>;
    readonly output?: () => string;
  }) {
    this.database = parts.database;
    this.server = parts.server;
    this.#env = parts.env;
    this.#started = parts.started;
    this.#release = parts.release;
    this.#output = parts.output ?? (() => '');
    this.app = new App(parts.server);
    this.sandbox = new Sandbox(parts.server);
  }

  get db(): Database {
    return this.database.db;
  }

  /** Of the role that its processes work as; `database` is the owner's. */
  get databaseUrl(): string {
    return this.#env.DATABASE_URL ?? this.database.url;
  }

  /** One more on the same database, in a process of its own. */
  another(env: Env = {}, options: Pick<ServerOptions, 'main'> = {}): Promise<ServerProcess> {
    return this.#add(startServer({ env: { ...this.#env, ...env }, ...options }));
  }

  /** One more on the same database, beside others in one process. */
  anotherHosted(env: Env = {}): Promise<RunningServer> {
    return this.#add(startHosted(inject('sharedServiceUrl'), { ...this.#env, ...env }));
  }

  async #add<R extends RunningServer>(starting: Promise<R>): Promise<R> {
    const server = await starting;
    this.#started.push(server);
    // On the shared service the process has the keys of the real development organisation.
    const { publicKey, secretKey, organizationId } = this.server.credentials;
    return { ...server, credentials: { ...server.credentials, publicKey, secretKey, organizationId } };
  }

  errors(expected?: RegExp): Record<string, unknown>[] {
    const outputs = [this.#output(), ...this.#started.map((server) => server.output())];
    const lines = outputs.flatMap(errorLines);
    return lines.filter(({ msg }) => !expected?.test(String(msg)));
  }

  async stop(): Promise<void> {
    await Promise.all(this.#started.map((server) => server.stop()));
    await this.#release();
  }

  async organization(options: NewOrganization = {}): Promise<Organization> {
    const { name = 'Tienda Azul', environment = 'development' } = options;
    const id = options.id ?? (await createOrganization(this.db, name));
    return new Organization(this.server, id, await newKeys(this.db, id, environment));
  }

  keys(environment: Environment = 'development'): Promise<Organization> {
    return this.organization({ id: this.server.credentials.organizationId, environment });
  }

  async revokeKey(keyId: string): Promise<void> {
    if (!(await store.revokeKey(this.db, keyId))) throw new Error('There is no such key to revoke.');
  }

  async changeSettings(organizationId: string, changes: Partial<store.EnvironmentRow>): Promise<void> {
    const settings = await store.findEnvironment(this.db, organizationId, 'development');
    if (!settings) throw new Error('There is no such environment.');
    await store.updateEnvironment(this.db, { ...settings, ...changes });
  }

  async wallet({ user = `user ${this.#users++}`, classHash, usdc = '100' }: NewWallet = {}): Promise<Owner> {
    const owner = new Owner(classHash);
    await this.app.createWallet(owner, user, owner.walletType);
    await this.sandbox.faucet(owner.address, 'USDC', usdc);
    return owner;
  }

  gift(changes: object = {}): Promise<CreatedGift> {
    return this.app.gift(changes);
  }

  webhook(url: string, changes: object = {}): Promise<Webhook> {
    return this.app.webhook(url, changes);
  }

  sku(changes: object = {}): Promise<string> {
    return this.app.sku(changes);
  }

  purchase(purchase: StoredPurchase): Promise<string> {
    return storePurchase(this.db, { organizationId: this.server.credentials.organizationId, ...purchase });
  }
}

interface NewOrganization {
  /** Of one that exists. */
  readonly id?: string;
  readonly name?: string;
  readonly environment?: Environment;
}

interface NewWallet {
  readonly user?: string;
  readonly classHash?: bigint;
  /** In whole tokens. */
  readonly usdc?: string;
}

async function newKeys(db: Database, organizationId: string, environment: Environment): Promise<Keys> {
  const publicKey = await issueKey(db, { organizationId, environment, kind: 'public' });
  const secretKey = await issueKey(db, { organizationId, environment, kind: 'secret' });
  return {
    publicKey: publicKey.value,
    secretKey: secretKey.value,
    publicKeyId: publicKey.id,
    secretKeyId: secretKey.id,
    headers: { 'x-api-key': publicKey.value, authorization: `Bearer ${secretKey.value}` },
  };
}

/** Name, credits and identity provider of the development organisation, which a database has once. */
async function likeDevelopment(
  db: Database,
): Promise<{ organizationId: string; publicKey: string; secretKey: string }> {
  const organizationId = await createOrganization(db, 'Development');
  const owner = { organizationId, environment: 'development' } as const;
  const settings = await store.findEnvironment(db, organizationId, owner.environment);
  if (!settings) throw new Error('There is no such environment.');
  await store.updateEnvironment(db, { ...settings, jwks_url: 'sandbox' });
  await credit(db, { ...owner, type: 'GRANT', amount: STARTING_CREDITS, reference: 'sandbox credits' });
  const { publicKey, secretKey } = await newKeys(db, organizationId, owner.environment);
  return { organizationId, publicKey, secretKey };
}

/** The folder of the library as it is published, built once for all test files. Not to be changed. */
export async function builtSdk(): Promise<string> {
  const response = await fetch(`${inject('sharedServiceUrl')}sdk`);
  if (!response.ok) throw new Error(await response.text());
  return ((await response.json()) as { folder: string }).folder;
}

export interface SharedService extends ServerAddress {
  readonly databaseUrl: string;
  readonly outputFile: string;
}

declare module 'vitest' {
  interface ProvidedContext {
    /** Answers a `SharedService`, which runs until as many DELETEs; below it `sdk`; a POST takes a `HostOrder`. */
    sharedServiceUrl: string;
  }
}

/** The sandbox without the service. */
export async function startSandbox(): Promise<{ sandbox: Sandbox; stop(): Promise<void> }> {
  const { url, stop } = await startSandboxServer();
  return { sandbox: new Sandbox({ origin: new URL(url).origin }), stop };
}

const file = path.resolve(import.meta.dirname, '../../packages/server/catalogue/mexico.json');

export const shippedSkus = (JSON.parse(readFileSync(file, 'utf8')) as Catalogue).skus;
