import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  parseEvmAddress,
  parseSolanaAddress,
  parseStarknetAddress,
  type SolanaAddress,
  solanaAddressBytes,
} from './addresses.ts';

const SOLANA = '9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM';

describe('Starknet addresses', () => {
  it('have one normal form for every case and padding', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 1n, max: 2n ** 251n - 257n }), fc.nat(64), fc.boolean(), (value, width, upper) => {
        const digits = value.toString(16).padStart(Math.min(64, width), '0');
        const spelt = `0x${upper ? digits.toUpperCase() : digits}`;
        const normal = `0x${value.toString(16).padStart(64, '0')}`;
        expect(parseStarknetAddress(spelt)).toEqual({ ok: true, value: normal });
      }),
    );
  });

  it.each([
    '',
    '0x',
    '0x0',
    '0x00',
    '1234',
    `0x${'f'.repeat(64)}`,
    `0x${'1'.repeat(65)}`,
    '0xg1',
    ' 0x1',
    '0x1 ',
    '0X1',
    '0x-1',
    `0x${(2n ** 251n - 256n).toString(16)}`,
  ])('refuse %j', (text) => {
    expect(parseStarknetAddress(text).ok).toBe(false);
  });
});

describe('EVM addresses', () => {
  it('are compared without regard to case', () => {
    const mixed = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913';
    expect(parseEvmAddress(mixed)).toEqual({ ok: true, value: mixed.toLowerCase() });
  });

  it.each([
    '',
    '0x',
    `0x${'0'.repeat(40)}`,
    `0x${'1'.repeat(39)}`,
    `0x${'1'.repeat(41)}`,
    `0x${'g'.repeat(40)}`,
    '1'.repeat(42),
  ])('refuse %j', (text) => {
    expect(parseEvmAddress(text).ok).toBe(false);
  });
});

describe('Solana addresses', () => {
  it('are 32 bytes of base58', () => {
    expect(parseSolanaAddress(SOLANA)).toEqual({ ok: true, value: SOLANA });
    const bytes = solanaAddressBytes(SOLANA as SolanaAddress);
    expect(Buffer.from(bytes).toString('hex')).toBe('7e8c088760bfde1dddcf32c17f209b8242ee52aaf131facd88d0ea2c6d0b06f2');
  });

  it('keep their leading zero bytes', () => {
    const bytes = solanaAddressBytes(`${'1'.repeat(31)}2` as SolanaAddress);
    expect([...bytes]).toEqual([...new Array<number>(31).fill(0), 1]);
  });

  it.each([
    '',
    '1'.repeat(32),
    '2'.repeat(32),
    `${SOLANA}1`,
    SOLANA.replace('W', '0'),
    SOLANA.replace('W', 'l'),
    'z'.repeat(44),
    `0x${'1'.repeat(40)}`,
  ])('refuse %j', (text) => {
    expect(parseSolanaAddress(text).ok).toBe(false);
  });
});
