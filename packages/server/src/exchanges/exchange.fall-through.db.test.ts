import { fileURLToPath } from 'node:url';
import { TestDatabase } from '@svc/store/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { answeringBody as answering, samples, startRateServer } from '../../testing/servers.ts';
import { createExchange, fixedRates } from './exchange.ts';
import { getUsdAmountHandler } from './module.ts';
import { RateBook } from './rate-book.ts';
import { sourcesInOrder } from './rate-sources.ts';

let database: TestDatabase;
beforeAll(async () => {
  const folder = fileURLToPath(new URL('../../migrations', import.meta.url));
  database = await TestDatabase.create([{ name: 'svc', folder }]);
});
afterAll(() => database?.drop());

it('100 pesos find their price at each source in turn, then in the store, then nowhere', async () => {
  let time = Date.parse('2026-07-17T20:00:00Z');
  const failed: string[] = [];
  const bodies = new Map([
    ['operator', samples.operator('16')],
    ['banxico', samples.banxico('20')],
    ['frankfurter', samples.frankfurter('25')],
    ['ecb', samples.ecb('50', '1.25')],
  ]);
  const { url } = await startRateServer((request, response) => {
    const body = bodies.get(request.url?.split('/')[1] ?? '');
    return body ? answering(body)(request, response) : response.writeHead(503).end();
  });
  const sources = sourcesInOrder({
    operatorUrl: `${url}/operator`,
    banxicoToken: 't',
    banxicoUrl: `${url}/banxico`,
    frankfurterUrl: `${url}/frankfurter`,
    ecbUrl: `${url}/ecb`,
  });
  const log = ({ source, kind }: { source: string; kind: string }) => failed.push(`${source} ${kind}`);
  const production = new RateBook({ db: database.db, sources, now: () => time, log });
  const handle = getUsdAmountHandler(createExchange({ production, development: fixedRates() }));
  const priceAfter = (ms: number) => {
    time += ms;
    return handle({ query: { currencyAmount: 100, currency: 'MXN' }, environment: 'production' });
  };

  expect(await priceAfter(0)).toBe(6.25);
  bodies.delete('operator');
  expect(await priceAfter(60_001)).toBe(5);
  bodies.set('banxico', samples.banxico('N/E'));
  expect(await priceAfter(60_001)).toBe(4);
  bodies.set('frankfurter', samples.frankfurter('25', '2026-07-01'));
  expect(await priceAfter(60_001)).toBe(2.5);
  bodies.set('ecb', samples.ecb('50', '0.001'));
  failed.length = 0;
  expect(await priceAfter(4 * 86_400_000)).toBe(2.5);
  expect(failed).toEqual(['operator status', 'banxico no_rate', 'frankfurter outdated', 'ecb implausible']);
  await expect(priceAfter(2 * 86_400_000)).rejects.toMatchObject({ code: 'rate_unavailable', status: 500 });
});
