import { sql } from '@svc/store';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Owner, refusal, WalletFixture } from '../../testing/wallets.ts';
import { updateEncryption } from './update-encryption.ts';
import { findWallet } from './wallet.ts';

let fixture: WalletFixture;
beforeAll(async () => {
  fixture = await WalletFixture.start();
});
afterAll(() => fixture.stop());

const kept = (owner: Owner) => findWallet(fixture.db.reads, fixture.caller(), owner.address);

function update(externalUserId: string, publicKey?: string, caller = fixture.caller()) {
  const body = { externalUserId, newEncryptedPrivateKey: 'newer', ...(publicKey !== undefined && { publicKey }) };
  return updateEncryption(fixture.db, caller, body);
}

describe('replacing the encrypted key', () => {
  it('leaves nothing of the old one and moves updatedAt', async () => {
    const owner = new Owner();
    await fixture.wallet(owner, 'ana');
    const before = await kept(owner);
    expect(await update('ana', undefined, fixture.caller('ana'))).toEqual({ success: true });
    const after = await kept(owner);
    expect(after).toMatchObject({ encryptedPrivateKey: 'newer', createdAt: before?.createdAt });
    const [from, to] = [before, after].map((wallet) => wallet?.updatedAt.getTime() ?? 0);
    expect(to).toBeGreaterThanOrEqual(from ?? 0);
    const row = await fixture.db.one<object>(sql`select * from wallets where address = ${owner.address}`);
    expect(JSON.stringify(row)).not.toContain('ciphertext');
  });

  it('changes what is said of the passkey in the same statement: left out stays, null goes', async () => {
    const owner = new Owner();
    await fixture.wallet(owner, 'pia');
    const change = (details: Partial<Parameters<typeof updateEncryption>[2]>) =>
      updateEncryption(fixture.db, fixture.caller(), {
        externalUserId: 'pia',
        newEncryptedPrivateKey: 'newer',
        ...details,
      });
    const details = () =>
      fixture.db.one<object>(sql`
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
    await fixture.wallet(first, 'luis');
    await fixture.wallet(second, 'luis');
    await refusal(update('luis'), 'wallet_ambiguous');
    await update('luis', `0x${BigInt(first.address).toString(16).toUpperCase()}`);
    expect(await kept(first)).toMatchObject({ encryptedPrivateKey: 'newer' });
    expect(await kept(second)).toMatchObject({ encryptedPrivateKey: 'ciphertext' });
  });

  it("is refused for another user's token, and for what is not the user's", async () => {
    const owner = new Owner();
    await fixture.wallet(owner, 'eva');
    await refusal(update('eva', undefined, fixture.caller('ana')), 'other_user');
    await refusal(update('nobody'), 'wallet_not_found');
    await refusal(update('nobody', owner.address), 'wallet_not_found');
    await refusal(update('eva', new Owner().address), 'wallet_not_found');
    await refusal(
      update('eva', owner.address, fixture.caller(undefined, await fixture.newOrganization())),
      'wallet_not_found',
    );
    expect(await refusal(update('eva', 'nonsense'), 'invalid_request')).toContain('body.publicKey');
    expect(await kept(owner)).toMatchObject({ encryptedPrivateKey: 'ciphertext' });
  });
});
