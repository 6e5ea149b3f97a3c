import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { connectClient, endClient } from './client.ts';

const FIRST_RETRY_MS = 50;
// A database that restarts is back within seconds; asking more seldom would leave caches stale for no gain.
const MAX_RETRY_MS = 5_000;
// A connection that only listens does not notice a vanished server by itself.
const HEARTBEAT_MS = 30_000;
const ANSWER_TIMEOUT_MS = 10_000;

export interface Listener {
  readonly connected: boolean;
  close(): Promise<void>;
}

export interface ListenHandlers {
  onMessage(payload: string): void;
  /** After every connection, the first included: what was sent before it is unknown. */
  onConnect?(): void;
  onDisconnect?(): void;
}

/** Listens on one connection and connects again for as long as it is not closed. Rejects when the first connection fails. */
export async function listen(url: string, channel: string, handlers: ListenHandlers): Promise<Listener> {
  const closed = new AbortController();
  let client = await subscribe(url, channel, handlers);
  let connected = true;
  handlers.onConnect?.();

  const keep = async () => {
    while (!closed.signal.aborted) {
      await stay(client, closed.signal);
      connected = false;
      await endClient(client);
      if (closed.signal.aborted) return;
      handlers.onDisconnect?.();
      const next = await resubscribe(url, channel, handlers, closed.signal);
      if (!next) return;
      client = next;
      connected = true;
      handlers.onConnect?.();
    }
  };
  const keeping = keep();
  return {
    get connected() {
      return connected;
    },
    close: async () => {
      closed.abort();
      await keeping;
    },
  };
}

async function subscribe(url: string, channel: string, handlers: ListenHandlers): Promise<pg.Client> {
  const client = await connectClient(url, { application_name: 'svc listener', query_timeout: ANSWER_TIMEOUT_MS });
  client.on('notification', (message) => handlers.onMessage(message.payload ?? ''));
  try {
    await client.query(`listen ${pg.escapeIdentifier(channel)}`);
    return client;
  } catch (error) {
    await endClient(client);
    throw error;
  }
}

/** Tries until it succeeds; undefined once the listener is closed. */
async function resubscribe(
  url: string,
  channel: string,
  handlers: ListenHandlers,
  closed: AbortSignal,
): Promise<pg.Client | undefined> {
  for (let delay = FIRST_RETRY_MS; !closed.aborted; delay = Math.min(delay * 2, MAX_RETRY_MS)) {
    // Replicas that lost the same server must not all come back in the same instant.
    await pause(delay * (0.5 + Math.random() / 2), undefined, { signal: closed }).catch(() => {});
    if (closed.aborted) return undefined;
    const client = await subscribe(url, channel, handlers).catch(() => undefined);
    if (client && closed.aborted) await endClient(client);
    else if (client) return client;
  }
  return undefined;
}

/** Returns when the connection is lost, no longer answers, or the listener is closed. */
async function stay(client: pg.Client, closed: AbortSignal): Promise<void> {
  const ended = new AbortController();
  client.once('end', () => ended.abort());
  const over = AbortSignal.any([closed, ended.signal]);
  while (!over.aborted) {
    await pause(HEARTBEAT_MS, undefined, { signal: over }).catch(() => {});
    if (over.aborted) return;
    const answered = await client.query('select 1').then(
      () => true,
      () => false,
    );
    if (!answered) return;
  }
}
