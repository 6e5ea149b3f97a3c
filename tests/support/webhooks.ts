import type { ServerResponse } from 'node:http';
import { type Db, sql } from '@svc/store';
import { type NewEvent, publishEvent } from '../../packages/server/src/events/events.ts';
import { type Behaviour, status } from '../../packages/server/testing/receiver.ts';
import type { Webhook } from './app.ts';
import { caller, type Reply } from './client.ts';
import { eventually } from './eventually.ts';
import type { ServerAddress } from './server.ts';
import type { AnyService } from './service.ts';

const GIGABYTE = 2 ** 30;
const CHUNK = Buffer.alloc(65_536, 'x');

/** Writes for as long as the other side reads. */
function pour(response: ServerResponse): void {
  let left = GIGABYTE;
  const more = () => {
    while (left > 0 && !response.destroyed) {
      left -= CHUNK.length;
      if (!response.write(CHUNK)) return;
    }
    response.end();
  };
  response.on('drain', more);
  more();
}

export interface BadReceiver {
  readonly behave: Behaviour;
  readonly status: number | null;
  readonly error: RegExp;
  /** At least, before the second attempt; jitter adds a tenth to the schedule's five seconds. */
  readonly pauseSeconds: number;
}

/** Every fault of a receiver, but 410. */
export const badReceivers: Readonly<Record<string, BadReceiver>> = {
  'answers 500': { behave: status(500), status: 500, error: /answered 500/, pauseSeconds: 5 },
  'answers 429 with Retry-After': {
    behave: status(429, { 'retry-after': '3600' }),
    status: 429,
    error: /answered 429/,
    pauseSeconds: 3_600,
  },
  redirects: {
    behave: status(302, { location: 'http://127.0.0.1:1/elsewhere' }),
    status: 302,
    error: /Redirects are not followed/,
    pauseSeconds: 5,
  },
  hangs: { behave: () => undefined, status: null, error: /did not answer within 20000 ms/, pauseSeconds: 5 },
  drips: {
    behave: (response) => {
      response.writeHead(200, { 'content-length': '1000' });
      const drip = setInterval(() => response.write('.'), 200);
      response.once('close', () => clearInterval(drip));
    },
    status: null,
    error: /did not answer within 20000 ms/,
    pauseSeconds: 5,
  },
  closes: {
    behave: (response) => void response.destroy(),
    status: null,
    error: /did not give a whole HTTP answer/,
    pauseSeconds: 5,
  },
  'sends a gigabyte': {
    behave: (response) => pour(response.writeHead(200)),
    status: null,
    error: /more than 65536 bytes/,
    pauseSeconds: 5,
  },
  'announces a gigabyte': {
    behave: (response) => pour(response.writeHead(200, { 'content-length': String(GIGABYTE) })),
    status: null,
    error: /more than 65536 bytes/,
    pauseSeconds: 5,
  },
};

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

/** A delivery to a receiver that hangs takes twenty seconds, and the machine may be busy. */
export const DELIVERY_LIMIT_MS = 90_000;

export class WebhookFixture {
  readonly service: AnyService;
  #subjects = 0;

  constructor(service: AnyService) {
    this.service = service;
  }

  get db(): Db {
    return this.service.database.db;
  }

  call(path: string, method = 'GET', body?: unknown, server: ServerAddress = this.service.server): Promise<Reply> {
    const sent = method === 'POST' ? (body ?? {}) : body;
    return caller(server)(`/organization/webhooks${path}`, { method, ...(sent !== undefined && { body: sent }) });
  }

  create(url: string, changes: object = {}): Promise<Webhook> {
    return this.service.webhook(url, changes);
  }

  /** Deletes all: an organisation has at most twenty. */
  async clear(): Promise<void> {
    const { data } = (await this.call('?limit=100')).body as { data: Webhook[] };
    for (const { id } of data) await this.call(`/${id}`, 'DELETE');
  }

  async test({ id }: Webhook): Promise<Delivery> {
    const reply = await this.call(`/${id}/test`, 'POST');
    if (reply.status !== 200) throw new Error(reply.text);
    return reply.body as Delivery;
  }

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

  tried(webhook: Webhook, delivery: Pick<Delivery, 'id'>, attempts: number): Promise<Delivery> {
    return eventually(
      () => this.delivery(webhook, delivery),
      (read) => read.attempts >= attempts,
      DELIVERY_LIMIT_MS,
    );
  }

  async states({ id }: Webhook): Promise<Record<string, number>> {
    const rows = await this.db.rows<{ state: string; count: number }>(sql`
      select state, count(*)::integer as count from webhook_deliveries where webhook_id = ${id} group by state`);
    return Object.fromEntries(rows.map(({ state, count }) => [state, count]));
  }

  settled(webhook: Webhook, limitMs = DELIVERY_LIMIT_MS): Promise<Record<string, number>> {
    return eventually(
      () => this.states(webhook),
      ({ WAITING = 0 }) => WAITING === 0,
      limitMs,
    );
  }

  async makeDue({ id }: Webhook): Promise<void> {
    await this.db.run(sql`
      update webhook_deliveries set next_attempt_at = now() where webhook_id = ${id} and state = 'WAITING'`);
    await this.db.run(
      sql`update jobs set run_at = now() where task = 'deliver-webhooks' and key = ${id} and worker is null`,
    );
    await this.db.run(sql`select pg_notify('svc_jobs', '')`);
  }
}
