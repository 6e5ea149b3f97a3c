import { describe, expect, it } from 'vitest';
import { newRecoveryCode, readRecoveryCode } from './secrets.ts';

describe('a recovery code', () => {
  it('is 28 letters and digits in groups of four, never the same', () => {
    const codes = Array.from({ length: 50 }, () => newRecoveryCode());
    for (const code of codes) expect(code).toMatch(/^([0-9A-HJKMNP-TV-Z]{4}-){6}[0-9A-HJKMNP-TV-Z]{4}$/);
    expect(new Set(codes).size).toBe(50);
  });

  it('is read as people write it: in any case, with spaces, and with letters that look alike', async () => {
    const code = '0123-4567-89AB-CDEF-GHJK-MNPQ-RSTV';
    const secrets = await readRecoveryCode(code);
    const written = ['o123 4567 89ab cdef ghjk mnpq rstv', '0L23456789ABCDEFGHJKMNPQRSTV', ` ${code.toLowerCase()}\n`];
    for (const text of written) expect(await readRecoveryCode(text)).toEqual(secrets);
  });

  it('gives two secrets that stay the same for ever: a change would lock every owner out', async () => {
    expect(await readRecoveryCode('0123-4567-89AB-CDEF-GHJK-MNPQ-RSTV')).toEqual({
      recoverySecret: 'O7OlVEfny_AtS9kovmeZR08_5pu-py9EmIld0MQaumk',
      encryptKey: 'prf1.mz5P1PHGtD7N6_cNIwM6q-zKaMZN8dFdmGd8gMy8JrU',
    });
  });

  it('gives a secret to send from which the one that opens the key does not follow', async () => {
    const { recoverySecret, encryptKey } = await readRecoveryCode(newRecoveryCode());
    expect(recoverySecret).toMatch(/^[\w-]{43}$/);
    expect(encryptKey).toMatch(/^prf1\.[\w-]{43}$/);
    expect(encryptKey).not.toContain(recoverySecret);
  });

  it.each(['', '0123', '0123-4567-89AB-CDEF-GHJK-MNPQ-RSTU', `${newRecoveryCode()}0`])(
    'is refused as %s',
    async (text) => {
      await expect(readRecoveryCode(text)).rejects.toMatchObject({ code: 'invalid_input' });
    },
  );
});
