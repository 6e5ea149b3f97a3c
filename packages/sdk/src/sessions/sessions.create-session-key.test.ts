import { starkKey, toHex } from '@svc/starknet';
import { describe, expect, it } from 'vitest';
import { createClient, defaultRuntime } from '../client/client.ts';
import { passkeyEncryptKey } from '../keys/cipher.ts';
import { openKey } from '../keys/seal.ts';
import { createSessionKey } from './sessions.ts';

const encryptKey = passkeyEncryptKey(new Uint8Array(32).fill(1));
const clientWith = (runtime = {}) =>
  createClient(
    {
      baseUrl: 'https://svc.example/v1',
      publicKey: 'pk_dev_1',
      fetch: () => Promise.reject(new Error('Nothing is to be sent.')),
    },
    { ...defaultRuntime, now: () => 1_700_000_000_999, ...runtime },
  );

describe('creating a session key', () => {
  it('seals the private key of the public one, for that one alone, and sends nothing', async () => {
    const session = await createSessionKey(clientWith(), { encryptKey });
    const { publicKey, encryptedPrivateKey: envelope } = session;
    const privateKey = await openKey({ envelope, encryptKey, boundTo: BigInt(publicKey) });
    expect(toHex(starkKey(privateKey))).toBe(publicKey);
    await expect(openKey({ envelope, encryptKey, boundTo: BigInt(publicKey) + 1n })).rejects.toMatchObject({
      code: 'decryption_failed',
    });
  });

  it('is valid for six hours or the given duration', async () => {
    expect(await createSessionKey(clientWith(), { encryptKey })).toHaveProperty('validUntil', 1_700_021_600);
    const brief = await createSessionKey(clientWith(), { encryptKey, durationSeconds: 1 });
    expect(brief.validUntil).toBe(1_700_000_001);
  });

  it.each([0, -1, 1.5, Number.NaN, 315_360_001])('refuses %d seconds', async (durationSeconds) => {
    await expect(createSessionKey(clientWith(), { encryptKey, durationSeconds })).rejects.toMatchObject({
      code: 'invalid_input',
    });
  });

  it('is SESSION_CREATION_FAILED if the device has no randomness', async () => {
    const randomBytes = () => {
      throw new Error('no entropy');
    };
    const error: unknown = await createSessionKey(clientWith({ randomBytes }), { encryptKey }).catch(
      (thrown: unknown) => thrown,
    );
    expect(error).toMatchObject({ name: 'SvcSessionError', code: 'SESSION_CREATION_FAILED' });
    // The cause could contain the key.
    expect((error as Error).cause).toBeUndefined();
  });

  it('reports an unusable encryptKey', async () => {
    await expect(createSessionKey(clientWith(), { encryptKey: '' })).rejects.toMatchObject({
      code: 'weak_encrypt_key',
    });
  });
});
