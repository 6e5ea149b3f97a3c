import { type Db, sql } from '@svc/store';
import { type NewEvent, publishEvent } from '../../packages/server/src/events/events.ts';
import { caller, type Reply } from './client.ts';
import { eventually } from './eventually.ts';
import type { RunningServer } from './server.ts';
import type { TestService } from './service.ts';

export interface Webhook {
  readonly id: string;
  readonly url: string;
  readonly secret: string;
}

export interface Delivery {
  readonly id: string;
  readonly eventId: string;
  readonly state: string;
  readonly attempts: number;
  readonly nextAttemptAt: string | null;
  readonly attemptsMade: readonly {
    readonly number: number;
    readonly at: string;
    readonly status: number | null;
    readonly error: string | null;
    readonly response: string | null;
  }[];
}

/** A turn of a webhook whose receiver hangs takes twenty seconds, and the machine may be busy. */
export const PATIENCE_MS = 90_000;

/** Webhooks of the development organisation, by HTTP, and the events that a purchase would publish. */
export class Webhooks {
  readonly service: TestService;
  #subjects = 0;

  constructor(service: TestService) {
    this.service = service;
  }

  get db(): Db {
    return this.service.database.db;
  }

  call(path: string, method = 'GET', body?: unknown, server: RunningServer = this.service.server): Promise<Reply> {
    const sent = method === 'POST' ? (body ?? {}) : body;
    return caller(server)(`/organization/webhooks${path}`, { method, ...(sent !== undefined && { body: sent }) });
  }

  async create(url: string, changes: object = {}): Promise<Webhook> {
    const reply = await this.call('', 'POST', { url, ...changes });
    if (reply.status !== 201) throw new Error(reply.text);
    return reply.body as Webhook;
  }

  /** Makes room for others: an organisation has twenty. */
  async clear(): Promise<void> {
    const { data } = (await this.call('?limit=100')).body as { data: Webhook[] };
    for (const { id } of data) await this.call(`/${id}`, 'DELETE');
  }

  /** Sends a test; answers its delivery. */
  async test({ id }: Webhook): Promise<Delivery> {
    const reply = await this.call(`/${id}/test`, 'POST');
    if (reply.status !== 200) throw new Error(reply.text);
    return reply.body as Delivery;
  }

  /** As many events as wanted, in one transaction. */
  async publish(count: number): Promise<void> {
    const { organizationId } = this.service.server.credentials;
    await this.db.tx(async (tx) => {
      for (let made = 0; made < count; made++) {
        this.#subjects += 1;
        const subject = `txn_${this.#subjects}`;
        const data = { id: subject, status: 'SUCCESS', skuFileNumber: `F-${this.#subjects}`, padding: 'x'.repeat(800) };
        const event: NewEvent = {
          ...{ organizationId, environment: 'development', type: 'sku-purchase.completed', subject, data },
        };
        await publishEvent(tx, event);
      }
    });
  }

  async read({ id }: Webhook): Promise<Record<string, unknown>> {
    return (await this.call(`/${id}`)).body as Record<string, unknown>;
  }

  async delivery({ id }: Webhook, { id: deliveryId }: Pick<Delivery, 'id'>): Promise<Delivery> {
    return (await this.call(`/${id}/deliveries/${deliveryId}`)).body as Delivery;
  }

  /** The delivery, once it was tried so often. */
  tried(webhook: Webhook, delivery: Pick<Delivery, 'id'>, attempts: number): Promise<Delivery> {
    return eventually(
      () => this.delivery(webhook, delivery),
      (read) => read.attempts >= attempts,
      PATIENCE_MS,
    );
  }

  /** How many deliveries of a webhook are in each state. */
  async states({ id }: Webhook): Promise<Record<string, number>> {
    const rows = await this.db.rows<{ state: string; count: number }>(sql`
      select state, count(*)::integer as count from webhook_deliveries where webhook_id = ${id} group by state`);
    return Object.fromEntries(rows.map(({ state, count }) => [state, count]));
  }

  settled(webhook: Webhook, patienceMs = PATIENCE_MS): Promise<Record<string, number>> {
    return eventually(
      () => this.states(webhook),
      ({ WAITING = 0 }) => WAITING === 0,
      patienceMs,
    );
  }

  /** Makes everything that waits at a webhook due, in place of waiting for days. */
  async hurry({ id }: Webhook): Promise<void> {
    await this.db.run(sql`
      update webhook_deliveries set next_attempt_at = now() where webhook_id = ${id} and state = 'WAITING'`);
    await this.db.run(
      sql`update jobs set run_at = now() where task = 'deliver-webhooks' and key = ${id} and worker is null`,
    );
    await this.db.run(sql`select pg_notify('svc_jobs', '')`);
  }
}
