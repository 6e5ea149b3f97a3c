import { describe, expect, it } from 'vitest';
import { FakeAuthenticator } from '../testing/fake-authenticator.ts';
import { failure, fakeClient, json } from '../testing/fake-client.ts';
import { PASSKEY, quickSeal } from '../testing/keys.ts';
import { openWalletKey } from './keys/seal.ts';
import { changeToPasskey, unlock } from './wallet-encryption.ts';

const externalUserId = 'ana';
const walletWith = async (...encryptKeys: string[]) => ({
  publicKey: '0xabc',
  encryptedPrivateKey: await quickSeal({ privateKey: 5n, boundTo: 0xabcn, encryptKeys }),
});

describe('changing to a passkey', () => {
  it('is one write of ciphertext and credential, which unlock finds again', async () => {
    const credentials = new FakeAuthenticator();
    const details = { credentialId: '', authMethod: 'PASSKEY', prfSupported: true, deviceType: 'platform' };
    const { client, sent } = fakeClient([json({ success: true }), () => Response.json(details)]);
    const wallet = await walletWith('1111');
    const params = { externalUserId, wallet, encryptKey: '1111', passkey: { credentials } };
    const changed = await changeToPasskey(client, params);
    details.credentialId = changed.credentialId;
    const newEncryptedPrivateKey = changed.wallet.encryptedPrivateKey;
    expect(sent.map(({ body }) => body)).toEqual([
      { externalUserId, publicKey: '0xabc', newEncryptedPrivateKey, ...details },
    ]);
    const encryptKey = await unlock(client, { externalUserId, credentials });
    expect(await openWalletKey({ wallet: changed.wallet, encryptKey })).toBe(5n);
    expect(await failure(openWalletKey({ wallet: changed.wallet, encryptKey: '1111' }))).toMatchObject({
      code: 'decryption_failed',
    });
    expect(JSON.stringify(sent)).not.toContain('prf1.');
  });

  it('with a backup is opened by either, and by no earlier passkey', async () => {
    const credentials = new FakeAuthenticator({ attachment: null });
    const { client, sent } = fakeClient([json({ success: true })]);
    const wallet = await walletWith(PASSKEY, '1111');
    const params = {
      externalUserId,
      wallet,
      encryptKey: PASSKEY,
      backupEncryptKey: 'backup',
      passkey: { credentials },
    };
    const changed = await changeToPasskey(client, params);
    expect(await openWalletKey({ wallet: changed.wallet, encryptKey: 'backup' })).toBe(5n);
    for (const encryptKey of [PASSKEY, '1111']) {
      const opening = openWalletKey({ wallet: changed.wallet, encryptKey });
      expect(await failure(opening)).toMatchObject({ code: 'decryption_failed' });
    }
    // The device type of the earlier passkey is cleared.
    expect(sent[0]?.body).toMatchObject({ deviceType: null });
  });

  it.each(['at creation', 'later'] as const)(
    'has the passkey used once as it will be used, whether it evaluates %s',
    async (prf) => {
      const credentials = new FakeAuthenticator({ prf });
      const { client } = fakeClient([json({ success: true })]);
      const params = {
        externalUserId,
        wallet: await walletWith(PASSKEY),
        encryptKey: PASSKEY,
        passkey: { credentials },
      };
      await changeToPasskey(client, params);
      expect([credentials.created.length, credentials.requests.length]).toEqual([1, 1]);
    },
  );

  it('stores nothing for a passkey with an unstable secret', async () => {
    const credentials = new FakeAuthenticator({ unsteady: true });
    const { client, sent } = fakeClient([]);
    const params = { externalUserId, wallet: await walletWith(PASSKEY), encryptKey: PASSKEY, passkey: { credentials } };
    expect(await failure(changeToPasskey(client, params))).toMatchObject({ code: 'passkey_prf_unsupported' });
    expect(sent).toEqual([]);
  });

  it('creates no passkey and stores nothing with a wrong PIN, a weak backup or a READY wallet', async () => {
    const credentials = new FakeAuthenticator();
    const { client, sent } = fakeClient([]);
    const wallet = await walletWith(PASSKEY);
    const params = { externalUserId, wallet, encryptKey: PASSKEY, passkey: { credentials } };
    const change = (changes: object) => failure(changeToPasskey(client, { ...params, ...changes }));
    expect(await change({ encryptKey: '2222' })).toMatchObject({ code: 'decryption_failed' });
    expect(await change({ backupEncryptKey: '' })).toMatchObject({ code: 'weak_encrypt_key' });
    expect(await change({ wallet: { ...wallet, walletType: 'READY' } })).toMatchObject({ code: 'invalid_input' });
    expect(credentials.created).toEqual([]);
    const cannot = new FakeAuthenticator({ prf: 'none' });
    expect(await change({ passkey: { credentials: cannot } })).toMatchObject({ code: 'passkey_prf_unsupported' });
    expect(sent).toEqual([]);
  });
});

describe('unlocking by user', () => {
  it('is passkey_not_found if the wallet has none, without a prompt', async () => {
    const credentials = new FakeAuthenticator();
    const none = { credentialId: null, authMethod: 'PIN', prfSupported: null, deviceType: null };
    const { client, sent } = fakeClient([json(none)]);
    const error = await failure(unlock(client, { externalUserId: 'a b', credentials }));
    expect(error).toMatchObject({ code: 'passkey_not_found' });
    expect(sent[0]?.url).toContain('/svc-wallets/credential-recovery?externalUserId=a+b');
    expect(credentials.requests).toEqual([]);
  });
});
