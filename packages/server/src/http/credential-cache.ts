import type { Environment } from '@svc/protocol';
import type { Db } from '@svc/store';
import { hashSecret } from '../organizations/keys.ts';
import * as store from '../organizations/store.ts';

/** How long an answer may be reused although nobody told us of a change. */
const FRESH_MS = 30_000;
/** Wrong keys are remembered too; beyond this count the memory is emptied rather than grown. */
const MAX_ENTRIES = 10_000;

interface Entry {
  readonly value: unknown;
  readonly expiresAt: number;
}

/**
 * Organisations, keys and settings, read from the database and kept in memory. An answer is kept only while this process
 * is told of changes (`trusted`), and everything is forgotten when a change is announced, so a revoked key stops working
 * on every replica at once.
 */
export class CredentialCache {
  readonly #db: Db;
  readonly #trusted: () => boolean;
  readonly #now: () => number;
  readonly #entries = new Map<string, Entry>();
  #generation = 0;

  constructor(db: Db, trusted: () => boolean, now: () => number = Date.now) {
    this.#db = db;
    this.#trusted = trusted;
    this.#now = now;
  }

  publicKey(publicKey: string): Promise<store.KeyRow | undefined> {
    return this.#remember(`public ${publicKey}`, () => store.findPublicKey(this.#db, publicKey));
  }

  secretKey(secret: string): Promise<store.KeyRow | undefined> {
    // The memory, too, holds only the hash.
    const hash = hashSecret(secret);
    return this.#remember(`secret ${hash}`, () => store.findSecretKey(this.#db, hash));
  }

  organization(id: string): Promise<store.OrganizationRow | undefined> {
    return this.#remember(`organization ${id}`, () => store.findOrganization(this.#db, id));
  }

  environment(organizationId: string, environment: Environment): Promise<store.EnvironmentRow | undefined> {
    const key = `environment ${organizationId} ${environment}`;
    return this.#remember(key, () => store.findEnvironment(this.#db, organizationId, environment));
  }

  forget(): void {
    this.#generation++;
    this.#entries.clear();
  }

  async #remember<T>(key: string, read: () => Promise<T>): Promise<T> {
    const known = this.#entries.get(key);
    if (known && known.expiresAt > this.#now() && this.#trusted()) return known.value as T;
    const generation = this.#generation;
    const value = await read();
    // A change announced while we were reading may not be in what we read.
    if (generation === this.#generation && this.#trusted()) {
      if (this.#entries.size >= MAX_ENTRIES) this.#entries.clear();
      this.#entries.set(key, { value, expiresAt: this.#now() + FRESH_MS });
    }
    return value;
  }
}
