import { describe, expect, it } from 'vitest';
import { parseFulfilmentSecret, parseFulfilmentUrl } from './provider.ts';

describe('FULFILMENT_URL', () => {
  it.each([
    'https://orders.example.com/svc',
    'https://8.8.8.8/orders?tenant=1',
    'http://127.0.0.1:9000/orders',
    'http://[::1]:9000/orders',
    'http://10.1.2.3/orders',
    'http://fulfilment:9000/orders',
  ])('may be %s', (url) => {
    expect(parseFulfilmentUrl(url)).toEqual({ ok: true, value: url });
  });

  it.each([
    'ftp://example.com',
    'orders.example.com',
    'http://8.8.8.8/orders',
    'http://0x08080808/orders',
    'http://[2606:4700::1111]/orders',
    'https://user:password@example.com/',
    'https://example.com/#orders',
    `https://example.com/${'a'.repeat(2_000)}`,
  ])('must not be %s', (url) => {
    expect(parseFulfilmentUrl(url)).toEqual({ ok: false, reason: expect.stringMatching(/^must /) });
  });
});

describe('FULFILMENT_SECRET', () => {
  const of = (bytes: number) => `whsec_${Buffer.alloc(bytes, 1).toString('base64')}`;

  it.each([24, 32, 33, 64])('may have %i bytes', (bytes) => {
    expect(parseFulfilmentSecret(of(bytes))).toEqual({ ok: true, value: Buffer.alloc(bytes, 1) });
  });

  it.each([of(23), of(65), of(32).slice(0, -2), of(32).replace('whsec_', ''), of(32).replace('AQ', '-_'), 'whsec_'])(
    'must not be %s, and is not told',
    (secret) => {
      const parsed = parseFulfilmentSecret(secret);
      expect(parsed).toEqual({ ok: false, reason: expect.stringMatching(/^must be whsec_ and the base64/) });
      expect(JSON.stringify(parsed)).not.toContain('AQEBAQ');
    },
  );
});
