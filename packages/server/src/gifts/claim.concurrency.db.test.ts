import { connect, type Database, type Db, listen, sql } from '@svc/store';
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { claimApp, claimDeps, DOLLAR, GAS, payMeanwhile, useGifts } from '../../testing/gifts.ts';
import { findBrokenInvariants } from '../../testing/ledger.ts';
import { readDestination, reserve } from './claim.ts';
import { REDEEMS_CHANNEL, RedeemWaiters } from './redeem.ts';

const fixture = useGifts();
const SHARE = 5n * DOLLAR + GAS;
const REQUESTS = 50;
const MAX = 10;
const processes: { app: FastifyInstance; close(): Promise<void> }[] = [];

/** As two servers would: each with connections, waiters and announcements of its own. */
async function startProcess(): Promise<(typeof processes)[number]> {
  const db: Database = connect(fixture.db.url, { max: 5 });
  const waiters = new RedeemWaiters();
  const listener = await listen(db.url, REDEEMS_CHANNEL, { onMessage: (id) => waiters.notify(id) });
  const app = await claimApp(claimDeps(db, { waiters }));
  const close = async () => {
    await app.close();
    await listener.close();
    await db.close();
  };
  return { app, close };
}

beforeAll(async () => {
  processes.push(await startProcess(), await startProcess());
});
afterAll(() => Promise.all(processes.map(({ close }) => close())));

/** Two requests for each wallet, in different spellings, at different processes. */
function redeemAll(code: string) {
  return Promise.all(
    Array.from({ length: REQUESTS }, async (_, i) => {
      const digits = `a${Math.floor(i / 2).toString(16)}`;
      const walletAddress = i % 2 === 0 ? `0x${digits}` : `0x${digits.toUpperCase().padStart(64, '0')}`;
      const reply = await processes[i % 2]?.app.inject({
        method: 'POST',
        url: `/gifts/claim/${i % 3 === 0 ? code.toLowerCase() : code}/redeem`,
        payload: { walletAddress, chain: 'starknet' },
      });
      return { status: reply?.statusCode, body: reply?.json() };
    }),
  );
}

/** The same for the same text. */
const luck = (text: string) => [...text].reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) % 1_009, 7) % 3 > 0;

describe('50 clients that redeem one code of 10 at the same time over two processes', () => {
  it.each([
    { payouts: 'succeed', decide: () => 'SUCCESS' as const },
    { payouts: 'fail now and then', decide: (id: string) => (luck(id) ? ('SUCCESS' as const) : ('FAILED' as const)) },
  ])(
    'get it 10 times at most, once for each wallet, and the ledger is exact, when payouts $payouts',
    async ({ payouts, decide }) => {
      const caller = await fixture.caller(1_000n);
      const gift = await fixture.create(caller, { maxRedeems: MAX, maxRedeemsPerUser: 1 });
      const replies = await payMeanwhile(fixture.db, redeemAll(gift.code), decide);
      const paid = replies.filter(({ status }) => status === 201);
      const failed = replies.filter(({ status }) => status === 500);
      const refused = replies.filter(({ status }) => status === 400);
      expect(paid.length + failed.length + refused.length).toBe(REQUESTS);
      if (payouts === 'succeed') expect([paid.length, failed.length]).toEqual([MAX, 0]);
      expect(paid.length).toBeLessThanOrEqual(MAX);
      for (const { body } of paid) expect(body.giftRedeem.status).toBe('SUCCESS');
      for (const { body } of failed) expect(body.error).toBe('payout_failed');
      for (const { body } of refused) expect(body.error).toMatch(/^gift_(user_)?limit_reached$/);
      const rows = await fixture.db.rows<{ address: string }>(sql`
      select address from gift_redeems where gift_id = ${gift.id} and status = 'SUCCESS'`);
      expect(rows).toHaveLength(paid.length);
      expect(new Set(rows.map(({ address }) => address)).size).toBe(paid.length);
      expect(await fixture.db.one(sql`select total_redeems from gifts where id = ${gift.id}`)).toEqual({
        total_redeems: paid.length,
      });
      expect(await fixture.balance(caller)).toMatchObject({ total: 1_000n * DOLLAR - BigInt(paid.length) * SHARE });
      expect(await findBrokenInvariants(fixture.db)).toEqual([]);
    },
  );
});

/** As wallets of recipients do: the place is taken in a transaction that does more. */
it('the last place is taken by one of two open transactions; the other waits for it and is refused', async () => {
  const caller = await fixture.caller(1_000n);
  const { id: giftId } = await fixture.create(caller, { maxRedeems: 1, maxRedeemsPerUser: 1 });
  const deps = claimDeps(fixture.db);
  const take = (tx: Db, address: string) =>
    reserve(deps, tx, { giftId, destination: readDestination('starknet', address), requestKey: undefined });
  let second: Promise<unknown> | undefined;
  await fixture.db.tx(async (tx) => {
    await take(tx, '0xa1');
    second = fixture.db.tx((other) => take(other, '0xa2')).catch((error: unknown) => error);
    // It has read, or waits for, the gift before this transaction ends.
    await expect
      .poll(() => fixture.db.rows(sql`select from pg_stat_activity where wait_event_type = 'Lock'`), LOOK)
      .not.toEqual([]);
  });
  expect(await second).toMatchObject({ code: 'gift_limit_reached' });
});

const LOOK = { timeout: 60_000, interval: 20 };
