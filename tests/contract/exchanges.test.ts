import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { endpoints } from '@svc/protocol';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Keys } from '../support/app.ts';
import { expectAnswer, expectError } from '../support/assertions.ts';
import { caller, send } from '../support/client.ts';
import { TestService } from '../support/service.ts';

let service: TestService;
let rates: Server;
let production: Keys;
let call: ReturnType<typeof caller>;
const LIVE_RATE = '20';

beforeAll(async () => {
  rates = createServer((_, response) => response.end(JSON.stringify({ rate: LIVE_RATE })));
  await new Promise<void>((resolve) => rates.listen(0, '127.0.0.1', resolve));
  const { port } = rates.address() as AddressInfo;
  service = await TestService.hosted({ RATE_URL: `http://127.0.0.1:${port}/` });
  const { server } = service;
  call = caller(server);
  production = (await service.keys('production')).keys;
});
afterAll(async () => {
  await service.stop();
  rates.close();
});

const convert = (amount: string, currency: string) =>
  call(`/exchanges/usd-amount?currencyAmount=${amount}&currency=${currency}`);

describe('an amount in dollars', () => {
  it.each(['0', '1', '0.000001', '0.1', '0.3', '19.99', '123456.654321', '1000000000', '999999999.999999'])(
    'stays exactly %s',
    async (amount) => {
      const reply = await convert(amount, 'USD');
      expectAnswer(reply, endpoints.getUsdAmount);
      expect(reply.text).toBe(amount === '0.000001' ? '0.000001' : String(Number(amount)));
    },
  );
});

describe('an amount in pesos, at the fixed 18.50 of development,', () => {
  it.each([
    ['185', '10'],
    ['18.5', '1'],
    ['100', '5.405405'],
    ['0', '0'],
    ['0.01', '0.000541'],
    ['9.25', '0.5'],
    ['1000000000', '54054054.054054'],
  ])('of %s is %s dollars, as a bare number', async (amount, usd) => {
    const reply = await convert(amount, 'MXN');
    expectAnswer(reply, endpoints.getUsdAmount);
    expect(reply.text).toBe(usd);
  });

  it('has at most six decimals, for any amount', async () => {
    for (const amount of ['0.07', '1.11', '33.33', '1234.56', '99999999.99']) {
      const { text } = await convert(amount, 'MXN');
      expect(text).toMatch(/^\d+(\.\d{1,6})?$/);
      expect(Number(text)).toBeCloseTo(Number(amount) / 18.5, 6);
    }
  });
});

describe('production keys', () => {
  it("convert at the live rate, not at development's", async () => {
    const url = `${service.server.credentials.baseUrl}/exchanges/usd-amount?currencyAmount=100&currency=MXN`;
    const reply = await send(url, { headers: production.headers });
    expect(reply).toMatchObject({ status: 200, text: '5' });
  });
});

describe('an amount that is none', () => {
  it.each([
    '-1',
    '-0.01',
    'NaN',
    'Infinity',
    '1e3',
    '1e400',
    '1e-7',
    '0x10',
    '',
    '%20',
    '%201',
    '1,5',
    '1.',
    '.5',
    '١',
    'null',
    '1000000000.01',
    '1000000001',
    '99999999999999999999',
    '0.0000001',
    '0.1234567',
    '1&currencyAmount=2',
  ])('is refused: %s', async (amount) => {
    expectError(await convert(amount, 'USD'), 400, 'invalid_request');
    expectError(await convert(amount, 'MXN'), 400, 'invalid_request');
  });

  // A JSON number would round these to 999999999 and to 1.
  it.each(['999999999.00000001', '1.0000000', '1.000000000000001'])('is refused, not rounded: %s', async (amount) => {
    expectError(await convert(amount, 'USD'), 400, 'invalid_request');
  });

  it('is refused when it, or its currency, is missing or unknown', async () => {
    for (const query of [
      '',
      '?currency=USD',
      '?currencyAmount=1',
      '?currencyAmount=1&currency=EUR',
      '?currencyAmount=1&currency=usd',
    ]) {
      expectError(await call(`/exchanges/usd-amount${query}`), 400, 'invalid_request');
    }
  });
});
