import { setTimeout as pause } from 'node:timers/promises';
import type pg from 'pg';
import { connectClient, endClient, tryLock } from '../client.ts';
import { EmbeddedPostgresError } from './error.ts';

const CLAIM_GRACE_MS = 1_000;
const CLAIM_POLL_MS = 50;
/** Doubles after each failure: a killed server is back within a second, a full disk is tried every few seconds. */
const FIRST_RETRY_MS = 200;
const LONGEST_RETRY_MS = 5_000;
const QUERY_TIMEOUT_MS = 30_000;
const OWNER_NAME = 'svc owner';

export class Owner {
  readonly #url: string;
  readonly #folder: string;
  #client: pg.Client | undefined;
  #retired = false;
  #recovery: Promise<void> = Promise.resolve();
  #startServer: () => Promise<void> = async () => {};
  #report: (line: string) => void = () => {};

  private constructor(url: string, folder: string) {
    this.#url = url;
    this.#folder = folder;
  }

  static async claim(url: string, folder: string): Promise<Owner> {
    const owner = new Owner(url, folder);
    await owner.#claim();
    return owner;
  }

  async query(text: string, values: unknown[] = []): Promise<pg.QueryResult> {
    if (!this.#client) throw new Error('The owner of the embedded PostgreSQL has no connection.');
    return this.#client.query(text, values);
  }

  supervise(startServer: () => Promise<void>, report: (line: string) => void): void {
    this.#startServer = startServer;
    this.#report = report;
  }

  /** Keeps the lock until the server ends, so that no other process takes over a stopping server. */
  async retire(): Promise<void> {
    this.#retired = true;
    await this.#recovery;
  }

  async close(): Promise<void> {
    await this.retire();
    if (this.#client) await endClient(this.#client);
  }

  async #claim(): Promise<void> {
    const client = await connectClient(this.#url, {
      application_name: `${OWNER_NAME} ${process.pid}`,
      query_timeout: QUERY_TIMEOUT_MS,
    });
    try {
      await this.#lock(client);
    } catch (error) {
      await endClient(client);
      throw error;
    }
    this.#client = client;
    client.once('end', () => this.#lost());
  }

  async #lock(client: pg.Client): Promise<void> {
    const deadline = Date.now() + CLAIM_GRACE_MS;
    while (!(await tryLock(client, 'svc:embedded-owner'))) {
      if (Date.now() > deadline) throw await this.#inUse(client);
      await pause(CLAIM_POLL_MS);
    }
  }

  async #inUse(client: pg.Client): Promise<EmbeddedPostgresError> {
    const others = await client.query<{ name: string }>(
      'select application_name as name from pg_stat_activity where application_name like $1 and pid <> pg_backend_pid()',
      [`${OWNER_NAME} %`],
    );
    const pid = others.rows[0]?.name.slice(OWNER_NAME.length + 1);
    return new EmbeddedPostgresError(
      'in_use',
      `The database in ${this.#folder} is in use by another svc${pid ? ` (process ${pid})` : ''}. Stop that one, ` +
        'set SVC_DATA_DIR to another folder, or set DATABASE_URL so that several can share one PostgreSQL.',
    );
  }

  // A crash of one server process drops all connections; so does the end of the server.
  #lost(attempt = 0): void {
    this.#client = undefined;
    if (this.#retired) return;
    const delayMs = Math.min(FIRST_RETRY_MS * 2 ** attempt, LONGEST_RETRY_MS);
    setTimeout(() => {
      this.#recovery = this.#recover(attempt);
    }, delayMs).unref();
  }

  async #recover(attempt: number): Promise<void> {
    if (this.#retired) return;
    try {
      await this.#startServer();
      await this.#claim();
    } catch (error) {
      this.#report(`The embedded PostgreSQL cannot be used: ${error instanceof Error ? error.message : error}`);
      this.#lost(attempt + 1);
    }
  }
}
