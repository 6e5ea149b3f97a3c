import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Catalogue } from '@svc/protocol';
import { sql } from '@svc/store';
import type { TestDatabase } from '@svc/store/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { serverDatabase } from '../../testing/database.ts';
import { readConfig } from '../config.ts';
import {
  CatalogueError,
  checkReference,
  getSku,
  listSkus,
  loadCatalogue,
  matchesPattern,
  parseCatalogue,
} from './skus.ts';

type Item = Catalogue['skus'][number];

let database: TestDatabase;
let folder: string;
beforeAll(async () => {
  database = await serverDatabase();
  folder = await mkdtemp(path.join(tmpdir(), 'svc-catalogue-'));
});
afterAll(async () => {
  await database.drop();
  await rm(folder, { recursive: true });
});

const anyone = { organizationId: 'org_1', environment: 'development' } as const;
const item = (change: Partial<Item> = {}): Item => ({
  id: 'recarga-100',
  providerId: 'p',
  name: 'Recarga',
  category: 'RECARGAS',
  referenceRegexValidation: '^\\d{10}$',
  referenceLabel: 'Celular',
  amountRegexValidation: '^100$',
  amountLabel: 'Monto',
  fixedAmount: 100,
  currency: 'MXN',
  canCheckSkuReference: true,
  ...change,
});
const text = (...skus: Item[]) => JSON.stringify({ version: 1, skus });
const write = async (...skus: Item[]) => {
  const file = path.join(folder, 'catalogue.json');
  await writeFile(file, text(...skus));
  return file;
};
const load = async (...skus: Item[]) => loadCatalogue(database.db, await write(...skus));

describe('a catalogue file', () => {
  it.each<[string, string, RegExp]>([
    ['is not JSON', '{', /not valid JSON/],
    ['is of another version', '{"version":2,"skus":[]}', /version/],
    ['lacks a field', text(item({ name: undefined as unknown as string })), /skus\[0\]\.name is required/],
    ['has an unknown category', text(item({ category: 'X' as 'LUZ' })), /skus\[0\]\.category must be one of/],
    ['has an id without a letter', text(item({ id: '123' })), /skus\[0\]\.id must match pattern/],
    ['has an id of 32 characters', text(item({ id: 'a'.repeat(32) })), /skus\[0\]\.id/],
    ['uses an id twice', text(item(), item()), /the id recarga-100 is used twice/],
    [
      'has a pattern that does not compile',
      text(item({ referenceRegexValidation: '(' })),
      /recarga-100: referenceRegexValidation/,
    ],
    [
      'has a pattern with a backreference',
      text(item({ referenceRegexValidation: '^(a)\\1$' })),
      /referenceRegexValidation/,
    ],
    [
      'has a pattern of 257 characters',
      text(item({ referenceRegexValidation: 'a'.repeat(257) })),
      /referenceRegexValidation/,
    ],
    ['has a fixed amount outside its pattern', text(item({ fixedAmount: 5 })), /fixedAmount does not match/],
    [
      'has an example outside its pattern',
      text(item({ example: { reference: 'x', amount: '100' } })),
      /example\.reference/,
    ],
  ])('that %s is refused, and the message says where', (_, content, message) => {
    expect(() => parseCatalogue(content, 'my.json')).toThrow(CatalogueError);
    expect(() => parseCatalogue(content, 'my.json')).toThrow(message);
    expect(() => parseCatalogue(content, 'my.json')).toThrow(/my\.json/);
  });

  it('is loaded once, and again only when it changed', async () => {
    expect(await load(item())).toEqual({ count: 1, changed: true });
    expect(await load(item())).toEqual({ count: 1, changed: false });
    expect(await load(item({ name: 'Otra' }))).toEqual({ count: 1, changed: true });
    expect((await getSku(database.db, anyone, 'recarga-100')).name).toBe('Otra');
  });

  it('retires what it no longer names and brings it back when it does', async () => {
    await load(item({ id: 'a' }), item({ id: 'b' }));
    await load(item({ id: 'a' }));
    await expect(getSku(database.db, anyone, 'b')).rejects.toMatchObject({ code: 'sku_not_found' });
    expect(await database.db.rows(sql`select id from skus where id = 'b'`)).toHaveLength(1);
    await load(item({ id: 'a' }), item({ id: 'b' }));
    expect((await getSku(database.db, anyone, 'b')).id).toBe('b');
  });

  it('that is bad leaves what was loaded before', async () => {
    await load(item({ id: 'good' }));
    await expect(load(item({ id: 'worse', referenceRegexValidation: '(' }))).rejects.toThrow(CatalogueError);
    expect((await getSku(database.db, anyone, 'good')).id).toBe('good');
  });

  it('can be loaded by several replicas at once', async () => {
    const skus = Array.from({ length: 50 }, (_, i) => item({ id: `sku-${i}` }));
    const file = await write(...skus);
    const results = await Promise.all(Array.from({ length: 4 }, () => loadCatalogue(database.db, file)));
    expect(results.filter(({ changed }) => changed)).toHaveLength(1);
    expect(
      (await listSkus(database.db, anyone, { category: undefined, provider: undefined, limit: 100, offset: 0 })).total,
    ).toBe(50);
  });

  it('as shipped, loads, and every example passes its own check', async () => {
    const { count } = await loadCatalogue(database.db, readConfig({}).skuCatalogue);
    expect(count).toBeGreaterThanOrEqual(60);
    const { skus } = await listSkus(database.db, anyone, {
      category: undefined,
      provider: undefined,
      limit: 100,
      offset: 0,
    });
    expect(skus[0]).not.toHaveProperty('example');
  });
});

describe('a reference', () => {
  it('is checked by its form, for services that offer it', async () => {
    await load(item({ id: 'yes' }), item({ id: 'no', canCheckSkuReference: false }));
    expect(await checkReference(database.db, anyone, 'yes', '5512345678')).toEqual({ valid: true });
    expect(await checkReference(database.db, anyone, 'yes', '55')).toMatchObject({
      valid: false,
      reason: expect.any(String),
    });
    await expect(checkReference(database.db, anyone, 'no', '5512345678')).rejects.toMatchObject({
      code: 'reference_check_unavailable',
    });
    await expect(checkReference(database.db, anyone, 'none', '5512345678')).rejects.toMatchObject({
      code: 'sku_not_found',
    });
  });

  it('longer than any reference never matches, with any pattern', () => {
    expect(matchesPattern('^.*$', 'a'.repeat(128))).toBe(true);
    expect(matchesPattern('^.*$', 'a'.repeat(129))).toBe(false);
  });

  it('cannot make a hostile pattern run away', () => {
    // The built-in engine needs seconds for this; here it is linear and just answers.
    expect(matchesPattern('^(\\d+)*$', `${'1'.repeat(127)}!`)).toBe(false);
  });
});
