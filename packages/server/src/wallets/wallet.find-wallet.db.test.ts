import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Owner, WalletFixture } from '../../testing/wallets.ts';
import { findWallet, walletsAt } from './wallet.ts';

let fixture: WalletFixture;
const [ana, luis, unknown] = [new Owner(), new Owner(), new Owner()];
beforeAll(async () => {
  fixture = await WalletFixture.start();
  await fixture.wallet(ana, 'ana');
  await fixture.wallet(luis, 'luis');
});
afterAll(() => fixture.stop());

describe('finding a wallet by its address', () => {
  it('shows it to its organisation and its user only', async () => {
    const find = (caller = fixture.caller()) => findWallet(fixture.db.reads, caller, ana.address);
    expect(await find()).toMatchObject({ externalUserId: 'ana', address: ana.address });
    expect(await find(fixture.caller('ana'))).toMatchObject({ externalUserId: 'ana' });
    expect(await find(fixture.caller('luis'))).toBeUndefined();
    expect(await find(fixture.caller(undefined, await fixture.newOrganization()))).toBeUndefined();
    expect(await find({ ...fixture.caller(), environment: 'production' })).toBeUndefined();
  });

  it('tells which of many addresses are wallets, of any organisation', async () => {
    const { reads } = fixture.db;
    const found = await walletsAt(reads, 'development', [ana.address, luis.address, unknown.address]);
    expect(found.map(({ address }) => address).sort()).toEqual([ana.address, luis.address].sort());
    expect(await walletsAt(reads, 'production', [ana.address])).toEqual([]);
    expect(await walletsAt(reads, 'development', [])).toEqual([]);
  });
});
