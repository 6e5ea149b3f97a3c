import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { CONNECT_TIMEOUT_MS } from './limits.ts';
import { types } from './types.ts';

// A server that is there closes the connection at once.
const GOODBYE_MS = 1_000;

/** One connection of its own, for what a pool cannot do: locks and notifications that live as long as it does. */
export async function connectClient(url: string, settings: pg.ClientConfig = {}): Promise<pg.Client> {
  const client = new pg.Client({
    connectionString: url,
    application_name: 'svc',
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
    types,
    ...settings,
  });
  // Losing the connection rejects what runs on it and emits 'end'; unheard, the error event would end the process.
  client.on('error', () => {});
  await client.connect();
  return client;
}

/** Runs `work` on a connection that is closed afterwards, whatever happens. */
export async function withClient<T>(
  url: string,
  settings: pg.ClientConfig,
  work: (client: pg.Client) => Promise<T>,
): Promise<T> {
  const client = await connectClient(url, settings);
  try {
    return await work(client);
  } finally {
    await endClient(client);
  }
}

/** Says goodbye, and does not wait for a server that no longer answers. */
export async function endClient(client: pg.Client): Promise<void> {
  await Promise.race([client.end(), pause(GOODBYE_MS, undefined, { ref: false })]);
}
