import { sql } from '@svc/store';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Owner } from '../../testing/owner.ts';
import { openWalletHouse, refusal, type WalletHouse } from '../../testing/wallets.ts';
import { updateEncryption } from './update-encryption.ts';
import { findWallet } from './wallet.ts';

let house: WalletHouse;
beforeAll(async () => {
  house = await openWalletHouse();
});
afterAll(() => house.stop());

const kept = (owner: Owner) => findWallet(house.db.reads, house.caller(), owner.address);

function update(externalUserId: string, publicKey?: string, caller = house.caller()) {
  const body = { externalUserId, newEncryptedPrivateKey: 'newer', ...(publicKey !== undefined && { publicKey }) };
  return updateEncryption(house.db, caller, body);
}

describe('replacing the encrypted key', () => {
  it('leaves nothing of the old one and moves updatedAt', async () => {
    const owner = new Owner();
    await house.wallet(owner, 'ana');
    const before = await kept(owner);
    expect(await update('ana', undefined, house.caller('ana'))).toEqual({ success: true });
    const after = await kept(owner);
    expect(after).toMatchObject({ encryptedPrivateKey: 'newer', createdAt: before?.createdAt });
    const [from, to] = [before, after].map((wallet) => wallet?.updatedAt.getTime() ?? 0);
    expect(to).toBeGreaterThanOrEqual(from ?? 0);
    const row = await house.db.one<object>(sql`select * from wallets where address = ${owner.address}`);
    expect(JSON.stringify(row)).not.toContain('ciphertext');
  });

  it('changes what is said of the passkey in the same statement: left out stays, null goes', async () => {
    const owner = new Owner();
    await house.wallet(owner, 'pia');
    const change = (details: Partial<Parameters<typeof updateEncryption>[2]>) =>
      updateEncryption(house.db, house.caller(), {
        externalUserId: 'pia',
        newEncryptedPrivateKey: 'newer',
        ...details,
      });
    const details = () =>
      house.db.one<object>(sql`
        select encrypted_private_key_backup as backup, auth_method, credential_id, prf_supported, device_type
        from wallets where address = ${owner.address}`);
    const passkey = { authMethod: 'PASSKEY', credentialId: 'Y3JlZA', prfSupported: true, deviceType: 'platform' };
    const stored = { auth_method: 'PASSKEY', credential_id: 'Y3JlZA', prf_supported: true, device_type: 'platform' };
    await change({ ...passkey, newEncryptedPrivateKeyBackup: 'backup' });
    expect(await details()).toEqual({ ...stored, backup: 'backup' });
    await change({});
    expect(await details()).toEqual({ ...stored, backup: 'backup' });
    await change({ authMethod: 'PIN', credentialId: null, prfSupported: null, newEncryptedPrivateKeyBackup: null });
    expect(await details()).toEqual({
      auth_method: 'PIN',
      credential_id: null,
      prf_supported: null,
      device_type: 'platform',
      backup: null,
    });
  });

  it('asks which one when the user has several', async () => {
    const [first, second] = [new Owner(), new Owner()];
    await house.wallet(first, 'luis');
    await house.wallet(second, 'luis');
    await refusal(update('luis'), 'wallet_ambiguous');
    await update('luis', `0x${BigInt(first.address).toString(16).toUpperCase()}`);
    expect(await kept(first)).toMatchObject({ encryptedPrivateKey: 'newer' });
    expect(await kept(second)).toMatchObject({ encryptedPrivateKey: 'ciphertext' });
  });

  it("is refused for another user's token, and for what is not the user's", async () => {
    const owner = new Owner();
    await house.wallet(owner, 'eva');
    await refusal(update('eva', undefined, house.caller('ana')), 'other_user');
    await refusal(update('nobody'), 'wallet_not_found');
    await refusal(update('nobody', owner.address), 'wallet_not_found');
    await refusal(update('eva', new Owner().address), 'wallet_not_found');
    await refusal(
      update('eva', owner.address, house.caller(undefined, await house.newOrganization())),
      'wallet_not_found',
    );
    expect(await refusal(update('eva', 'nonsense'), 'invalid_request')).toContain('body.publicKey');
    expect(await kept(owner)).toMatchObject({ encryptedPrivateKey: 'ciphertext' });
  });
});
