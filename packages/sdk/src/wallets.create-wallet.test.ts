import { describe, expect, it } from 'vitest';
import { FakeAuthenticator } from '../testing/fake-authenticator.ts';
import { mainnetClient } from '../testing/mainnet-service.ts';
import { createClient } from './client/client.ts';
import { changeEncryptKey } from './keys/change-encrypt-key.ts';
import { changeToPasskey } from './wallet-encryption.ts';
import { createWallet } from './wallets.ts';

const user = { encryptKey: '481516', externalUserId: 'ana' };

function unusedClient() {
  const requests: string[] = [];
  const fetch = (url: string) => {
    requests.push(url);
    return Promise.reject(new Error('asked'));
  };
  return {
    requests,
    client: createClient({ baseUrl: 'http://localhost/v1', publicKey: 'pk_dev_x', bearerToken: 't', fetch }),
  };
}

describe('createWallet', () => {
  it('creates no passkey and sends nothing for a READY wallet, which has none', async () => {
    const { requests, client } = unusedClient();
    const order = { ...user, chain: 'STARKNET', walletType: 'READY', usePasskey: true } as const;
    await expect(createWallet(client, order)).rejects.toMatchObject({ code: 'invalid_input' });
    expect(requests).toEqual([]);
  });

  it.each(['4815', '123456', 'password'])('refuses %s with production keys, before any request', async (encryptKey) => {
    const { client, sent } = mainnetClient();
    const credentials = new FakeAuthenticator();
    const order = { encryptKey, externalUserId: 'ana', chain: 'STARKNET' } as const;
    const weak = { code: 'weak_encrypt_key' };
    await expect(createWallet(client, order)).rejects.toMatchObject(weak);
    await expect(createWallet(client, { ...order, usePasskey: true, passkey: { credentials } })).rejects.toMatchObject(
      weak,
    );
    const change = { externalUserId: 'ana', wallet: { publicKey: '0x1', encryptedPrivateKey: '' }, encryptKey: 'old' };
    await expect(changeEncryptKey(client, { ...change, newEncryptKey: encryptKey })).rejects.toMatchObject(weak);
    const backup = { ...change, backupEncryptKey: encryptKey, passkey: { credentials } };
    await expect(changeToPasskey(client, backup)).rejects.toMatchObject(weak);
    expect(sent).toEqual([]);
  });

  it('takes a weak secret with production keys where the app opts out', async () => {
    const { client, sent } = mainnetClient(undefined, { allowWeakEncryptKeys: true });
    await createWallet(client, { encryptKey: '1', externalUserId: 'ana', chain: 'STARKNET' });
    expect(sent.at(-1)).toMatchObject({ externalUserId: 'ana', ifNone: true });
  });

  it('refuses another chain before any request', async () => {
    const { requests, client } = unusedClient();
    await expect(createWallet(client, { ...user, chain: 'BASE' })).rejects.toMatchObject({ code: 'invalid_input' });
    expect(requests).toEqual([]);
  });
});
