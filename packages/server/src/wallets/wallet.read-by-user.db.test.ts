import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Owner, refusal, WalletFixture } from '../../testing/wallets.ts';
import { createWallet } from './create-wallet.ts';
import { newestWallet, recoverCredential } from './wallet.ts';

let fixture: WalletFixture;
beforeAll(async () => {
  fixture = await WalletFixture.start();
});
afterAll(() => fixture.stop());

const newest = (user: string, caller = fixture.caller()) => newestWallet(fixture.db.reads, caller, user);
const credential = (user: string, caller = fixture.caller()) => recoverCredential(fixture.db.reads, caller, user);

describe("a user's wallet", () => {
  it('is the newest of several', async () => {
    const [first, second] = [new Owner(), new Owner()];
    await fixture.wallet(first, 'ana');
    expect(await newest('ana')).toMatchObject({ address: first.address });
    await fixture.wallet(second, 'ana');
    expect(await newest('ana')).toMatchObject({ address: second.address });
    expect(await newest('ana', fixture.caller('ana'))).toMatchObject({ address: second.address });
  });

  it("is missing for another user's token, another organisation and in the other environment", async () => {
    await fixture.wallet(new Owner(), 'luis');
    const message = await refusal(newest('nobody'), 'wallet_not_found');
    const organization = await fixture.newOrganization();
    for (const caller of [
      fixture.caller('ana'),
      fixture.caller(undefined, organization),
      fixture.caller('luis', organization),
    ]) {
      expect(await refusal(newest('luis', caller), 'wallet_not_found')).toBe(message);
      expect(await refusal(credential('luis', caller), 'wallet_not_found')).toBe(message);
    }
    await refusal(newest('luis', { ...fixture.caller(), environment: 'production' }), 'wallet_not_found');
  });
});

describe('the passkey details of a user', () => {
  it('are those of the newest wallet, null where none were given', async () => {
    await fixture.wallet(new Owner(), 'eva');
    const nothing = { credentialId: null, authMethod: null, prfSupported: null, deviceType: null };
    expect(await credential('eva')).toEqual(nothing);
    const details = { credentialId: 'q83v', authMethod: 'passkey', prfSupported: false, deviceType: 'phone' };
    await createWallet(fixture, fixture.caller(), await fixture.request(new Owner(), 'eva', details));
    expect(await credential('eva', fixture.caller('eva'))).toEqual(details);
    await refusal(credential('nobody'), 'wallet_not_found');
  });
});
