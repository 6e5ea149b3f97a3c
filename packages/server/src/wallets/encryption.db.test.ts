import { sql } from '@svc/store';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Owner, refusal, WalletFixture } from '../../testing/wallets.ts';
import { createWallet } from './create-wallet.ts';
import {
  deleteExpiredEncryptions,
  encryptionHistory,
  MAX_KEPT,
  purgeEncryptionHistory,
  restoreEncryption,
  updateEncryption,
} from './encryption.ts';
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
  it('leaves nothing of the old one in the wallet and moves updatedAt', async () => {
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

describe('a lost token does not destroy a wallet', () => {
  const history = async (externalUserId: string) =>
    (await encryptionHistory(fixture.db.reads, fixture.caller(), { externalUserId })).data;
  const replaceBy = (externalUserId: string, newEncryptedPrivateKey: string, caller = fixture.caller(externalUserId)) =>
    updateEncryption(fixture.db, caller, { externalUserId, newEncryptedPrivateKey });
  const restore = (externalUserId: string, id: string, caller = fixture.caller()) =>
    fixture.db.tx((tx) => restoreEncryption(fixture.db, tx, caller, { externalUserId, id }));
  const age = (days: number) =>
    fixture.db.run(sql`update replaced_encryptions set replaced_at = now() - make_interval(days => ${days})`);
  const newWallet = async (externalUserId: string) => {
    const owner = new Owner();
    await fixture.wallet(owner, externalUserId);
    return owner;
  };

  it('keeps a replaced ciphertext with its passkey, and restores both as one', async () => {
    const owner = await newWallet('zoe');
    const passkey = { authMethod: 'PASSKEY', credentialId: 'Y3JlZA', prfSupported: true, deviceType: 'platform' };
    const good = { newEncryptedPrivateKey: 'good', newEncryptedPrivateKeyBackup: 'backup', ...passkey };
    await updateEncryption(fixture.db, fixture.caller('zoe'), { externalUserId: 'zoe', ...good });
    const lost = { credentialId: null, newEncryptedPrivateKeyBackup: null };
    await updateEncryption(fixture.db, fixture.caller('zoe'), {
      externalUserId: 'zoe',
      newEncryptedPrivateKey: 'junk',
      ...lost,
    });
    const [replaced, first] = await history('zoe');
    expect(replaced).toMatchObject({
      encryptedPrivateKey: 'good',
      encryptedPrivateKeyBackup: 'backup',
      ...passkey,
      replacedBy: 'user token',
    });
    expect(first).toMatchObject({ encryptedPrivateKey: 'ciphertext', authMethod: null });
    await restore('zoe', replaced?.id ?? '');
    expect(await kept(owner)).toMatchObject({ encryptedPrivateKey: 'good' });
    const row = await fixture.db.one(sql`
      select encrypted_private_key_backup as backup, credential_id from wallets where address = ${owner.address}`);
    expect(row).toEqual({ backup: 'backup', credential_id: 'Y3JlZA' });
  });

  it('keeps the one that a restore replaces, and restoring twice is the same as once', async () => {
    const owner = await newWallet('ivo');
    await replaceBy('ivo', 'junk');
    const [entry] = await history('ivo');
    await restore('ivo', entry?.id ?? '');
    const after = await history('ivo');
    expect(after.map(({ encryptedPrivateKey }) => encryptedPrivateKey)).toEqual(['junk', 'ciphertext']);
    expect(after[0]).toMatchObject({ replacedBy: 'secret key' });
    await restore('ivo', entry?.id ?? '');
    expect(await history('ivo')).toEqual(after);
    expect(await kept(owner)).toMatchObject({ encryptedPrivateKey: 'ciphertext' });
  });

  it('never pushes the good one out: a stolen token is refused when the history is full', async () => {
    const owner = await newWallet('gil');
    const attempts = Array.from({ length: MAX_KEPT + 5 }, (_, index) => replaceBy('gil', `junk ${index}`));
    const ends = await Promise.allSettled(attempts);
    expect(ends.filter(({ status }) => status === 'fulfilled')).toHaveLength(MAX_KEPT);
    await refusal(replaceBy('gil', 'more junk'), 'encryption_history_full');
    const all = await history('gil');
    expect(all).toHaveLength(MAX_KEPT);
    const good = all.find(({ encryptedPrivateKey }) => encryptedPrivateKey === 'ciphertext');
    await restore('gil', good?.id ?? '');
    expect(await kept(owner)).toMatchObject({ encryptedPrivateKey: 'ciphertext' });
    await refusal(replaceBy('gil', 'more junk'), 'encryption_history_full');
    expect(await purgeEncryptionHistory(fixture.db, fixture.caller(), { externalUserId: 'gil' })).toEqual({
      success: true,
      deleted: MAX_KEPT + 1,
    });
    await replaceBy('gil', 'a new PIN');
    expect(await kept(owner)).toMatchObject({ encryptedPrivateKey: 'a new PIN' });
  });

  it('repeating the ciphertext in use fills no history', async () => {
    await newWallet('fay');
    for (let time = 0; time <= MAX_KEPT; time++) await replaceBy('fay', 'ciphertext');
    expect(await history('fay')).toEqual([]);
  });

  it('after 7 days it is neither shown nor restored, and the job deletes it', async () => {
    await newWallet('noa');
    await replaceBy('noa', 'newer');
    const [entry] = await history('noa');
    const days = (Date.parse(entry?.deletedAt ?? '') - Date.parse(entry?.replacedAt ?? '')) / 86_400_000;
    expect(days).toBe(7);
    await age(6);
    await deleteExpiredEncryptions(fixture.db, new AbortController().signal);
    expect(await history('noa')).toHaveLength(1);
    await age(8);
    expect(await history('noa')).toEqual([]);
    await refusal(restore('noa', entry?.id ?? ''), 'encryption_not_found');
    await deleteExpiredEncryptions(fixture.db, new AbortController().signal);
    expect(await fixture.db.rows(sql`select id from replaced_encryptions`)).toEqual([]);
  });

  it('restores no entry of another wallet, and shows nothing of another organisation', async () => {
    await newWallet('uma');
    await newWallet('max');
    await replaceBy('uma', 'newer');
    const [entry] = await history('uma');
    await refusal(restore('max', entry?.id ?? ''), 'encryption_not_found');
    const others = fixture.caller(undefined, await fixture.newOrganization());
    await refusal(encryptionHistory(fixture.db.reads, others, { externalUserId: 'uma' }), 'wallet_not_found');
    await refusal(restore('uma', entry?.id ?? '', others), 'wallet_not_found');
    await refusal(purgeEncryptionHistory(fixture.db, others, { externalUserId: 'uma' }), 'wallet_not_found');
    expect(await history('uma')).toHaveLength(1);
  });

  it('keeps the ciphertext of a failed wallet that is created anew', async () => {
    const owner = new Owner();
    const created = await fixture.wallet(owner, 'leo');
    await fixture.db.run(sql`update wallets set deployment = 'FAILED' where address = ${owner.address}`);
    expect(created.encryptedPrivateKey).toBe('ciphertext');
    await createWallet(
      fixture,
      fixture.caller('leo'),
      await fixture.request(owner, 'leo', { encryptedPrivateKey: 'anew' }),
    );
    expect(await history('leo')).toMatchObject([{ encryptedPrivateKey: 'ciphertext', replacedBy: 'user token' }]);
  });

  it('has every replacement, restore and purge in the audit log, without ciphertexts', async () => {
    await newWallet('ada');
    await replaceBy('ada', 'junk');
    const [entry] = await history('ada');
    await restore('ada', entry?.id ?? '');
    await purgeEncryptionHistory(fixture.db, fixture.caller(), { externalUserId: 'ada' });
    const log = await fixture.db.rows<{ action: string; changes: object }>(sql`
      select action, changes from audit_log where changes ->> 'externalUserId' = 'ada' order by id`);
    expect(log).toEqual([
      { action: 'wallet.encryption-replaced', changes: { externalUserId: 'ada', by: 'user token' } },
      {
        action: 'wallet.encryption-restored',
        changes: { externalUserId: 'ada', by: 'secret key', restored: entry?.id },
      },
      { action: 'wallet.encryption-history-purged', changes: { externalUserId: 'ada', by: 'secret key', deleted: 2 } },
    ]);
  });
});
