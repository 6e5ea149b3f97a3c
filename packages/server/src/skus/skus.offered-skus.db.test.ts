import { sql } from '@svc/store';
import type { TestDatabase } from '@svc/store/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { serverDatabase } from '../../testing/database.ts';
import { missing, newCaller, SkuFixture } from '../../testing/organizations.ts';
import { checkReference, findOfferedSku, getSku } from './skus.ts';

let database: TestDatabase;
let fixture: SkuFixture;
beforeAll(async () => {
  database = await serverDatabase();
  fixture = new SkuFixture(database.db);
  await fixture.load('a', 'b', 'c');
});
afterAll(() => database.drop());

describe('what an environment offers', () => {
  it("is the deployment's services in their order, then its own as they were made", async () => {
    const us = await newCaller(database.db);
    for (const id of ['z-first', 'y-second', 'x-third']) await fixture.create(us, { id });
    expect(await fixture.listed(us)).toEqual({ ids: ['a', 'b', 'c', 'z-first', 'y-second', 'x-third'], total: 6 });
    expect(await fixture.listed(us, { limit: 2, offset: 2 })).toEqual({ ids: ['c', 'z-first'], total: 6 });
    expect(await fixture.listed(us, { limit: 2, offset: 4 })).toEqual({ ids: ['y-second', 'x-third'], total: 6 });
    expect(await fixture.listed(us, { limit: 2, offset: 6 })).toEqual({ ids: [], total: 6 });
    expect(await fixture.listed(us, { category: 'RECARGAS' })).toEqual({
      ids: ['z-first', 'y-second', 'x-third'],
      total: 3,
    });
    expect(await fixture.listed(us, { provider: 'deployment' })).toEqual({ ids: ['a', 'b', 'c'], total: 3 });
    expect(await fixture.listed(us, { provider: 'propio', category: 'LUZ' })).toEqual({ ids: [], total: 0 });
  });

  it('stays separate: neither own services nor hidden ones reach another organisation or environment', async () => {
    const us = await newCaller(database.db);
    await fixture.create(us, { id: 'ours' });
    await fixture.update(us, 'a', { isOffered: false });
    for (const other of [await newCaller(database.db), { ...us, environment: 'production' } as const]) {
      expect((await fixture.listed(other)).ids).toEqual(['a', 'b', 'c']);
      await expect(getSku(database.db, other, 'ours')).rejects.toMatchObject(missing);
      await expect(fixture.update(other, 'ours', { name: 'stolen' })).rejects.toMatchObject(missing);
      await expect(fixture.remove(other, 'ours')).rejects.toMatchObject(missing);
      expect((await getSku(database.db, other, 'a')).id).toBe('a');
    }
    expect((await fixture.listed(us)).ids).toEqual(['b', 'c', 'ours']);
  });

  it('has no hidden service, wherever it is asked for', async () => {
    const us = await newCaller(database.db);
    await fixture.create(us, { id: 'ours', isOffered: false });
    await fixture.update(us, 'b', { isOffered: false });
    expect(await fixture.listed(us)).toEqual({ ids: ['a', 'c'], total: 2 });
    for (const id of ['ours', 'b']) {
      await expect(getSku(database.db, us, id)).rejects.toMatchObject(missing);
      await expect(findOfferedSku(database.db, us, id)).rejects.toMatchObject(missing);
      await expect(checkReference(database.db, us, id, '5512345678')).rejects.toMatchObject(missing);
    }
    expect(await fixture.offered(us)).toEqual(['a', 'b hidden', 'c', 'ours own hidden']);
    await fixture.update(us, 'ours', { isOffered: true });
    await fixture.update(us, 'b', { isOffered: true });
    expect((await fixture.listed(us)).ids).toEqual(['a', 'b', 'c', 'ours']);
  });

  it('has the service that the deployment brings in in place of an own one with the same id', async () => {
    const us = await newCaller(database.db);
    await fixture.create(us, { id: 'later', name: 'Ours', fixedAmount: 1 });
    expect(await findOfferedSku(database.db, us, 'later')).toMatchObject({ name: 'Ours', is_own: true });
    await fixture.load('a', 'b', 'c', 'later');
    const theirs = { name: 'Recarga propia', is_own: false, fixed_amount: null };
    expect(await findOfferedSku(database.db, us, 'later')).toMatchObject(theirs);
    expect(await fixture.listed(us)).toEqual({ ids: ['a', 'b', 'c', 'later'], total: 4 });
    expect(await fixture.offered(us)).toEqual(['a', 'b', 'c', 'later']);
    await expect(fixture.update(us, 'later', { name: 'Ours again' })).rejects.toMatchObject({
      code: 'invalid_request',
    });
    await fixture.load('a', 'b', 'c');
    expect(await findOfferedSku(database.db, us, 'later')).toMatchObject({ name: 'Ours', is_own: true });
    await fixture.remove(us, 'later');
    await expect(findOfferedSku(database.db, us, 'later')).rejects.toMatchObject(missing);
  });

  it('forgets with a removed service that it was hidden, unless the deployment has one under its id', async () => {
    const us = await newCaller(database.db);
    await fixture.create(us, { id: 'gone', isOffered: false });
    await fixture.create(us, { id: 'covered', isOffered: false });
    await fixture.load('a', 'b', 'c', 'covered');
    await fixture.remove(us, 'gone');
    await fixture.remove(us, 'covered');
    await fixture.load('a', 'b', 'c', 'covered', 'gone');
    expect(await fixture.offered(us)).toEqual(['a', 'b', 'c', 'covered hidden', 'gone']);
    await fixture.load('a', 'b', 'c');
  });

  it('is found by looks into primary keys, however many services there are', async () => {
    const us = await newCaller(database.db);
    await fixture.load(...Array.from({ length: 2_000 }, (_, place) => `sku-${place}`));
    await database.db.run(sql`
      insert into own_skus (organization_id, environment, id, provider_id, name, category, reference_pattern,
        reference_label, amount_pattern, amount_label, currency, can_check_reference)
      select ${us.organizationId}, ${us.environment}, 'own-' || n, 'p', 'n', 'LUZ', '', '', '', '', 'MXN', true
      from generate_series(1, 2000) n`);
    await database.db.run(sql`analyze skus, own_skus, hidden_skus`);
    const plans: string[] = [];
    const explaining = {
      one: async <T>(query: ReturnType<typeof sql>) => {
        plans.push(JSON.stringify(await database.db.rows(sql`explain ${query}`)));
        return database.db.one<T>(query);
      },
      rows: database.db.rows,
    };
    expect((await findOfferedSku(explaining, us, 'own-7')).id).toBe('own-7');
    expect((await findOfferedSku(explaining, us, 'sku-7')).id).toBe('sku-7');
    expect(plans).toHaveLength(2);
    for (const plan of plans) {
      expect(plan).toMatch(/own_skus_pkey/);
      expect(plan).toMatch(/skus_pkey/);
      expect(plan).not.toMatch(/Seq Scan on (own_)?skus/);
    }
    await fixture.load('a', 'b', 'c');
  });
});
