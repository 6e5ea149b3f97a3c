import { endpoints } from '@svc/protocol';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { credit } from '../../packages/server/src/ledger/ledger.ts';
import type { Keys } from '../support/app.ts';
import { expectAnswer, expectError } from '../support/assertions.ts';
import { caller, type Reply, send } from '../support/client.ts';
import { type AnyService, TestService } from '../support/service.ts';

let service: AnyService;
let call: ReturnType<typeof caller>;
let production: Keys;
let otherId: string;
let other: Keys;

beforeAll(async () => {
  service = await TestService.shared();
  const { server } = service;
  call = caller(server);
  production = (await service.keys('production')).keys;
  ({ id: otherId, keys: other } = await service.organization());
});
afterAll(() => service.stop());

const get = (path: string, keys: Keys): Promise<Reply> =>
  send(service.server.credentials.baseUrl + path, { headers: keys.headers });
const NOTHING = { totalUsd: 0, availableUsd: 0, heldUsd: 0 };
const EMPTY_PAGE = { data: [], total: 0, page: 1, limit: 10, totalPages: 0 };

describe('the development organisation', () => {
  it('starts with ten thousand sandbox credits', async () => {
    const reply = await call('/organization');
    expectAnswer(reply, endpoints.getOrganization);
    expect(reply.body).toMatchObject({
      id: service.server.credentials.organizationId,
      name: 'Development',
      environment: 'development',
      balance: { totalUsd: 10_000, availableUsd: 10_000, heldUsd: 0 },
    });
  });

  it('has one entry in its ledger, the grant of them', async () => {
    const reply = await call('/organization/ledger');
    expectAnswer(reply, endpoints.listLedger);
    expect(reply.body).toEqual({
      data: [
        {
          id: expect.any(String),
          type: 'GRANT',
          amountUsd: 10_000,
          availableUsd: 10_000,
          heldUsd: 0,
          holdId: null,
          reference: 'sandbox credits',
          createdAt: expect.any(String),
        },
      ],
      total: 1,
      page: 1,
      limit: 10,
      totalPages: 1,
    });
  });

  it('is not granted them again by another process', async () => {
    const second = caller(await service.anotherHosted());
    expect((await second('/organization')).body).toMatchObject({ balance: { totalUsd: 10_000 } });
    expect((await second('/organization/ledger')).body).toMatchObject({ total: 1 });
  });
});

describe('production keys of the same organisation', () => {
  it('see the organisation with credits of its own', async () => {
    const reply = await get('/organization', production);
    expectAnswer(reply, endpoints.getOrganization);
    expect(reply.body).toMatchObject({
      id: service.server.credentials.organizationId,
      environment: 'production',
      balance: NOTHING,
      // The deployment has no manager there.
      depositAddress: null,
    });
  });

  it('see a ledger of its own', async () => {
    expect((await get('/organization/ledger', production)).body).toEqual(EMPTY_PAGE);
  });
});

describe('another organisation', () => {
  it('sees itself alone', async () => {
    const reply = await get('/organization', other);
    expectAnswer(reply, endpoints.getOrganization);
    expect(reply.body).toMatchObject({ id: otherId, name: 'Tienda Azul', balance: NOTHING });
    expect((await get('/organization/ledger', other)).body).toEqual(EMPTY_PAGE);
  });
});

describe('the ledger', () => {
  const AMOUNTS = [1, 2_500_000, 10_000, 999_999_999, 5];
  let owner: Keys;
  beforeAll(async () => {
    const { db } = service.database;
    const { id: organizationId, keys } = await service.organization({ name: 'Libro' });
    owner = keys;
    for (const micros of AMOUNTS) {
      const amount = BigInt(micros);
      await credit(db, {
        organizationId,
        environment: 'development',
        type: 'DEPOSIT',
        amount,
        reference: `0x${micros}`,
      });
    }
  });

  it('shows the newest first, each with the credits after it', async () => {
    const reply = await get('/organization/ledger', owner);
    expectAnswer(reply, endpoints.listLedger);
    const { data } = reply.body as { data: { amountUsd: number; availableUsd: number; reference: string }[] };
    expect(data.map(({ amountUsd }) => amountUsd)).toEqual(AMOUNTS.map((micros) => micros / 1e6).reverse());
    expect(data.map(({ reference }) => reference)).toEqual(AMOUNTS.map((micros) => `0x${micros}`).reverse());
    expect(data[0]?.availableUsd).toBe(1002.510005);
    expect((await get('/organization', owner)).body).toMatchObject({ balance: { totalUsd: 1002.510005 } });
  });

  it('is read page by page', async () => {
    const pages = await Promise.all(
      [1, 2, 3, 4].map((page) => get(`/organization/ledger?limit=2&page=${page}`, owner)),
    );
    const bodies = pages.map(({ body }) => body as { data: { amountUsd: number }[]; page: number; totalPages: number });
    expect(bodies.map(({ data }) => data.length)).toEqual([2, 2, 1, 0]);
    expect(bodies.map(({ page, totalPages }) => [page, totalPages])).toEqual([
      [1, 3],
      [2, 3],
      [3, 3],
      [4, 3],
    ]);
    const read = bodies.flatMap(({ data }) => data.map(({ amountUsd }) => amountUsd));
    expect(read).toEqual(AMOUNTS.map((micros) => micros / 1e6).reverse());
  });

  it.each(['page=0', 'limit=0', 'limit=x', 'page=1&page=2'])('refuses ?%s', async (query) => {
    expectError(await get(`/organization/ledger?${query}`, owner), 400, 'invalid_request');
  });
});
