import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Owner } from '../../testing/owner.ts';
import { openWalletHouse, type WalletHouse } from '../../testing/wallets.ts';
import { findWallet, walletsAt } from './wallet.ts';

let house: WalletHouse;
const [ana, luis, nobody] = [new Owner(), new Owner(), new Owner()];
beforeAll(async () => {
  house = await openWalletHouse();
  await house.wallet(ana, 'ana');
  await house.wallet(luis, 'luis');
});
afterAll(() => house.stop());

describe('finding a wallet by its address', () => {
  it('shows it to its organisation and its user, and to nobody else', async () => {
    const find = (caller = house.caller()) => findWallet(house.db.reads, caller, ana.address);
    expect(await find()).toMatchObject({ externalUserId: 'ana', address: ana.address });
    expect(await find(house.caller('ana'))).toMatchObject({ externalUserId: 'ana' });
    expect(await find(house.caller('luis'))).toBeUndefined();
    expect(await find(house.caller(undefined, await house.newOrganization()))).toBeUndefined();
    expect(await find({ ...house.caller(), environment: 'production' })).toBeUndefined();
  });

  it('tells which of many addresses are wallets, whoever they belong to', async () => {
    const { reads } = house.db;
    const found = await walletsAt(reads, 'development', [ana.address, luis.address, nobody.address]);
    expect(found.map(({ address }) => address).sort()).toEqual([ana.address, luis.address].sort());
    expect(await walletsAt(reads, 'production', [ana.address])).toEqual([]);
    expect(await walletsAt(reads, 'development', [])).toEqual([]);
  });
});
