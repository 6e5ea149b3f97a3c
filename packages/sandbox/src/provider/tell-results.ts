import { type Db, sql } from '@svc/store';
import { sign } from './signature.ts';
import { deliverDue, type Word } from './store.ts';

/** The service that orders: where it takes results, and the secret that they are signed with. */
export interface ProviderClient {
  readonly providerSecret: Uint8Array;
  /** Results are posted to `/{orderId}/result` below it; undefined while there is nobody to tell. */
  readonly ordersUrl: () => string | undefined;
}

/** It is on this machine, and stores a few rows. */
const TIMEOUT_MS = 10_000;
/** Told in one look; the next look follows in a second. */
const MAX_WORDS = 20;
/** Some hours with the pauses below; after that, only who asks is told. */
const MAX_TRIES = 200;
const MAX_PAUSE_SECONDS = 60;
/** What the service understood, whether it liked it or not, is not told again. */
const UNDERSTOOD = new Set([204, 400, 404]);
const lies = {
  completed: { status: 'completed', fileNumber: '0000000000' },
  failed: { status: 'failed', reason: 'Al final no se entregó. It was not delivered after all.' },
};

interface Telling {
  readonly order_id: string;
  readonly file_number: string | null;
  readonly reason: string | null;
  readonly word: Word;
  /** How many were told before it. */
  readonly place: number;
}

/**
 * Delivers what is due and tells the results. A word is taken by moving its next turn away, so that processes seldom tell it at the same
 * time and a killed one does not lose it.
 */
export async function tellResults(
  db: Db,
  client: ProviderClient,
  now: () => number,
  signal: AbortSignal,
): Promise<void> {
  await deliverDue(db);
  const url = client.ordersUrl();
  if (url === undefined) return;
  for (const telling of await takeWords(db)) {
    const body = JSON.stringify(resultOf(telling));
    const headers = sign(client.providerSecret, telling.order_id, body, Math.floor(now() / 1_000));
    const status = await post(`${url}/${encodeURIComponent(telling.order_id)}/result`, headers, body, signal);
    if (status !== undefined && UNDERSTOOD.has(status)) await keepTold(db, telling, status);
  }
}

function takeWords(db: Db): Promise<Telling[]> {
  return db.rows<Telling>(sql`
    update sandbox.provider_orders
       set tried = tried + 1,
           tell_at = clock_timestamp() + make_interval(secs => least(${MAX_PAUSE_SECONDS}, 2 ^ least(tried, 10)))
     where order_id in (select order_id from sandbox.provider_orders
                         where to_tell <> '{}' and state <> 'accepted' and tell_at <= clock_timestamp()
                           and tried < ${MAX_TRIES}
                         order by tell_at limit ${MAX_WORDS} for update skip locked)
    returning order_id, file_number, reason, to_tell[1] as word, cardinality(told) as place`);
}

/** An answer may take longer than the next turn of a word; who told it besides has then kept it already. */
async function keepTold(db: Db, { order_id: orderId, place }: Telling, status: number): Promise<void> {
  await db.run(sql`
    update sandbox.provider_orders
       set told = told || ${status}::integer, to_tell = to_tell[2:], tried = 0, tell_at = clock_timestamp()
     where order_id = ${orderId} and cardinality(told) = ${place}`);
}

function resultOf({ file_number: fileNumber, reason, word }: Telling): object {
  if (word === 'lie') return reason === null ? lies.failed : lies.completed;
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
