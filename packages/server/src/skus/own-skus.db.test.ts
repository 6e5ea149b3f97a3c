import { PATTERN_LENGTH } from '@svc/protocol';
import { type Db, sql } from '@svc/store';
import type { TestDatabase } from '@svc/store/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { serverDatabase, whileOpen } from '../../testing/database.ts';
import { type Creation, missing, newCaller, SkuFixture, skuBody } from '../../testing/organizations.ts';
import { createOwnSku } from './own-skus.ts';
import { getSku } from './skus.ts';

let database: TestDatabase;
let fixture: SkuFixture;
beforeAll(async () => {
  database = await serverDatabase();
  fixture = new SkuFixture(database.db);
  await fixture.load('a', 'b', 'c');
});
afterAll(() => database.drop());

describe("a service of one's own", () => {
  it('is made, changed and removed, and the audit log tells of it', async () => {
    const us = await newCaller(database.db);
    const made = await fixture.create(us, { description: 'Al instante', fixedAmount: 100 });
    expect(made).toMatchObject({
      ...skuBody(),
      description: 'Al instante',
      fixedAmount: 100,
      isOwn: true,
      isOffered: true,
    });
    const changed = await fixture.update(us, 'propio', {
      name: 'Otra',
      fixedAmount: null,
      description: null,
      isOffered: false,
    });
    expect(changed).toMatchObject({ name: 'Otra', isOffered: false });
    expect(changed).not.toHaveProperty('fixedAmount');
    expect(changed).not.toHaveProperty('description');
    await fixture.remove(us, 'propio');
    await expect(fixture.remove(us, 'propio')).rejects.toMatchObject(missing);
    const [deleted, updated, created] = await fixture.audit(us);
    expect(deleted).toMatchObject({ action: 'sku.deleted', target: 'propio', actor: us.secretKeyId });
    expect(updated).toMatchObject({ action: 'sku.updated', target: 'propio' });
    expect(updated?.changes).toEqual({ name: 'Otra', fixedAmount: null, description: null, isOffered: false });
    expect(created?.changes).toMatchObject({ name: 'Recarga propia', fixedAmount: 100, isOffered: true });
  });

  it('is one of five hundred at most, even when two are made at once', async () => {
    const us = await newCaller(database.db);
    await database.db.run(sql`
      insert into own_skus (organization_id, environment, id, provider_id, name, category, reference_pattern,
        reference_label, amount_pattern, amount_label, currency, can_check_reference)
      select ${us.organizationId}, ${us.environment}, 'many-' || n, 'p', 'n', 'LUZ', '', '', '', '', 'MXN', true
      from generate_series(1, 499) n`);
    const last = (tx: Db) => createOwnSku(tx, us, skuBody({ id: 'last' }));
    const tooMany = whileOpen(database.db, last, () => fixture.create(us, { id: 'too-many' }));
    await expect(tooMany).rejects.toMatchObject({ code: 'sku_limit_reached' });
  });

  it('changes nothing, and logs nothing, when nothing differs', async () => {
    const us = await newCaller(database.db);
    const made = await fixture.create(us, { fixedAmount: 100.5 });
    expect(await fixture.update(us, 'propio', { fixedAmount: 100.5, name: 'Recarga propia', isOffered: true })).toEqual(
      made,
    );
    expect(await fixture.audit(us)).toHaveLength(1);
  });

  it('cannot take an id that the deployment or the environment has, even at once', async () => {
    const us = await newCaller(database.db);
    await expect(fixture.create(us, { id: 'a' })).rejects.toMatchObject({ code: 'sku_id_taken' });
    const results = await Promise.allSettled(Array.from({ length: 5 }, () => fixture.create(us)));
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    for (const result of results) {
      if (result.status === 'rejected') expect(result.reason).toMatchObject({ code: 'sku_id_taken' });
    }
  });

  it('may have the id of a service that the deployment gave up, hidden or not', async () => {
    const us = await newCaller(database.db);
    await fixture.update(us, 'c', { isOffered: false });
    await fixture.load('a', 'b');
    expect(await fixture.create(us, { id: 'c' })).toMatchObject({ isOwn: true, isOffered: true });
    expect((await getSku(database.db, us, 'c')).providerId).toBe('propio');
    await fixture.load('a', 'b', 'c');
  });

  it.each<[Partial<Creation>, RegExp]>([
    [{ referenceRegexValidation: '(' }, /^referenceRegexValidation: .*missing/],
    [{ referenceRegexValidation: '^(a)\\1$' }, /^referenceRegexValidation: .*invalid escape/],
    [{ amountRegexValidation: '^[0-9' }, /^amountRegexValidation: /],
    [{ amountRegexValidation: '(?=1)' }, /^amountRegexValidation: /],
    [{ referenceRegexValidation: 'a'.repeat(PATTERN_LENGTH + 1) }, /^referenceRegexValidation: .*256/],
    [{ referenceRegexValidation: '(.?){900}'.repeat(5) }, /^referenceRegexValidation: .*repeats too much/],
    [{ fixedAmount: 100, amountRegexValidation: '^50$' }, /^fixedAmount does not match/],
    [{ fixedAmount: 100.555, amountRegexValidation: '.*' }, /^fixedAmount has more than two decimals/],
    [{ fixedAmount: 1e-7, amountRegexValidation: '.*' }, /^fixedAmount/],
    [{ fixedAmount: 1e22, amountRegexValidation: '.*' }, /^fixedAmount is more than/],
    [{ logoUrl: 'http://tienda.example/logo.png' }, /^logoUrl must be an address that starts with https/],
    [{ logoUrl: 'javascript:alert(1)' }, /^logoUrl/],
    [{ logoUrl: 'logo.png' }, /^logoUrl/],
  ])('is refused as it is, naming the field and the reason: %j', async (change, message) => {
    const us = await newCaller(database.db);
    const refusal = { code: 'invalid_sku', message: expect.stringMatching(message) };
    await expect(fixture.create(us, change)).rejects.toMatchObject(refusal);
    const made = await fixture.create(us);
    const { id: _, isOffered: __, ...changes } = change;
    await expect(fixture.update(us, 'propio', changes)).rejects.toMatchObject(refusal);
    expect(await getSku(database.db, us, 'propio')).toMatchObject({ updatedAt: made.updatedAt });
    expect(await fixture.audit(us)).toHaveLength(1);
  });

  it('is judged as a whole when a part changes', async () => {
    const us = await newCaller(database.db);
    await fixture.create(us, { fixedAmount: 100, amountRegexValidation: '^100$' });
    await expect(fixture.update(us, 'propio', { fixedAmount: 50 })).rejects.toMatchObject({ code: 'invalid_sku' });
    await expect(fixture.update(us, 'propio', { amountRegexValidation: '^50$' })).rejects.toMatchObject({
      code: 'invalid_sku',
    });
    const changed = await fixture.update(us, 'propio', {
      fixedAmount: 50,
      amountRegexValidation: '^50$',
      currency: 'USD',
    });
    expect(changed).toMatchObject({ fixedAmount: 50, currency: 'USD' });
  });
});

describe("a service of the deployment's", () => {
  it('can be hidden and offered again, and nothing else of it changed', async () => {
    const us = await newCaller(database.db);
    expect(await fixture.update(us, 'a', { isOffered: false })).toMatchObject({
      id: 'a',
      isOwn: false,
      isOffered: false,
    });
    await fixture.update(us, 'a', { isOffered: false });
    await expect(fixture.update(us, 'a', { isOffered: true, name: 'Ours' })).rejects.toMatchObject({
      code: 'invalid_request',
      message: expect.stringContaining('body.name'),
    });
    await expect(fixture.remove(us, 'a')).rejects.toMatchObject(missing);
    expect((await fixture.audit(us)).map(({ changes }) => changes)).toEqual([{ isOffered: false }]);
    expect(await fixture.offered(us)).toEqual(['a hidden', 'b', 'c']);
  });
});
