import { beforeAll, describe, expect, it } from 'vitest';
import { PASSKEY, quickSeal } from '../../testing/keys.ts';
import { defaultRuntime } from '../client/client.ts';
import { SvcKeyError } from '../client/errors.ts';
import { openKey, sealKey } from './seal.ts';

const KEY = 0xabcdef0123456789n;
const ADDRESS = 0x123abcn;
const PIN = '4815';

let envelope: string;
let ofPin: string;
beforeAll(async () => {
  const key = { privateKey: KEY, boundTo: ADDRESS };
  envelope = await quickSeal({ ...key, encryptKeys: [PASSKEY, PIN] });
  ofPin = await quickSeal({ ...key, encryptKeys: [PIN] });
});

const open = (text: string, encryptKey = PASSKEY, boundTo = ADDRESS) =>
  openKey({ envelope: text, encryptKey, boundTo });

/** The error's code, or the opened key. */
const refusal = (opening: Promise<bigint>) =>
  opening.then(
    (key) => `opened to ${key}`,
    (error: unknown) => (error instanceof SvcKeyError ? error.code : `not a key error: ${error}`),
  );

const REFUSED = /^(decryption_failed|unsupported_envelope)$/;

function flipped(text: string, index: number, bit: number): string {
  const letter = String.fromCharCode(text.charCodeAt(index) ^ (1 << bit));
  return text.slice(0, index) + letter + text.slice(index + 1);
}

describe('an envelope', () => {
  it('written by another implementation of the format opens', async () => {
    // By node:crypto's Argon2id, HKDF and AES-GCM.
    const theirs =
      'svc1.argon2id,64,2,2,AQEBAQEBAQEBAQEBAQEBAQ,AwMDAwMDAwMDAwMDBP4A6T3Opdbyf5rK_HiwvkkQ7ZNlLlR3DSUrSA7A-zFTlwhwXM5A0ao8vGUL0Ugt' +
      '.hkdf-sha256,AgICAgICAgICAgICAgICAg,BAQEBAQEBAQEBAQEiXB_iQsI76Y-xBxSCOXvTDLJBEn0PUCPsQ0ZmjzXh2Qe_zN2z37TNMMCzk24tpxc' +
      '.BQUFBQUFBQUFBQUF4vGHKNGdfzPgd11whW2JtFdGCAPz3kKHjj13R99nxV-LkpKL3bhXAOCbJIRHuC9g';
    expect(await open(theirs, 'contraseña ñandú')).toBe(KEY);
    expect(await open(theirs, `prf1.${Buffer.alloc(32, 9).toString('base64url')}`)).toBe(KEY);
  });

  it('does not open with any single bit changed, in its own slot or in another', async () => {
    for (let index = 0; index < envelope.length; index++) {
      for (let bit = 0; bit < 8; bit++) {
        expect(await refusal(open(flipped(envelope, index, bit))), `bit ${bit} at ${index}`).toMatch(REFUSED);
      }
    }
  });

  it('of a PIN does not open with a letter changed', async () => {
    for (let index = 0; index < ofPin.length; index++) {
      expect(await refusal(open(flipped(ofPin, index, index % 7), PIN)), `letter ${index}`).toMatch(REFUSED);
    }
  });

  it('does not open when cut anywhere, or with anything added', async () => {
    for (let length = 0; length < envelope.length; length++) {
      expect(await refusal(open(envelope.slice(0, length))), `first ${length}`).toMatch(REFUSED);
      expect(await refusal(open(envelope.slice(length + 1))), `from ${length}`).toMatch(REFUSED);
    }
    for (const added of [' ', '\n', '=', 'A', '.', ',']) {
      expect(await refusal(open(envelope + added))).toMatch(REFUSED);
      expect(await refusal(open(added + envelope))).toMatch(REFUSED);
    }
  });

  it('opens only for its own address', async () => {
    expect(await open(envelope)).toBe(KEY);
    for (const address of [0n, ADDRESS + 1n, ADDRESS << 4n]) {
      expect(await refusal(open(envelope, PASSKEY, address))).toBe('decryption_failed');
      expect(await refusal(open(envelope, PIN, address))).toBe('decryption_failed');
    }
  });

  it('does not open with slots reordered, left out, doubled or taken from another of the same owner', async () => {
    const [version, passkey, pin, sealed] = envelope.split('.');
    const other = await quickSeal({ privateKey: KEY, boundTo: ADDRESS, encryptKeys: [PASSKEY, PIN] });
    const [, otherPasskey, otherPin, otherSealed] = other.split('.');
    const mixed = [
      [pin, passkey, sealed],
      [passkey, sealed],
      [pin, sealed],
      [passkey, pin, pin, sealed],
      [passkey, passkey, pin, sealed],
      [otherPasskey, pin, sealed],
      [passkey, otherPin, sealed],
      [passkey, pin, otherSealed],
      [otherPasskey, otherPin, sealed],
    ];
    for (const parts of mixed) {
      const text = [version, ...parts].join('.');
      expect(await refusal(open(text, PASSKEY)), text).toBe('decryption_failed');
      expect(await refusal(open(text, PIN)), text).toBe('decryption_failed');
    }
  });

  it('does not open with salts exchanged or parameters weakened', async () => {
    const key = { privateKey: KEY, boundTo: ADDRESS, encryptKeys: [PIN] };
    const strong = await sealKey(key, defaultRuntime, { memoryKib: 32, passes: 2, lanes: 2 });
    expect(await open(strong, PIN)).toBe(KEY);
    for (const weaker of ['16,2,2', '32,1,2', '32,2,1', '8,1,1']) {
      expect(await refusal(open(strong.replace('32,2,2', weaker), PIN)), weaker).toBe('decryption_failed');
    }
    const [, passkeySalt = '', , , , , , pinSalt = ''] = envelope.replaceAll('.', ',').split(',').slice(1);
    const exchanged = envelope.replace(passkeySalt, '#').replace(pinSalt, passkeySalt).replace('#', pinSalt);
    expect(exchanged.length).toBe(envelope.length);
    expect(exchanged).not.toBe(envelope);
    for (const encryptKey of [PASSKEY, PIN])
      expect(await refusal(open(exchanged, encryptKey))).toBe('decryption_failed');
  });

  it('gives the same error for every wrong or unusable encryptKey', async () => {
    for (const wrong of ['', '4816', '4815 ', 'prf1.', `prf1.${'A'.repeat(43)}`, '\ud800', null as never]) {
      expect(await refusal(open(envelope, wrong))).toBe('decryption_failed');
    }
  });

  it('of an unknown version is reported as unsupported', async () => {
    for (const text of ['', 'svc2.AAAA', 'SVC1.AAAA', '{}', null as never, 5 as never]) {
      expect(await refusal(open(text))).toBe('unsupported_envelope');
    }
  });
});
