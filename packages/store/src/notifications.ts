import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { connectClient, endClient } from './client.ts';

const FIRST_RETRY_MS = 50;
const MAX_RETRY_MS = 5_000;
// A connection that only listens does not notice a vanished server.
const HEARTBEAT_MS = 30_000;
const ANSWER_TIMEOUT_MS = 10_000;

export interface Listener {
  readonly connected: boolean;
  close(): Promise<void>;
}

export interface ListenHandlers {
  onMessage(payload: string): void;
  /** After every connection, the first included: earlier messages may be lost. */
  onConnect?(): void;
  onDisconnect?(): void;
}

/** What to do with the messages of each channel. */
export type Channels = Readonly<Record<string, (payload: string) => void>>;

export function listen(url: string, channel: string, handlers: ListenHandlers): Promise<Listener> {
  return listenToAll(url, { [channel]: (payload) => handlers.onMessage(payload) }, handlers);
}

/** Several channels over one connection. */
export async function listenToAll(
  url: string,
  channels: Channels,
  handlers: Pick<ListenHandlers, 'onConnect' | 'onDisconnect'>,
): Promise<Listener> {
  const closed = new AbortController();
  let client = await subscribe(url, channels);
  let connected = true;
  handlers.onConnect?.();

  const maintain = async () => {
    while (!closed.signal.aborted) {
      await untilLost(client, closed.signal);
      connected = false;
      await endClient(client);
      if (closed.signal.aborted) return;
      handlers.onDisconnect?.();
      const next = await resubscribe(url, channels, closed.signal);
      if (!next) return;
      client = next;
      connected = true;
      handlers.onConnect?.();
    }
  };
  const maintaining = maintain();
  return {
    get connected() {
      return connected;
    },
    close: async () => {
      closed.abort();
      await maintaining;
    },
  };
}

async function subscribe(url: string, channels: Channels): Promise<pg.Client> {
  const client = await connectClient(url, { application_name: 'svc listener', query_timeout: ANSWER_TIMEOUT_MS });
  client.on('notification', ({ channel, payload = '' }) => channels[channel]?.(payload));
  try {
    for (const channel of Object.keys(channels)) await client.query(`listen ${pg.escapeIdentifier(channel)}`);
    return client;
  } catch (error) {
    await endClient(client);
    throw error;
  }
}

async function resubscribe(url: string, channels: Channels, closed: AbortSignal): Promise<pg.Client | undefined> {
  for (let delay = FIRST_RETRY_MS; !closed.aborted; delay = Math.min(delay * 2, MAX_RETRY_MS)) {
    await pause(delay * (0.5 + Math.random() / 2), undefined, { signal: closed }).catch(() => {});
    if (closed.aborted) return undefined;
    const client = await subscribe(url, channels).catch(() => undefined);
    if (client && closed.aborted) await endClient(client);
    else if (client) return client;
  }
  return undefined;
}

async function untilLost(client: pg.Client, closed: AbortSignal): Promise<void> {
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
