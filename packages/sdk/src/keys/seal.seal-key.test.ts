import { CURVE_ORDER } from '@svc/starknet';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { boundTo, PASSKEY, passphrase, quickSeal } from '../../testing/keys.ts';
import { defaultRuntime } from '../client/client.ts';
import { newPrivateKey } from './cipher.ts';
import { parseEnvelope } from './envelope.ts';
import { openKey, sealKey } from './seal.ts';

const privateKey = fc.bigInt({ min: 1n, max: CURVE_ORDER - 1n });

describe('sealing a key', () => {
  it('is reversed by each of its encryptKeys, for any key, text and address', async () => {
    await fc.assert(
      fc.asyncProperty(privateKey, boundTo, passphrase, passphrase, async (key, address, pin, backup) => {
        const encryptKeys = [PASSKEY, pin, backup];
        const envelope = await quickSeal({ privateKey: key, boundTo: address, encryptKeys });
        for (const encryptKey of encryptKeys) {
          expect(await openKey({ envelope, encryptKey, boundTo: address })).toBe(key);
        }
      }),
      { numRuns: 50 },
    );
  });

  it('is reversed by no other text', async () => {
    await fc.assert(
      fc.asyncProperty(passphrase, passphrase, async (pin, other) => {
        fc.pre(pin.normalize() !== other.normalize());
        const envelope = await quickSeal({ privateKey: 5n, boundTo: 6n, encryptKeys: [pin] });
        await expect(openKey({ envelope, encryptKey: other, boundTo: 6n })).rejects.toMatchObject({
          code: 'decryption_failed',
        });
      }),
      { numRuns: 50 },
    );
  });

  it('normalises passphrases from keyboards that compose them differently', async () => {
    const envelope = await quickSeal({ privateKey: 5n, boundTo: 6n, encryptKeys: ['ma\u00f1ana'] });
    expect(await openKey({ envelope, encryptKey: 'man\u0303ana', boundTo: 6n })).toBe(5n);
  });

  it('stretches with 64 MiB and three passes, and stays well below two kilobytes', async () => {
    const key = newPrivateKey();
    const envelope = await sealKey({ privateKey: key, boundTo: 6n, encryptKeys: ['4815', PASSKEY] });
    const [pin, passkey] = parseEnvelope(envelope).slots;
    expect(pin?.stretching).toEqual({ memoryKib: 65_536, passes: 3, lanes: 1 });
    expect(passkey?.stretching).toBeUndefined();
    expect(envelope.length).toBeLessThan(512);
    expect(await openKey({ envelope, encryptKey: '4815', boundTo: 6n })).toBe(key);
  });

  it('draws new data key, salts and nonces each time', async () => {
    const drawn: number[] = [];
    const randomBytes = (count: number) => {
      drawn.push(count);
      return defaultRuntime.randomBytes(count);
    };
    const key = { privateKey: 5n, boundTo: 6n, encryptKeys: [PASSKEY, PASSKEY] };
    const first = await sealKey(key, { ...defaultRuntime, randomBytes });
    expect(drawn).toEqual([32, 16, 12, 16, 12, 12]);
    const parts = [first, await sealKey(key)].flatMap((text) => text.split(/[.,]/)).filter((part) => part.length > 20);
    expect(new Set(parts).size).toBe(parts.length);
  });

  it('is refused for empty or unusable encryptKeys and for invalid private keys', async () => {
    const seal = (encryptKeys: string[], privateKey = 5n) => quickSeal({ privateKey, boundTo: 6n, encryptKeys });
    for (const weak of ['', 'prf1.', 'prf1.AAAA', `${PASSKEY}A`, PASSKEY.slice(0, -1), '\ud800', undefined as never]) {
      await expect(seal([weak]), String(weak)).rejects.toMatchObject({ code: 'weak_encrypt_key' });
    }
    await expect(seal([])).rejects.toMatchObject({ code: 'weak_encrypt_key' });
    await expect(seal(['1', '2', '3', '4', '5'])).rejects.toMatchObject({ code: 'invalid_input' });
    for (const wrong of [0n, -1n, CURVE_ORDER, 2n ** 256n]) {
      await expect(seal(['4815'], wrong)).rejects.toMatchObject({ code: 'wrong_key' });
    }
  });
});
