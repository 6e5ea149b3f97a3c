import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { type Db, sql } from '@svc/store';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { type CallbackResult, deliverDue } from './orders.ts';

export interface ProviderClient {
  readonly providerSecret: Uint8Array;
  /** Results are posted to `/{orderId}/result` below it; undefined: no callbacks. */
  readonly ordersUrl: string | undefined;
}

/** The service is on this machine and stores a few rows. */
const TIMEOUT_MS = 10_000;
/** Per poll. */
const MAX_CALLBACKS = 20;
/** A few hours with the backoff below; after that, results come by look-up only. */
const MAX_TRIES = 200;
const MAX_PAUSE_SECONDS = 60;
/** The service understood the callback, so it is not repeated. */
const FINAL_STATUSES = new Set([204, 400, 404]);
const falseResults = {
  completed: { status: 'completed', fileNumber: '0000000000' },
  failed: { status: 'failed', reason: 'Al final no se entregó. It was not delivered after all.' },
};

interface DueCallback {
  readonly order_id: string;
  readonly file_number: string | null;
  readonly reason: string | null;
  readonly word: CallbackResult;
  readonly place: number;
}

/**
 * Claiming a callback postpones its next attempt: processes rarely send it twice, a killed one does not lose it. False when no order
 * was under way.
 */
export async function sendResults(
  db: Db,
  client: ProviderClient,
  now: () => number,
  signal: AbortSignal,
): Promise<boolean> {
  if (!(await hasOrdersUnderWay(db))) return false;
  await deliverDue(db);
  const url = client.ordersUrl;
  if (url === undefined) return true;
  for (const telling of await claimCallbacks(db)) {
    const body = JSON.stringify(resultOf(telling));
    const headers = sign(client.providerSecret, telling.order_id, body, Math.floor(now() / 1_000));
    const status = await post(`${url}/${encodeURIComponent(telling.order_id)}/result`, headers, body, signal);
    if (status !== undefined && FINAL_STATUSES.has(status)) await storeSent(db, telling, status);
  }
  return true;
}

async function hasOrdersUnderWay(db: Db): Promise<boolean> {
  const row = await db.one<{ found: boolean }>(sql`
    select exists (select from sandbox.provider_orders where state = 'accepted')
        or exists (select from sandbox.provider_orders
                    where to_tell <> '{}' and state <> 'accepted' and tried < ${MAX_TRIES}) as found`);
  return row?.found ?? false;
}

function claimCallbacks(db: Db): Promise<DueCallback[]> {
  return db.rows<DueCallback>(sql`
    update sandbox.provider_orders
       set tried = tried + 1,
           tell_at = clock_timestamp() + make_interval(secs => least(${MAX_PAUSE_SECONDS}, 2 ^ least(tried, 10)))
     where order_id in (select order_id from sandbox.provider_orders
                         where to_tell <> '{}' and state <> 'accepted' and tell_at <= clock_timestamp()
                           and tried < ${MAX_TRIES}
                         order by tell_at limit ${MAX_CALLBACKS} for update skip locked)
    returning order_id, file_number, reason, to_tell[1] as word, cardinality(told) as place`);
}

/** A slow answer may arrive after another process has sent the callback; then nothing is stored. */
async function storeSent(db: Db, { order_id: orderId, place }: DueCallback, status: number): Promise<void> {
  await db.run(sql`
    update sandbox.provider_orders
       set told = told || ${status}::integer, to_tell = to_tell[2:], tried = 0, tell_at = clock_timestamp()
     where order_id = ${orderId} and cardinality(told) = ${place}`);
}

function resultOf({ file_number: fileNumber, reason, word }: DueCallback): object {
  if (word === 'lie') return reason === null ? falseResults.failed : falseResults.completed;
  return reason === null ? { status: 'completed', fileNumber } : { status: 'failed', reason };
}

async function post(
  url: string,
  headers: Record<string, string>,
  body: string,
  signal: AbortSignal,
): Promise<number | undefined> {
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body,
      redirect: 'error',
      signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
    });
    await response.body?.cancel();
    return response.status;
  } catch {
    return undefined;
  }
}

const POLL_MS = 1_000;
/** Finds the orders of a killed process; its own wake the worker. */
const IDLE_POLL_MS = 5_000;

/** Polls for due orders and callbacks; a restarted process continues where a killed one stopped. */
export class CallbackWorker {
  readonly #stopped = new AbortController();
  #wake = new AbortController();
  readonly #done: Promise<void>;

  constructor(db: Db, client: ProviderClient, now: () => number) {
    this.#done = this.#run(db, client, now);
  }

  /** After an order that is to be delivered later. */
  wake(): void {
    this.#wake.abort();
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#done;
  }

  async #run(db: Db, client: ProviderClient, now: () => number): Promise<void> {
    const { signal } = this.#stopped;
    while (!signal.aborted) {
      this.#wake = new AbortController();
      // A failure, such as a lost database connection, is retried at the next poll.
      const isBusy = await sendResults(db, client, now, signal).catch(() => true);
      const over = isBusy ? signal : AbortSignal.any([signal, this.#wake.signal]);
      await pause(isBusy ? POLL_MS : IDLE_POLL_MS, undefined, { signal: over }).catch(() => {});
    }
  }
}

/** Longer than any client waits. */
const MAX_HOLD_MS = 120_000;

/** Holds requests without an answer until the client gives up; a stopping process drops them. */
export class HeldRequests {
  readonly #held = new Set<ServerResponse>();

  constructor(app: FastifyInstance) {
    app.addHook('preClose', async () => {
      for (const response of this.#held) response.destroy();
    });
  }

  hold(reply: FastifyReply): FastifyReply {
    const response = reply.hijack().raw;
    const timer = setTimeout(() => response.destroy(), MAX_HOLD_MS);
    this.#held.add(response);
    response.once('close', () => {
      clearTimeout(timer);
      this.#held.delete(response);
    });
    return reply;
  }
}

/** Clock tolerance of Standard Webhooks. */
const TOLERANCE_SECONDS = 300;

export function sign(secret: Uint8Array, id: string, body: string, nowSeconds: number): Record<string, string> {
  return {
    'webhook-id': id,
    'webhook-timestamp': String(nowSeconds),
    'webhook-signature': `v1,${digest(secret, `${id}.${nowSeconds}.`, Buffer.from(body)).toString('base64')}`,
  };
}

export function isSigned(
  secret: Uint8Array,
  headers: IncomingHttpHeaders,
  id: string,
  body: Uint8Array,
  nowSeconds: number,
): boolean {
  const { 'webhook-id': signedId, 'webhook-timestamp': timestamp, 'webhook-signature': signature } = headers;
  if (signedId !== id || typeof timestamp !== 'string' || typeof signature !== 'string') return false;
  if (!/^\d{1,12}$/.test(timestamp) || Math.abs(nowSeconds - Number(timestamp)) > TOLERANCE_SECONDS) return false;
  const wanted = digest(secret, `${id}.${timestamp}.`, body);
  const given = signature.startsWith('v1,') ? Buffer.from(signature.slice('v1,'.length), 'base64') : Buffer.alloc(0);
  return given.length === wanted.length && timingSafeEqual(given, wanted);
}

function digest(secret: Uint8Array, start: string, body: Uint8Array): Buffer {
  return createHmac('sha256', secret).update(start).update(body).digest();
}
