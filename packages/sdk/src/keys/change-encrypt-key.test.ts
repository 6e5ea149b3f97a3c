import { describe, expect, it } from 'vitest';
import { failure, fakeClient, json, refusal } from '../../testing/fake-client.ts';
import { PASSKEY, quickSeal } from '../../testing/keys.ts';
import { changeEncryptKey } from './change-encrypt-key.ts';
import { openWalletKey } from './seal.ts';

const externalUserId = 'ana';
const walletWith = async (...encryptKeys: string[]) => ({
  publicKey: '0xabc',
  encryptedPrivateKey: await quickSeal({ privateKey: 5n, boundTo: 0xabcn, encryptKeys }),
  walletType: 'SVC' as const,
});

describe('changing the PIN', () => {
  it("sends the new ciphertext with the wallet's address, and returns the wallet with it", async () => {
    const { client, sent } = fakeClient([json({ success: true })]);
    const wallet = await walletWith('1111');
    const changed = await changeEncryptKey(client, {
      externalUserId,
      wallet,
      encryptKey: '1111',
      newEncryptKey: '2222',
    });
    expect(changed).toEqual({ ...wallet, encryptedPrivateKey: expect.stringMatching(/^svc1\.argon2id,65536,3,1,/) });
    expect(sent).toMatchObject([
      { method: 'PATCH', url: 'https://svc.example/v1/svc-wallets/update-encryption-details' },
    ]);
    const newEncryptedPrivateKey = changed.encryptedPrivateKey;
    expect(sent[0]?.body).toEqual({ externalUserId, publicKey: '0xabc', newEncryptedPrivateKey });
    expect(await openWalletKey({ wallet: changed, encryptKey: '2222' })).toBe(5n);
    expect(JSON.stringify(sent)).not.toMatch(/1111|2222/);
  });

  it('from a passkey clears its stored details', async () => {
    const { client, sent } = fakeClient([json({ success: true })]);
    const wallet = await walletWith(PASSKEY);
    await changeEncryptKey(client, { externalUserId, wallet, encryptKey: PASSKEY, newEncryptKey: '2222' });
    expect(sent[0]?.body).toMatchObject({
      authMethod: 'PIN',
      credentialId: null,
      prfSupported: null,
      deviceType: null,
    });
  });

  it('sends nothing with a wrong PIN, a weak new one, or a bare passkey secret', async () => {
    const { client, sent } = fakeClient([]);
    const wallet = await walletWith('1111');
    const change = (encryptKey: string, newEncryptKey: string) =>
      failure(changeEncryptKey(client, { externalUserId, wallet, encryptKey, newEncryptKey }));
    expect(await change('3333', '2222')).toMatchObject({ code: 'decryption_failed' });
    expect(await change('1111', '')).toMatchObject({ code: 'weak_encrypt_key' });
    expect(await change('1111', 2222 as never)).toMatchObject({ name: 'SvcKeyError', code: 'weak_encrypt_key' });
    expect(await change(1111 as never, '2222')).toMatchObject({ name: 'SvcKeyError', code: 'decryption_failed' });
    expect(await change('1111', PASSKEY)).toMatchObject({ code: 'invalid_input' });
    expect(sent).toEqual([]);
  });

  it('is refused for a wallet without its ciphertext', async () => {
    const { client, sent } = fakeClient([]);
    const wallet = { publicKey: '0xabc' } as never;
    const change = { externalUserId, wallet, encryptKey: '1111', newEncryptKey: '2222' };
    expect(await failure(changeEncryptKey(client, change))).toMatchObject({ code: 'invalid_input' });
    expect(sent).toEqual([]);
  });

  it('reports a refusal of the service', async () => {
    const { client } = fakeClient([refusal(404, 'wallet_not_found')]);
    const change = { externalUserId, wallet: await walletWith(PASSKEY), encryptKey: PASSKEY, newEncryptKey: '2222' };
    expect(await failure(changeEncryptKey(client, change))).toMatchObject({ code: 'wallet_not_found', status: 404 });
  });
});
