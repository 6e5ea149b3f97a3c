import { fileURLToPath } from 'node:url';
import { sql } from '@svc/store';
import { TestDatabase } from '@svc/store/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type RateSource, RateSourceError } from './exchange.ts';
import { RateBook } from './rate-book.ts';
import type { RateFailure } from './rate-sources.ts';

const START = Date.parse('2026-07-17T20:00:00Z');
const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;
const TEN_SECONDS_MS = 10_000;
const ONE = 10n ** 18n;

interface TestSource extends RateSource {
  /** Whole pesos per dollar, or undefined to fail. */
  rate: bigint | undefined;
  asked: number;
}

let database: TestDatabase;
let time: number;
let failures: RateFailure[];

beforeAll(async () => {
  const folder = fileURLToPath(new URL('../../migrations', import.meta.url));
  database = await TestDatabase.create([{ name: 'svc', folder }]);
});
afterAll(() => database?.drop());
beforeEach(async () => {
  time = START;
  failures = [];
  await database.db.run(sql`delete from exchange_rates`);
});

function source(name: string, rate?: bigint): TestSource {
  return {
    name,
    rate,
    asked: 0,
    async mxnPerUsd() {
      this.asked += 1;
      // Lets other callers in while this one waits.
      await new Promise((resolve) => setImmediate(resolve));
      if (this.rate === undefined) throw new RateSourceError('status', 'The source answered HTTP 500.');
      return { mxnPerUsd: this.rate * ONE, observedOn: new Date(time).toISOString().slice(0, 10) };
    },
  };
}

const replica = (...sources: readonly RateSource[]) =>
  new RateBook({ db: database.db, sources, now: () => time, log: (failure) => failures.push(failure) });

/** Fetched so long ago, as a rate of 17. */
async function storeRate(ageMs: number): Promise<void> {
  const book = replica(source('earlier', 17n));
  time = START - ageMs;
  await book.current();
  time = START;
}

describe('the order of the sources', () => {
  it('is kept: the first that answers gives the rate and the rest are not asked', async () => {
    const [operator, banxico, ecb] = [source('operator'), source('banxico', 18n), source('ecb', 19n)];
    expect(await replica(operator, banxico, ecb).current()).toMatchObject({ source: 'banxico', mxnPerUsd: 18n * ONE });
    expect([operator.asked, banxico.asked, ecb.asked]).toEqual([1, 1, 0]);
    expect(failures).toEqual([{ source: 'operator', kind: 'status', message: 'The source answered HTTP 500.' }]);
  });

  it('steps over a source whose rate is absurd', async () => {
    expect(await replica(source('operator', 0n), source('ecb', 19n)).current()).toMatchObject({ source: 'ecb' });
    expect(failures).toMatchObject([{ source: 'operator', kind: 'implausible' }]);
  });

  it('begins anew with every fetch, so a source that is back is used again', async () => {
    const [operator, ecb] = [source('operator'), source('ecb', 19n)];
    const book = replica(operator, ecb);
    await book.current();
    operator.rate = 18n;
    time += MINUTE_MS + 1;
    expect(await book.current()).toMatchObject({ source: 'operator' });
  });
});

describe('the age of a rate', () => {
  it('is at most 60 seconds', async () => {
    const banxico = source('banxico', 18n);
    const book = replica(banxico);
    await book.current();
    banxico.rate = 19n;
    time += MINUTE_MS;
    expect(await book.current()).toMatchObject({ mxnPerUsd: 18n * ONE });
    expect(banxico.asked).toBe(1);
    time += 1;
    expect(await book.current()).toMatchObject({ mxnPerUsd: 19n * ONE });
    expect(banxico.asked).toBe(2);
  });

  it('counts from the moment of asking', async () => {
    const slow = source('slow', 18n);
    const mxnPerUsd = slow.mxnPerUsd.bind(slow);
    slow.mxnPerUsd = () => {
      time += 2_000;
      return mxnPerUsd();
    };
    expect(await replica(slow).current()).toMatchObject({ fetchedAt: START, validUntil: START + MINUTE_MS });
  });

  it('is not stretched by a clock that is turned back', async () => {
    const banxico = source('banxico', 18n);
    const book = replica(banxico);
    await book.current();
    time -= MINUTE_MS;
    await book.current();
    expect(banxico.asked).toBe(2);
  });
});

describe('callers at the same time', () => {
  it('share one fetch', async () => {
    const banxico = source('banxico', 18n);
    const book = replica(banxico);
    await Promise.all(Array.from({ length: 50 }, () => book.current()));
    expect(banxico.asked).toBe(1);
  });

  it('share one failure', async () => {
    const banxico = source('banxico');
    const book = replica(banxico);
    const outcomes = await Promise.allSettled(Array.from({ length: 50 }, () => book.current()));
    expect(outcomes.every(({ status }) => status === 'rejected')).toBe(true);
    expect(banxico.asked).toBe(1);
  });
});

