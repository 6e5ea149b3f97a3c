import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Client, createClient } from '../../packages/sdk/src/client/client.ts';
import { SvcKeyError } from '../../packages/sdk/src/client/errors.ts';
import { changeEncryptKey } from '../../packages/sdk/src/keys/change-encrypt-key.ts';
import { openWalletKey } from '../../packages/sdk/src/keys/seal.ts';
import { changeToPasskey, unlock } from '../../packages/sdk/src/wallet-encryption.ts';
import { createWallet, getWallet, recoverCredential } from '../../packages/sdk/src/wallets.ts';
import { FakeAuthenticator } from '../../packages/sdk/testing/fake-authenticator.ts';
import { oldFormat } from '../../packages/sdk/testing/keys.ts';
import { App, Owner } from '../support/app.ts';
import { userToken } from '../support/client.ts';
import type { ServerAddress } from '../support/server.ts';
import { type AnyService, TestService } from '../support/service.ts';

let service: AnyService;
let server: ServerAddress;
let client: Client;
/** As in a browser: with the user's token, without the secret key. */
let asUser: (externalUserId: string) => Promise<Client>;

beforeAll(async () => {
  service = await TestService.shared();
  ({ server } = service);
  const { baseUrl, publicKey, secretKey } = server.credentials;
  client = createClient({ baseUrl, publicKey, secretKey });
  asUser = async (user) => createClient({ baseUrl, publicKey, bearerToken: await userToken(server, user) });
});
afterAll(() => service.stop());

const NO_PASSKEY = { authMethod: 'PIN', credentialId: null, prfSupported: null, deviceType: null };

const refused = (encryptKey: string, wallet: Parameters<typeof openWalletKey>[0]['wallet']) =>
  expect(openWalletKey({ encryptKey, wallet })).rejects.toThrow(SvcKeyError);

describe("a wallet's encryption at the service", () => {
  it('changes from PIN to PIN, by the user alone', async () => {
    const user = await asUser('ana');
    const externalUserId = 'ana';
    const wallet = await createWallet(user, { encryptKey: '1111', externalUserId, chain: 'STARKNET' });
    const change = { externalUserId, wallet, encryptKey: '1111', newEncryptKey: '2222' };
    const changed = await changeEncryptKey(user, change);
    const read = await getWallet(user, { externalUserId });
    expect(read.encryptedPrivateKey).toBe(changed.encryptedPrivateKey);
    expect(await openWalletKey({ encryptKey: '2222', wallet: read })).toBeTypeOf('bigint');
    await refused('1111', read);
  });

  it('changes to a passkey with a backup, and back', async () => {
    const externalUserId = 'pia';
    const wallet = await createWallet(client, { encryptKey: '1111', externalUserId, chain: 'STARKNET' });
    const privateKey = await openWalletKey({ encryptKey: '1111', wallet });
    const credentials = new FakeAuthenticator();
    const change = { externalUserId, wallet, encryptKey: '1111', backupEncryptKey: 'backup' };
    const { credentialId } = await changeToPasskey(client, { ...change, passkey: { credentials } });
    const details = { credentialId, authMethod: 'PASSKEY', prfSupported: true, deviceType: 'platform' };
    expect(await recoverCredential(client, { externalUserId })).toEqual(details);
    const changed = await getWallet(client, { externalUserId });
    const encryptKey = await unlock(client, { externalUserId, credentials });
    expect(await openWalletKey({ encryptKey, wallet: changed })).toBe(privateKey);
    expect(await openWalletKey({ encryptKey: 'backup', wallet: changed })).toBe(privateKey);
    await refused('1111', changed);

    await changeEncryptKey(client, { externalUserId, wallet: changed, encryptKey, newEncryptKey: '3333' });
    expect(await recoverCredential(client, { externalUserId })).toEqual(NO_PASSKEY);
    const back = await getWallet(client, { externalUserId });
    expect(await openWalletKey({ encryptKey: '3333', wallet: back })).toBe(privateKey);
    await refused(encryptKey, back);
  });

  it('can start with a passkey and the PIN as its backup', async () => {
    const credentials = new FakeAuthenticator({ prf: 'later' });
    const externalUserId = 'eva';
    const creation = { encryptKey: '1111', externalUserId, chain: 'STARKNET' as const, usePasskey: true };
    await createWallet(client, { ...creation, passkey: { credentials } });
    const wallet = await getWallet(client, { externalUserId });
    const encryptKey = await unlock(client, { externalUserId, credentials });
    const privateKey = await openWalletKey({ encryptKey, wallet });
    expect(await openWalletKey({ encryptKey: '1111', wallet })).toBe(privateKey);

    await changeEncryptKey(client, { externalUserId, wallet, encryptKey: '1111', newEncryptKey: '2222' });
    const changed = await getWallet(client, { externalUserId });
    expect(
      await openWalletKey({ encryptKey: await unlock(client, { externalUserId, credentials }), wallet: changed }),
    ).toBe(privateKey);
    await refused('1111', changed);
  });

  it('reads a wallet in the old format, and writes the new one', async () => {
    const owner = new Owner();
    const app = new App(server);
    const encryptedPrivateKey = oldFormat(owner.privateKey, '4815');
    const reply = await app.post('/svc-wallets', { ...(await app.creation(owner, 'luis')), encryptedPrivateKey });
    expect(reply.status).toBe(200);
    const wallet = await getWallet(client, { externalUserId: 'luis' });
    await refused('4816', wallet);
    const change = { externalUserId: 'luis', wallet, encryptKey: '4815', newEncryptKey: '4815' };
    await changeEncryptKey(client, change);
    const changed = await getWallet(client, { externalUserId: 'luis' });
    expect(changed.encryptedPrivateKey).toMatch(/^svc1\./);
    expect(await openWalletKey({ encryptKey: '4815', wallet: changed })).toBe(BigInt(owner.privateKey));
  });
});
