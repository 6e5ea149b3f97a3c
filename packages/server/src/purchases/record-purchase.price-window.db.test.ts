import { sql } from '@svc/store';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { PurchaseFixture } from '../../testing/purchases.ts';
import { refusal } from '../../testing/wallets.ts';
import { createExchange, type Exchange, type RateSource } from '../exchanges/exchange.ts';
import { RateBook } from '../exchanges/rate-book.ts';

const NOW = Date.UTC(2026, 11, 24, 12);
const WINDOW_MS = 600_000;
/** At the current rate 185 pesos are ten dollars, at the kinder one eight. */
const CURRENT = 18_500_000_000_000_000_000n;
const KINDER = '23.125';
/** 185 pesos at the kinder rate, less one percent. */
const ENOUGH_THEN = 7_920_000n;

let fixture: PurchaseFixture;
let now = NOW;
beforeAll(async () => {
  fixture = await PurchaseFixture.start();
});
afterAll(() => fixture.stop());
beforeEach(async () => {
  now = NOW;
  await fixture.db.run(sql`delete from exchange_rates`);
});

/** An exchange with one source, whose rate is the current one. */
function exchange(): Exchange {
  const source: RateSource = { name: 'test', mxnPerUsd: async () => ({ mxnPerUsd: CURRENT }) };
  const book = new RateBook({ db: fixture.db, sources: [source], now: () => now, log: () => {} });
  return createExchange({ production: book, development: book });
}

/** The kinder rate was in force until then. */
async function kinderUntil(validUntil: number): Promise<void> {
  const fetchedAt = new Date(validUntil - 60_000);
  await fixture.db.run(sql`
    insert into exchange_rates (base, quote, rate, source, fetched_at, valid_until)
    values ('USD', 'MXN', ${KINDER}, 'test', ${fetchedAt}, ${new Date(validUntil)})`);
}

const record = (hash: string) => fixture.record(fixture.body(hash), { deps: { exchange: exchange() } });

describe('a payment at the kinder of two rates', () => {
  it('is enough while that rate was in force within the last ten minutes, to the millisecond', async () => {
    await kinderUntil(NOW - WINDOW_MS);
    expect(await record(await fixture.pay(ENOUGH_THEN))).toMatchObject({ amount: String(ENOUGH_THEN) });
  });

  it('is too small a millisecond later', async () => {
    await kinderUntil(NOW - WINDOW_MS - 1);
    const message = await refusal(record(await fixture.pay(ENOUGH_THEN)), 'payment_too_small');
    expect(message).toContain('7.92 USDC, and 9.9 are needed: 99 % of 10 USD');
  });

  it('is too small by a unit even within the window', async () => {
    await kinderUntil(NOW - WINDOW_MS);
    await refusal(record(await fixture.pay(ENOUGH_THEN - 1n)), 'payment_too_small');
  });

  it('counts from the recording, however early it was paid', async () => {
    await kinderUntil(NOW);
    const hash = await fixture.pay(ENOUGH_THEN);
    now += WINDOW_MS + 1;
    await refusal(record(hash), 'payment_too_small');
    now -= 1;
    expect(await record(hash)).toMatchObject({ status: 'PENDING' });
  });
});

describe('a payment at the current rate', () => {
  it('is enough to the unit', async () => {
    expect(await record(await fixture.pay(9_900_000n))).toMatchObject({ status: 'PENDING' });
    await refusal(record(await fixture.pay(9_899_999n)), 'payment_too_small');
  });

  it('is more than enough when a rate of the last minutes was kinder', async () => {
    await kinderUntil(NOW);
    expect(await record(await fixture.pay(9_900_000n))).toMatchObject({ amount: '9900000' });
  });
});
