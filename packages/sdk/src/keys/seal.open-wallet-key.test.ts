import { accountAddress, CURVE_ORDER, starkKey, toHex, UNREPAIRED_SVC_CLASS, walletClasses } from '@svc/starknet';
import { describe, expect, it } from 'vitest';
import { oldFormat, quickSeal } from '../../testing/keys.ts';
import { SvcKeyError } from '../client/errors.ts';
import { openWalletKey } from './seal.ts';

const KEY = 0x5a3c9e1f7b2d4860a1c3e5f708192a3b4c5d6e7f8091a2b3c4d5e6f708192a3n;
/** Of the earliest class and of READY, as other tools derive them. */
const ADDRESS = '0x3c8d441a4b8fcf104bc11c62a5259e952ba0806aa9664d8073d4014954724b9';
const READY = '0x272f3a81e402697c44015da60f86e26078e87680654c52ee647de9c5542729b';

/** By `openssl enc -aes-256-cbc -md md5 -salt -base64`: the key with 0x, without it, and with a line break. */
const BY_OPENSSL = {
  prefixed:
    'U2FsdGVkX1+OsPmjqnAGfGqytVx8sMUtF8uS29HsrT3/2bdqH/oSevZbmaGaBMWL\nFg3qKNP4BXxGxe2Nb75kenloSss/hEi8UwZdKlrLyDdhf5PcUYHznlU+moHL9WPP\n',
  bare: 'U2FsdGVkX187rDw7QNqnxwWaEvI/P4DATfB6LLONagZ9bHd6deavQDLA4hh9fFCU\nYBY3iNk8g+572DEYOI0Q3d9sx79L2KHZ1HaLsf6md7Y=\n',
  line: 'U2FsdGVkX19LX00gAYdhvQnKuInPSO8RNsdqRzEZzrWU22eD0URzOwm6fl5X9So2\n5/5qs0e0XK/4idM5t6WPbw/kGKn6le4hSwvwCPb1DPqK/WcgyDb8LUBvUovdTOcB\n',
};

const open = (encryptedPrivateKey: string, encryptKey: string, publicKey = ADDRESS) =>
  openWalletKey({ encryptKey, wallet: { publicKey, encryptedPrivateKey } });

const outcome = (opening: Promise<bigint>) =>
  opening.catch((error: unknown) => (error instanceof SvcKeyError ? error.code : error));

describe('a wallet in the old format', () => {
  it('opens as openssl wrote it', async () => {
    expect(await open(BY_OPENSSL.prefixed, '4815')).toBe(KEY);
    expect(await open(BY_OPENSSL.bare, 'contraseña')).toBe(KEY);
    expect(await open(BY_OPENSSL.line, '4815')).toBe(KEY);
    expect(await open(BY_OPENSSL.prefixed.replaceAll('\n', ''), '4815', READY)).toBe(KEY);
  });

  it('opens for every known class, with any form of the address', async () => {
    for (const classHash of [...walletClasses.map((known) => known.classHash), UNREPAIRED_SVC_CLASS]) {
      const address = accountAddress(classHash, starkKey(KEY)).toString(16);
      const text = oldFormat(toHex(KEY).toUpperCase().replace('X', 'x'), 'clave 1');
      expect(await open(text, 'clave 1', `0x${address.padStart(64, '0').toUpperCase()}`)).toBe(KEY);
      expect(await open(text, 'clave 1', `0x${address}`)).toBe(KEY);
    }
  });

  it('gives the right error and never a wrong key for wrong PINs', async () => {
    for (let pin = 0; pin < 2_000; pin++) {
      expect(await outcome(open(BY_OPENSSL.prefixed, `${pin}`)), `${pin}`).toBe('decryption_failed');
    }
  });

  it('gives the right error and never a wrong key for any changed bit and any truncation', async () => {
    const text = BY_OPENSSL.prefixed.replaceAll('\n', '');
    const bytes = Buffer.from(text, 'base64');
    for (let bit = 0; bit < bytes.length * 8; bit++) {
      const changed = Buffer.from(bytes);
      changed.writeUInt8(changed.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
      const result = await outcome(open(changed.toString('base64'), '4815'));
      expect(result, `bit ${bit}`).toMatch(/^(decryption_failed|wrong_key|unsupported_envelope)$/);
    }
    for (let length = 0; length < text.length; length++) {
      const result = await outcome(open(text.slice(0, length), '4815'));
      expect(result, `first ${length}`).toMatch(/^(decryption_failed|unsupported_envelope)$/);
    }
  });

  it('is not accepted as the key of another address', async () => {
    const foreign = toHex(accountAddress(walletClasses[0]?.classHash ?? 0n, starkKey(7n)));
    expect(await outcome(open(BY_OPENSSL.prefixed, '4815', foreign))).toBe('wrong_key');
    expect(await outcome(open(oldFormat('0x7', '4815'), '4815'))).toBe('wrong_key');
  });

  it('is refused if it contains no private key', async () => {
    for (const plaintext of [
      '',
      '0x',
      '0',
      '0x0',
      toHex(CURVE_ORDER),
      'f'.repeat(64),
      'f'.repeat(65),
      'una clave',
      '0x7g',
      '-7',
    ]) {
      expect(await outcome(open(oldFormat(plaintext, '4815'), '4815')), plaintext).toBe('decryption_failed');
    }
    const long = oldFormat(`${' '.repeat(4_096)}7`, '4815');
    expect(await outcome(open(long, '4815'))).toBe('decryption_failed');
    expect(await outcome(open(`${BY_OPENSSL.bare}*`, 'contraseña'))).toBe('decryption_failed');
  });
});

describe("a wallet's envelope", () => {
  it('opens for any form of its address, also of an unknown class', async () => {
    const envelope = await quickSeal({ privateKey: KEY, boundTo: 0xabcn, encryptKeys: ['4815'] });
    for (const address of ['0xabc', '0xABC', `0x${'abc'.padStart(64, '0')}`]) {
      expect(await open(envelope, '4815', address)).toBe(KEY);
    }
    expect(await outcome(open(envelope, '4815', ADDRESS))).toBe('decryption_failed');
  });

  it('is required of the wallet', async () => {
    await expect(open(undefined as never, '4815')).rejects.toMatchObject({
      name: 'SvcInputError',
      message: expect.stringContaining('encryptedPrivateKey'),
    });
  });

  it('is not opened for an invalid address', async () => {
    const envelope = await quickSeal({ privateKey: KEY, boundTo: 0n, encryptKeys: ['4815'] });
    for (const address of ['', '0x0', 'abc', `0x${'f'.repeat(64)}`]) {
      await expect(open(envelope, '4815', address)).rejects.toMatchObject({ code: 'invalid_input' });
    }
  });
});