describe('replicas on one database', () => {
  it('fetch once a minute together', async () => {
    const [banxico, other] = [source('banxico', 18n), source('other', 19n)];
    const [first, second] = [replica(banxico), replica(other)];
    const fetched = await first.current();
    time += MINUTE_MS;
    expect(await second.current()).toEqual(fetched);
    expect(other.asked).toBe(0);
    time += 1;
    expect(await second.current()).toMatchObject({ source: 'other' });
    expect(await first.current()).toMatchObject({ source: 'other' });
    expect(banxico.asked).toBe(1);
  });

  it('do not take a rate from a clock that is ahead, nor lose their own for it', async () => {
    const ahead = replica(source('ahead', 17n));
    time += 2 * MINUTE_MS;
    await ahead.current();
    time = START;
    expect(await replica(source('banxico', 18n)).current()).toMatchObject({ source: 'banxico' });
    expect(await replica().current()).toMatchObject({ source: 'banxico' });
  });

  it('share the rate that one of them fell back to', async () => {
    await storeRate(DAY_MS);
    const dead = source('dead');
    await replica(source('dead')).current();
    expect(await replica(dead).current()).toMatchObject({ source: 'earlier' });
    expect(dead.asked).toBe(0);
  });
});

describe('when no source answers', () => {
  it('a rate stored 4 days ago is used, and the sources are left alone for a while', async () => {
    await storeRate(4 * DAY_MS);
    const dead = source('dead');
    const book = replica(dead);
    expect(await book.current()).toMatchObject({ source: 'earlier', mxnPerUsd: 17n * ONE });
    time += TEN_SECONDS_MS;
    await book.current();
    expect(dead.asked).toBe(1);
    time += 1;
    await book.current();
    expect(dead.asked).toBe(2);
  });

  it('a source that is back is used after that while', async () => {
    await storeRate(DAY_MS);
    const banxico = source('banxico');
    const book = replica(banxico);
    await book.current();
    banxico.rate = 18n;
    time += TEN_SECONDS_MS + 1;
    expect(await book.current()).toMatchObject({ source: 'banxico' });
  });

  it('a stored rate is used for five days and not a moment longer', async () => {
    await storeRate(5 * DAY_MS - 1_000);
    const book = replica(source('dead'));
    expect(await book.current()).toMatchObject({ source: 'earlier', validUntil: START + 1_000 });
    time += 1_001;
    await expect(book.current()).rejects.toMatchObject({ code: 'rate_unavailable', status: 500 });
  });

  it('a rate stored 6 days ago is refused', async () => {
    await storeRate(6 * DAY_MS);
    await expect(replica(source('dead')).current()).rejects.toMatchObject({ code: 'rate_unavailable', status: 500 });
  });

  it('and nothing is stored, callers fail at once for a while instead of asking again', async () => {
    const banxico = source('banxico');
    const book = replica(banxico);
    for (let caller = 0; caller < 3; caller += 1) {
      await expect(book.current()).rejects.toMatchObject({ code: 'rate_unavailable' });
    }
    expect(banxico.asked).toBe(1);
    banxico.rate = 18n;
    time += TEN_SECONDS_MS;
    expect(await book.current()).toMatchObject({ source: 'banxico' });
  });

  it('a replica that failed takes the rate that another one has stored since', async () => {
    const book = replica(source('dead'));
    await expect(book.current()).rejects.toMatchObject({ code: 'rate_unavailable' });
    await replica(source('banxico', 18n)).current();
    expect(await book.current()).toMatchObject({ source: 'banxico' });
  });
});

describe('the rates of the last ten minutes', () => {
  const sourcesOf = async (book: RateBook) => (await book.ofLast(10)).map((rate) => rate.source);

  it('are those that were in force at some moment of them, newest first', async () => {
    await replica(source('a', 17n)).current();
    time += MINUTE_MS + 1;
    await replica(source('b', 18n)).current();
    time += 10 * MINUTE_MS;
    expect(await sourcesOf(replica(source('c', 19n)))).toEqual(['c', 'b']);
  });

  it('hold at least the current one', async () => {
    expect(await replica(source('banxico', 18n)).ofLast(10)).toMatchObject([{ mxnPerUsd: 18n * ONE }]);
  });

  it('hold an old rate that had to serve within them', async () => {
    await storeRate(4 * DAY_MS);
    const banxico = source('banxico');
    const book = replica(banxico);
    await book.current();
    banxico.rate = 18n;
    time += 9 * MINUTE_MS;
    expect(await sourcesOf(book)).toEqual(['banxico', 'earlier']);
    time += 2 * MINUTE_MS;
    expect(await sourcesOf(book)).toEqual(['banxico', 'banxico']);
  });

  it('cannot be had when there is no rate at all', async () => {
    await expect(replica(source('dead')).ofLast(10)).rejects.toMatchObject({ code: 'rate_unavailable' });
  });

  it('cannot be asked for over more than an hour', async () => {
    await expect(replica(source('banxico', 18n)).ofLast(61)).rejects.toThrow(RangeError);
    await expect(replica(source('banxico', 18n)).ofLast(Number.NaN)).rejects.toThrow(RangeError);
  });
});

describe('the history', () => {
  it('keeps every digit of a rate, its source and its day', async () => {
    const exact: RateSource = { name: 'exact', mxnPerUsd: async () => ({ mxnPerUsd: 17_123_456_789_012_345_678n }) };
    await replica(exact).current();
    expect(await replica().current()).toMatchObject({ mxnPerUsd: 17_123_456_789_012_345_678n, source: 'exact' });
    time += MINUTE_MS + 1;
    await replica(source('banxico', 18n)).current();
    expect(await replica().current()).toMatchObject({ observedOn: '2026-07-17' });
  });

  it('forgets what is older than 400 days', async () => {
    await storeRate(401 * DAY_MS);
    await storeRate(399 * DAY_MS);
    await replica(source('banxico', 18n)).current();
    const rows = await database.db.rows<{ source: string }>(sql`select source from exchange_rates order by fetched_at`);
    expect(rows.map((row) => row.source)).toEqual(['earlier', 'banxico']);
  });
});
