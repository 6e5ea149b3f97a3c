import { endpoints, skuCategories } from '@svc/protocol';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectAnswer, expectError } from '../support/assertions.ts';
import { caller, send } from '../support/client.ts';
import { type AnyService, shippedSkus, TestService } from '../support/service.ts';

let service: AnyService;
let call: ReturnType<typeof caller>;
beforeAll(async () => {
  service = await TestService.shared();
  call = caller(service.server);
});
afterAll(() => service.stop());

interface SkuPage {
  readonly data: { id: string; category: string; providerId: string }[];
  readonly total: number;
  readonly page: number;
  readonly limit: number;
  readonly totalPages: number;
}

const TOTAL = shippedSkus.length;
const idsOf = (skus: readonly { id: string }[]) => skus.map(({ id }) => id);
const slice = (from: number, to: number) => idsOf(shippedSkus.slice(from, to));

async function list(query = ''): Promise<{ ids: string[]; envelope: Omit<SkuPage, 'data'> }> {
  const reply = await call(`/skus${query}`);
  expectAnswer(reply, endpoints.listSkus);
  const { data, ...envelope } = reply.body as SkuPage;
  return { ids: idsOf(data), envelope };
}

describe('the list of services', () => {
  it('starts with the first ten', async () => {
    const { ids, envelope } = await list();
    expect(ids).toEqual(slice(0, 10));
    expect(envelope).toEqual({ total: TOTAL, page: 1, limit: 10, totalPages: Math.ceil(TOTAL / 10) });
  });

  it('continues page by page without a gap or a repetition', async () => {
    const pages = await Promise.all([1, 2, 3, 4].map((page) => list(`?page=${page}&limit=30`)));
    expect(pages.flatMap(({ ids }) => ids)).toEqual(slice(0, 120));
    expect(pages.map(({ envelope }) => envelope)).toEqual(
      [1, 2, 3, 4].map((page) => ({ total: TOTAL, page, limit: 30, totalPages: Math.ceil(TOTAL / 30) })),
    );
  });

  it('ends with a page that is not full', async () => {
    const last = Math.ceil(TOTAL / 10);
    const { ids, envelope } = await list(`?page=${last}`);
    expect(ids).toEqual(slice((last - 1) * 10, TOTAL));
    expect(envelope).toMatchObject({ page: last, totalPages: last, total: TOTAL });
  });

  it('is empty beyond its last page, with the same total', async () => {
    const { ids, envelope } = await list('?page=500');
    expect(ids).toEqual([]);
    expect(envelope).toEqual({ total: TOTAL, page: 500, limit: 10, totalPages: Math.ceil(TOTAL / 10) });
  });

  it('counts a limit above 100 as 100', async () => {
    for (const limit of ['101', '100000', '999999999999999']) {
      const { ids, envelope } = await list(`?limit=${limit}`);
      expect(ids).toEqual(slice(0, 100));
      expect(envelope).toMatchObject({ limit: 100, totalPages: Math.ceil(TOTAL / 100) });
    }
  });

  it('skips as many as offset says, not as page says', async () => {
    const { ids, envelope } = await list('?offset=25&limit=10&page=9');
    expect(ids).toEqual(slice(25, 35));
    expect(envelope).toMatchObject({ page: 3, limit: 10, total: TOTAL });
    expect((await list('?offset=0&page=2')).ids).toEqual(slice(0, 10));
    expect((await list(`?offset=${TOTAL}`)).ids).toEqual([]);
  });

  it.each(skuCategories)('has services of the category %s and can show them alone', async (category) => {
    const expected = shippedSkus.filter((sku) => sku.category === category);
    const { ids, envelope } = await list(`?limit=100&category=${category}`);
    expect(expected.length).toBeGreaterThan(0);
    expect(ids).toEqual(idsOf(expected));
    expect(envelope.total).toBe(expected.length);
  });

  it('understands TELEFONIA as TELEFONICA', async () => {
    expect(await list('?category=TELEFONIA')).toEqual(await list('?category=TELEFONICA'));
  });

  it('shows one provider alone, also together with a category', async () => {
    const expected = shippedSkus.filter((sku) => sku.providerId === 'digital-mx');
    expect((await list('?provider=digital-mx&limit=100')).ids).toEqual(idsOf(expected));
    const both = expected.filter((sku) => sku.category === 'GAMING');
    expect((await list('?provider=digital-mx&category=GAMING&limit=100')).ids).toEqual(idsOf(both));
    expect(await list('?provider=nobody')).toEqual({
      ids: [],
      envelope: { total: 0, page: 1, limit: 10, totalPages: 0 },
    });
  });

  it('ignores parameters that it does not know', async () => {
    expect(await list('?colour=blue&limit=3')).toEqual(await list('?limit=3'));
  });

  it.each([
    'page=0',
    'page=-1',
    'page=1.5',
    'page=1e3',
    'page=0x10',
    'page=',
    'page=%201',
    'page=1000001',
    'page=abc',
    'limit=0',
    'limit=-5',
    'limit=ten',
    'limit=1&limit=2',
    'offset=-1',
    'offset=1.5',
    'offset=1000000001',
    'category=NOTHING',
    'category=luz',
    'category=',
    'category=LUZ&category=TV',
    `provider=${'x'.repeat(65)}`,
    'provider=%00',
    'provider=a&provider=b',
  ])('refuses ?%s and names the parameter', async (query) => {
    const reply = await call(`/skus?${query}`);
    expectError(reply, 400, 'invalid_request');
    expect((reply.body as { message: string }).message).toContain(`query.${query.split('=')[0]}`);
  });
});

