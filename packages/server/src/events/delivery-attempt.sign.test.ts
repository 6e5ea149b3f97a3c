import { Webhook } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';
import { signedHeaders } from './delivery-attempt.ts';
import { newSecret } from './webhooks.ts';

const body = JSON.stringify({
  type: 'sku-purchase.completed',
  timestamp: '2026-11-16T10:00:00.000Z',
  data: { n: 'Ñ 🎁' },
});
const message = () => ({ id: 'evt_1', timestamp: Math.floor(Date.now() / 1_000), body });

describe('a signature', () => {
  it('is accepted by the library of Standard Webhooks', () => {
    const secret = newSecret();
    expect(new Webhook(secret).verify(body, signedHeaders(message(), [secret]))).toEqual(JSON.parse(body));
  });

  it('of a known secret is what that library makes, letter for letter', () => {
    const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
    const headers = signedHeaders({ id: 'evt_1', timestamp: 1_793_642_400, body }, [secret]);
    expect(headers).toEqual({
      'webhook-id': 'evt_1',
      'webhook-timestamp': '1793642400',
      'webhook-signature': new Webhook(secret).sign('evt_1', new Date(1_793_642_400_000), body),
    });
  });

  it('stands for each of two secrets, and each of them alone accepts it', () => {
    const [current, previous, other] = [newSecret(), newSecret(), newSecret()];
    const headers = signedHeaders(message(), [current, previous]);
    for (const secret of [current, previous]) expect(new Webhook(secret).verify(body, headers)).toBeDefined();
    expect(() => new Webhook(other).verify(body, headers)).toThrow('No matching signature');
  });

  it.each([
    ['body', { body: `${body} ` }],
    ['id', { id: 'evt_2' }],
  ])('does not fit another %s', (_, change) => {
    const secret = newSecret();
    const signed = message();
    const headers = { ...signedHeaders(signed, [secret]), ...('id' in change && { 'webhook-id': 'evt_2' }) };
    expect(() => new Webhook(secret).verify({ ...signed, ...change }.body, headers)).toThrow('No matching signature');
  });
});
