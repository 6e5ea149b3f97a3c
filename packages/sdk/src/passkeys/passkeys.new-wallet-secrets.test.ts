import { describe, expect, it } from 'vitest';
import { FakeAuthenticator } from '../../testing/fake-authenticator.ts';
import { failure, fakeClient } from '../../testing/fake-client.ts';
import { PASSKEY, quickSeal } from '../../testing/keys.ts';
import { openKey } from '../keys/seal.ts';
import { newWalletSecrets, unlockWithPasskey } from './passkeys.ts';

const { client } = fakeClient([]);
const externalUserId = 'ana';

describe("a new wallet's secrets", () => {
  it('are the PIN alone without a passkey', async () => {
    expect(await newWalletSecrets(client, { encryptKey: '4815', externalUserId })).toEqual({
      encryptKeys: ['4815'],
      details: { authMethod: 'PIN' },
    });
  });

  it('are not the secret of a passkey alone, which could not be found again', async () => {
    const error = await failure(newWalletSecrets(client, { encryptKey: PASSKEY, externalUserId }));
    expect(error).toMatchObject({ code: 'invalid_input', message: expect.stringContaining('usePasskey') });
  });

  it('are a new passkey and the PIN as its backup, and either opens the wallet', async () => {
    const credentials = new FakeAuthenticator();
    const params = { encryptKey: '4815', usePasskey: true, externalUserId, passkey: { credentials } };
    const { encryptKeys, details } = await newWalletSecrets(client, params);
    const { credentialId, ...rest } = details;
    expect(rest).toEqual({ authMethod: 'PASSKEY', prfSupported: true, deviceType: 'platform' });
    expect(credentials.created[0]).toMatchObject({ rp: { name: 'svc' }, user: { name: 'ana' } });
    const envelope = await quickSeal({ privateKey: 5n, boundTo: 6n, encryptKeys });
    const fromPasskey = await unlockWithPasskey({ credentialId, credentials });
    for (const encryptKey of [fromPasskey, '4815']) {
      expect(await openKey({ envelope, encryptKey, boundTo: 6n })).toBe(5n);
    }
  });

  it('leave no passkey behind when the backup is refused', async () => {
    const credentials = new FakeAuthenticator();
    const params = { encryptKey: '', usePasskey: true, externalUserId, passkey: { credentials } };
    expect(await failure(newWalletSecrets(client, params))).toMatchObject({ code: 'weak_encrypt_key' });
    expect(credentials.created).toEqual([]);
  });
});
