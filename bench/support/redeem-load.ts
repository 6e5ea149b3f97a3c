import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { type Database, sql } from '@svc/store';
import { endRedeems } from '../../packages/server/src/gifts/redeem.ts';
import type { RunningServer } from '../../tests/support/server.ts';
import { openPoster, type Poster } from './post.ts';

/** Often enough to keep the service busy, seldom enough to cost nothing. */
const LOOK_EVERY_MS = 2;

export interface Paid {
  readonly perSecond: number;
  /** From request to answer, in milliseconds. */
  readonly times: readonly number[];
}

export async function redeemPaid(server: RunningServer, codes: readonly string[], clients: number): Promise<Paid> {
  const posters = await openClients(server, clients);
  const queue = codes.map((code) => orderOf(server, code));
  const times: number[] = [];
  const startedAt = performance.now();
  await Promise.all(
    posters.map(async ({ post }) => {
      for (let order = queue.shift(); order; order = queue.shift()) {
        const sentAt = performance.now();
        const answer = await post(order.body, order.path);
        times.push(performance.now() - sentAt);
        if (!answer.includes('"status":"SUCCESS"')) throw new Error(answer);
      }
    }),
  );
  const ms = performance.now() - startedAt;
  for (const { close } of posters) close();
  return { perSecond: (codes.length / ms) * 1_000, times };
}

// Redeems at a service that pays nothing out, until all are reserved; answers how many a second. A request is not
// answered before it is paid, so the rows say when the next one is sent. Afterwards all are given back.
export async function redeemReserved(
  server: RunningServer,
  db: Database,
  codes: readonly string[],
  clients: number,
): Promise<number> {
  const posters = await openClients(server, codes.length);
  const answers: Promise<string>[] = [];
  const startedAt = performance.now();
  for (let reserved = 0; reserved < codes.length; reserved = await countPending(db)) {
    const next = codes.slice(answers.length, reserved + clients);
    for (const code of next) {
      const { body, path } = orderOf(server, code);
      const poster = posters[answers.length] as Poster;
      answers.push(poster.post(body, path));
    }
    await pause(LOOK_EVERY_MS);
  }
  const ms = performance.now() - startedAt;
  await giveBack(db);
  for (const answer of await Promise.all(answers)) {
    if (!answer.includes('payout_failed')) throw new Error(answer);
  }
  for (const { close } of posters) close();
  return (codes.length / ms) * 1_000;
}

function openClients(server: RunningServer, count: number): Promise<Poster[]> {
  const addressOf = (place: number) => `10.0.${place >> 8}.${place & 255}`;
  return Promise.all(
    Array.from({ length: count }, (_, place) =>
      openPoster(server.credentials.baseUrl, { 'x-forwarded-for': addressOf(place) }),
    ),
  );
}

function orderOf({ credentials }: RunningServer, code: string): { path: string; body: string } {
  const walletAddress = `0x${randomBytes(31).toString('hex')}`;
  const path = `${new URL(credentials.baseUrl).pathname}/gifts/claim/${code}/redeem`;
  return { path, body: JSON.stringify({ walletAddress, chain: 'starknet' }) };
}

async function countPending(db: Database): Promise<number> {
  const row = await db.one<{ count: bigint }>(sql`select count(*) as count from gift_redeems where status = 'PENDING'`);
  return Number(row?.count ?? 0n);
}

async function giveBack(db: Database): Promise<void> {
  const open = await db.rows<{ id: string }>(sql`select id from gift_redeems where status = 'PENDING'`);
  await db.tx((tx) =>
    endRedeems(
      tx,
      open.map(({ id }) => ({ id, end: 'FAILED', reason: 'measured' })),
    ),
  );
}