describe('one service', () => {
  it('is shown with every field of the catalogue and the times of its making', async () => {
    for (const { example: _, ...sku } of [shippedSkus[0], shippedSkus[1]].filter((sku) => sku !== undefined)) {
      const reply = await call(`/skus/${sku.id}`);
      expectAnswer(reply, endpoints.getSku);
      const { createdAt, updatedAt, ...fields } = reply.body as Record<string, unknown>;
      expect(fields).toEqual(sku);
      expect(Date.parse(String(createdAt))).toBeLessThanOrEqual(Date.parse(String(updatedAt)));
    }
  });

  it('has a fixed amount as a number, or none', async () => {
    expect((await call('/skus/pase-recarga-200')).body).toMatchObject({ fixedAmount: 200 });
    expect((await call('/skus/pase-recarga')).body).not.toHaveProperty('fixedAmount');
  });

  it('is the same to a production key', async () => {
    const { server } = service;
    const { headers } = await service.keys('production');
    const reply = await send(`${server.credentials.baseUrl}/skus/pase-recarga`, { headers });
    expect(reply.text).toBe((await call('/skus/pase-recarga')).text);
  });

  it.each(['nothing', 'PASE-RECARGA', 'pase-recarga%20', '%27%20or%20true--', 'constructor', '__proto__', '%E2%82%AC'])(
    'that does not exist is 404: %s',
    async (id) => expectError(await call(`/skus/${id}`), 404, 'sku_not_found'),
  );
});

describe('checking a reference', () => {
  const check = (id: string, reference: unknown) =>
    call(`/skus/${id}/check-reference`, { method: 'POST', body: { reference } });

  it('accepts the example of every service that offers the check', async () => {
    const offered = shippedSkus.filter((sku) => sku.canCheckSkuReference && sku.example);
    expect(offered.length).toBeGreaterThan(10);
    for (const { id, example } of offered) {
      const reply = await check(id, example?.reference);
      expectAnswer(reply, endpoints.checkSkuReference);
      expect(reply.body, id).toEqual({ valid: true });
    }
  });

  it.each(['', '1', 'IMDM2841793', 'imdm28417936', 'IMDM28417936\n', ' IMDM28417936', `IMDM${'1'.repeat(900)}`, '😀'])(
    'says what is expected of %j',
    async (reference) => {
      const reply = await check('pase-recarga', reference);
      expectAnswer(reply, endpoints.checkSkuReference);
      expect(reply.body).toEqual({ valid: false, reason: expect.stringContaining('4 letras y 8 dígitos') });
    },
  );

  it('refuses a reference that is no text or too long', async () => {
    for (const reference of [undefined, null, 5, true, ['a'], {}, 'x'.repeat(1001), 'a\0']) {
      expectError(await check('pase-recarga', reference), 400, 'invalid_request');
    }
  });
});
