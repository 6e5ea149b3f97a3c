import { accountAddress, classes, starkKey, toHex } from '@svc/starknet';
import { describe, expect, it } from 'vitest';
import { PASSKEY, quickSeal, TINY } from '../../testing/keys.ts';
import { defaultRuntime } from '../client/client.ts';
import { resealKey } from './change-encrypt-key.ts';
import { parseEnvelope } from './envelope.ts';
import { openWalletKey } from './seal.ts';

const KEY = 0x1234n;
const boundTo = accountAddress(classes.svc, starkKey(KEY));

const walletWith = async (...encryptKeys: string[]) => ({
  publicKey: toHex(boundTo),
  encryptedPrivateKey: await quickSeal({ privateKey: KEY, boundTo, encryptKeys }),
});

async function reseal(encryptKeys: string[], encryptKey: string, newEncryptKey: string) {
  const wallet = await walletWith(...encryptKeys);
  const { privateKey, envelope } = await resealKey({ wallet, encryptKey, newEncryptKey }, defaultRuntime, TINY);
  expect(privateKey).toBe(KEY);
  return { ...wallet, encryptedPrivateKey: envelope };
}

describe('replacing an encryptKey', () => {
  it('invalidates the old one and accepts the new one', async () => {
    const wallet = await reseal(['1111'], '1111', '2222');
    expect(await openWalletKey({ wallet, encryptKey: '2222' })).toBe(KEY);
    await expect(openWalletKey({ wallet, encryptKey: '1111' })).rejects.toMatchObject({ code: 'decryption_failed' });
  });

  it('keeps all other encryptKeys', async () => {
    const wallet = await reseal([PASSKEY, '1111', 'backup'], '1111', '2222');
    for (const encryptKey of [PASSKEY, '2222', 'backup']) {
      expect(await openWalletKey({ wallet, encryptKey })).toBe(KEY);
    }
    await expect(openWalletKey({ wallet, encryptKey: '1111' })).rejects.toMatchObject({ code: 'decryption_failed' });
  });

  it('invalidates the old one even if it has two slots', async () => {
    const wallet = await reseal(['1111', PASSKEY, '1111'], '1111', '2222');
    expect(parseEnvelope(wallet.encryptedPrivateKey).slots).toHaveLength(2);
    await expect(openWalletKey({ wallet, encryptKey: '1111' })).rejects.toMatchObject({ code: 'decryption_failed' });
  });

  it('does nothing with a wrong encryptKey or a weak new one', async () => {
    await expect(reseal(['1111'], '3333', '2222')).rejects.toMatchObject({ code: 'decryption_failed' });
    await expect(reseal(['1111'], '1111', '')).rejects.toMatchObject({ code: 'weak_encrypt_key' });
  });
});
