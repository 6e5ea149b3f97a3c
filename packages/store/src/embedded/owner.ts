import { setTimeout as pause } from 'node:timers/promises';
import type pg from 'pg';
import { connectClient, endClient, tryLock } from '../client.ts';
import { EmbeddedPostgresError } from './error.ts';

const CLAIM_GRACE_MS = 1_000;
const CLAIM_POLL_MS = 50;
const RECLAIM_MS = 1_000;
const QUERY_TIMEOUT_MS = 30_000;
const OWNER_NAME = 'svc owner';

export class Owner {
  readonly #url: string;
  readonly #folder: string;
  readonly #log: (line: string) => void;
  #client: pg.Client | undefined;
  #retired = false;

  private constructor(url: string, folder: string, log: (line: string) => void) {
    this.#url = url;
    this.#folder = folder;
    this.#log = log;
  }

  static async claim(url: string, folder: string, log: (line: string) => void): Promise<Owner> {
    const owner = new Owner(url, folder, log);
    await owner.#claim();
    return owner;
  }

  async query(text: string, values: unknown[] = []): Promise<pg.QueryResult> {
    if (!this.#client) throw new Error('The owner of the embedded PostgreSQL has no connection.');
    return this.#client.query(text, values);
  }

  /** Keeps the lock until the server ends, so that no other process takes over a stopping server. */
  retire(): void {
    this.#retired = true;
  }

  async close(): Promise<void> {
    this.retire();
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

  // A crash of one server process drops all connections.
  #lost(): void {
    this.#client = undefined;
    if (this.#retired) return;
    const again = async () => {
      if (this.#retired) return;
      await this.#claim().catch((error: Error) => {
        this.#log(`The lock on the embedded PostgreSQL was lost: ${error.message}`);
        this.#lost();
      });
    };
    setTimeout(again, RECLAIM_MS).unref();
  }
}
