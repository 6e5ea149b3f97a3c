import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { SvcKeyError } from '../client/errors.ts';

const PASSKEY = `prf1.${Buffer.alloc(32, 7).toString('base64url')}`;
const key = (prefix: string) => ({ publicKey: `${prefix}_${'p'.repeat(32)}`, allowWeakEncryptKeys: false });
const production = key('pk_prod');
const development = key('pk_dev');

let requireStrongEncryptKey: typeof import('./secrets.ts').requireStrongEncryptKey;
const warn = vi.spyOn(console, 'warn');

beforeEach(async () => {
  warn.mockImplementation(() => {});
  // The warning is given once in a process.
  vi.resetModules();
  ({ requireStrongEncryptKey } = await import('./secrets.ts'));
});
afterEach(() => warn.mockReset());

describe('with a production key', () => {
  it.each([
    ...['1', '4815', '48151', '123456', '000000', '654321', '121212', '159753'],
    ...['a', 'password', 'qwertyuiop', 'backup', 'my backup', 'aaaaaaaaaaaaaaaa', 'P@ssw0rd', '4815-16', 'ñandú1'],
  ])('refuses %s', async (weak) => {
    await expect(requireStrongEncryptKey(production, weak)).rejects.toMatchObject({
      name: 'SvcKeyError',
      code: 'weak_encrypt_key',
    });
  });

  it.each(['481516', '294017', '88213907', 'correct horse battery staple', 'a long passphrase', '7Gk2-Qp9z', PASSKEY])(
    'takes %s',
    async (strong) => {
      await expect(requireStrongEncryptKey(production, strong)).resolves.toBeUndefined();
      expect(warn).not.toHaveBeenCalled();
    },
  );

  it('takes any text where the app opts out', async () => {
    await requireStrongEncryptKey({ ...production, allowWeakEncryptKeys: true }, '1');
    expect(warn).not.toHaveBeenCalled();
  });

  it('refuses to go on when the strength cannot be checked', async () => {
    const estimate = () => Promise.reject(new SvcKeyError('crypto_unavailable', 'not loaded'));
    await expect(requireStrongEncryptKey(production, 'a long passphrase', estimate)).rejects.toMatchObject({
      code: 'crypto_unavailable',
    });
  });
});

describe('with a development key', () => {
  it('warns once and goes on, without the secret in the warning', async () => {
    for (const weak of ['4815', 'hunter2', '1']) await requireStrongEncryptKey(development, weak);
    expect(warn).toHaveBeenCalledTimes(1);
    expect(String(warn.mock.calls[0])).toContain('6 digits');
    expect(String(warn.mock.calls[0])).not.toContain('4815');
  });

  it('goes on when the strength cannot be checked', async () => {
    const estimate = () => Promise.reject(new Error('offline'));
    await requireStrongEncryptKey(development, 'a long passphrase', estimate);
  });
});
