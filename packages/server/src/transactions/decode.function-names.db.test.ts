import { selector, toHex } from '@svc/starknet';
import { sql } from '@svc/store';
import { describe, expect, it } from 'vitest';
import { newOwner, useDatabase } from '../../testing/database.ts';
import { deleteUnusedNames, namesOf, storeNames, wellKnownName } from './decode.ts';

const records = useDatabase();
const named = (...names: string[]) => names.map((name) => ({ selector: selector(name), name }));
const newOrganization = async () => (await newOwner(records.db())).organizationId;
const find = async (organizationId: string, ...names: string[]) =>
  [...(await namesOf(records.db().reads, organizationId, names.map(selector))).values()].sort();
const stored = (organizationId: string) =>
  records.db().rows(sql`select name from function_names where organization_id = ${organizationId} order by name`);

describe('names of functions', () => {
  it('that everyone uses are known without being told, and never stored', async () => {
    const organization = await newOrganization();
    expect(await find(organization, 'transfer', 'approve', 'add_or_update_session_key')).toEqual([
      'add_or_update_session_key',
      'approve',
      'transfer',
    ]);
    await storeNames(records.db(), organization, named('transfer'));
    expect(await stored(organization)).toEqual([]);
    expect(wellKnownName(0n)).toBeUndefined();
  });

  it('are known once they were told, to the same organisation', async () => {
    const [one, other] = [await newOrganization(), await newOrganization()];
    await storeNames(records.db(), one, [...named('mint_badge'), { selector: selector('hidden'), name: undefined }]);
    await storeNames(records.db(), one, named('mint_badge', 'mint_badge', 'transfer'));
    expect(await find(one, 'mint_badge', 'hidden', 'transfer')).toEqual(['mint_badge', 'transfer']);
    expect(await find(other, 'mint_badge')).toEqual([]);
    expect(await stored(one)).toEqual([{ name: 'mint_badge' }]);
  });

  it('do not fill the database, however many are made up', async () => {
    const organization = await newOrganization();
    await records.db().run(sql`
      insert into function_names (organization_id, selector, name)
      select ${organization}, 'made up ' || n, 'made_up' from generate_series(1, 1000) as n`);
    await storeNames(records.db(), organization, named('one_too_many'));
    expect(await find(organization, 'one_too_many')).toEqual([]);
  });

  it('are forgotten a day after their last use', async () => {
    const organization = await newOrganization();
    await storeNames(records.db(), organization, named('used', 'unused'));
    await records.db().run(sql`update function_names set used_at = now() - interval '25 hours'`);
    await storeNames(records.db(), organization, named('used'));
    await deleteUnusedNames(records.db());
    expect(await find(organization, 'used', 'unused')).toEqual(['used']);
  });

  it('can be told by many at once in any order', async () => {
    const organization = await newOrganization();
    const names = Array.from({ length: 40 }, (_, index) => `call_${index}`);
    const orders = Array.from({ length: 8 }, (_, index) => (index % 2 ? names : names.toReversed()));
    await Promise.all(orders.map((order) => storeNames(records.db(), organization, named(...order))));
    expect(await stored(organization)).toHaveLength(40);
    expect(toHex(selector('transfer'))).toBe('0x83afd3f4caedc6eebf44246fe54e38c95e3179a5ec9ea81740eca5b482d12e');
  });
});
