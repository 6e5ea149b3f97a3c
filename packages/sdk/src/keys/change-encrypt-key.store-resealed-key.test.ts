import { describe, expect, it } from 'vitest';
import { failure, fakeClient, json } from '../../testing/fake-client.ts';
import { PASSKEY, quickSeal } from '../../testing/keys.ts';
import { storeResealedKey } from './change-encrypt-key.ts';

const wallet = { publicKey: '0xabc', encryptedPrivateKey: 'before' };
const sealed = (boundTo: bigint) => quickSeal({ privateKey: 5n, boundTo, encryptKeys: [PASSKEY, '1111'] });
/** Never the same last letter. */
const damaged = (envelope: string) => envelope.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A'));

async function store(envelope: string, privateKey: bigint, encryptKeys: string[]) {
  const { client, sent } = fakeClient([json({ success: true })]);
  const key = { externalUserId: 'ana', wallet, privateKey, envelope, encryptKeys, details: {} };
  return { error: await failure(storeResealedKey(client, key)), sent };
}

describe('a new ciphertext', () => {
  it('is stored once each of its encryptKeys has opened it', async () => {
    const { error, sent } = await store(await sealed(0xabcn), 5n, [PASSKEY, '1111']);
    expect(error).toBeUndefined();
    expect(sent).toHaveLength(1);
  });

  it('is never sent if it does not open, or opens to another key', async () => {
    const good = await sealed(0xabcn);
    const attempts = [
      await store(good, 5n, [PASSKEY, '2222']),
      await store(damaged(good), 5n, [PASSKEY]),
      await store(await sealed(0xabdn), 5n, [PASSKEY]),
      await store(good, 6n, [PASSKEY]),
    ];
    const codes = attempts.map(({ error }) => (error as { code?: string }).code);
    expect(codes.map((code) => code ?? 'none')).toEqual([
      'decryption_failed',
      'decryption_failed',
      'decryption_failed',
      'wrong_key',
    ]);
    expect(attempts.flatMap(({ sent }) => sent)).toEqual([]);
  });
});
