import { describe, expect, it } from 'vitest';
import { formatEnvelope, MAX_SLOTS, parseEnvelope } from './envelope.ts';
import { openKey } from './seal.ts';

const SALT = 'A'.repeat(22);
const SEALED = 'A'.repeat(80);
const argon = (memory: number | string, passes: number | string = 1, lanes: number | string = 1) =>
  `argon2id,${memory},${passes},${lanes},${SALT},${SEALED}`;
const hkdf = `hkdf-sha256,${SALT},${SEALED}`;
const envelopeOf = (...slots: string[]) => ['svc1', ...slots, SEALED].join('.');

const GIB = 1_048_576;

describe('parsing an envelope', () => {
  it('formats back to the same text', () => {
    for (const text of [envelopeOf(hkdf), envelopeOf(argon(65_536, 3), hkdf), envelopeOf(argon(GIB, 4, 16))]) {
      expect(formatEnvelope(parseEnvelope(text))).toBe(text);
    }
  });

  // Parsing is synchronous: a refusal costs no stretching.
  it.each([
    ['more than a gigabyte', argon(GIB + 1)],
    ['terabytes', argon(4_294_967_295)],
    ['endless passes', argon(64, 4_294_967_295)],
    ['passes over much memory', argon(GIB, 5)],
    ['many lanes', argon(65_536, 1, 17)],
    ['less memory than its lanes need', argon(8, 1, 2)],
    ['no memory to speak of', argon(7)],
  ])('refuses %s before any work', async (_, slot) => {
    const envelope = envelopeOf(slot);
    expect(() => parseEnvelope(envelope)).toThrow(expect.objectContaining({ code: 'unsupported_envelope' }));
    const opening = openKey({ envelope, encryptKey: '4815', boundTo: 1n });
    await expect(opening).rejects.toMatchObject({ code: 'unsupported_envelope' });
  });

  it('refuses slots whose total work is too high', () => {
    expect(parseEnvelope(envelopeOf(argon(GIB, 2), argon(GIB, 2))).slots).toHaveLength(2);
    expect(() => parseEnvelope(envelopeOf(argon(GIB, 2), argon(GIB, 2), argon(8)))).toThrow('too much work');
    const many = Array.from({ length: MAX_SLOTS + 1 }, () => hkdf);
    expect(() => parseEnvelope(envelopeOf(...many))).toThrow(expect.objectContaining({ code: 'unsupported_envelope' }));
  });

  it.each([
    ['no slot', envelopeOf()],
    ['an unknown slot', envelopeOf(`scrypt,8,1,1,${SALT},${SEALED}`)],
    ['an unknown slot beside a known one', envelopeOf(hkdf, 'future,1')],
    ['an empty slot', envelopeOf(hkdf, '')],
    ['a number spelled otherwise', envelopeOf(argon('064'))],
    ['a negative number', envelopeOf(argon('-64'))],
    ['an exponent', envelopeOf(argon('1e3'))],
    ['no number', envelopeOf(argon(''))],
    ['zero passes', envelopeOf(argon(64, 0))],
    ['a field more', envelopeOf(`${hkdf},A`)],
    ['a field less', envelopeOf(`hkdf-sha256,${SALT}`)],
    ['a salt with spare bits', envelopeOf(hkdf.replace(SALT, `${'A'.repeat(21)}B`))],
    ['a short ciphertext', `svc1.${hkdf}.${'A'.repeat(76)}`],
    ['a megabyte of slots', envelopeOf(...Array.from({ length: 10_000 }, () => `${hkdf}x`))],
  ])('treats %s as damaged', (_, envelope) => {
    expect(() => parseEnvelope(envelope)).toThrow(expect.objectContaining({ code: 'decryption_failed' }));
  });
});
