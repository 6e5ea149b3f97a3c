import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Owner } from '../../testing/owner.ts';
import { openWalletHouse, refusal, type WalletHouse } from '../../testing/wallets.ts';
import { createWallet } from './create-wallet.ts';
import { newestWallet, recoverCredential } from './wallet.ts';

let house: WalletHouse;
beforeAll(async () => {
  house = await openWalletHouse();
});
afterAll(() => house.stop());

const newest = (user: string, caller = house.caller()) => newestWallet(house.db.reads, caller, user);
const credential = (user: string, caller = house.caller()) => recoverCredential(house.db.reads, caller, user);

describe("a user's wallet", () => {
  it('is the newest of several', async () => {
    const [first, second] = [new Owner(), new Owner()];
    await house.wallet(first, 'ana');
    expect(await newest('ana')).toMatchObject({ address: first.address });
    await house.wallet(second, 'ana');
    expect(await newest('ana')).toMatchObject({ address: second.address });
    expect(await newest('ana', house.caller('ana'))).toMatchObject({ address: second.address });
  });

  it("is missing for another user's token, another organisation and in the other environment", async () => {
    await house.wallet(new Owner(), 'luis');
    const message = await refusal(newest('nobody'), 'wallet_not_found');
    const organization = await house.newOrganization();
    for (const caller of [
      house.caller('ana'),
      house.caller(undefined, organization),
      house.caller('luis', organization),
    ]) {
      expect(await refusal(newest('luis', caller), 'wallet_not_found')).toBe(message);
      expect(await refusal(credential('luis', caller), 'wallet_not_found')).toBe(message);
    }
    await refusal(newest('luis', { ...house.caller(), environment: 'production' }), 'wallet_not_found');
  });
});

describe('the passkey details of a user', () => {
  it('are those of the newest wallet, null where none were given', async () => {
    await house.wallet(new Owner(), 'eva');
    const nothing = { credentialId: null, authMethod: null, prfSupported: null, deviceType: null };
    expect(await credential('eva')).toEqual(nothing);
    const details = { credentialId: 'q83v', authMethod: 'passkey', prfSupported: false, deviceType: 'phone' };
    await createWallet(house, house.caller(), await house.request(new Owner(), 'eva', details));
    expect(await credential('eva', house.caller('eva'))).toEqual(details);
    await refusal(credential('nobody'), 'wallet_not_found');
  });
});
