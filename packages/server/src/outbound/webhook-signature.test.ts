import { Webhook } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';
import { isFresh, isSigned, readSignature, secretKey, signedHeaders } from './webhook-signature.ts';

const SECRET = Buffer.alloc(32, 7);
const NOW = 1_793_642_400_500;
const secretOf = (fill: number) => `whsec_${Buffer.alloc(32, fill).toString('base64')}`;
const body = '{"status":"completed","fileNumber":"Ñ-1"}';
const others = new Webhook(`whsec_${SECRET.toString('base64')}`);

const sign = (text = body, nowMs = NOW) =>
  signedHeaders({ id: 'txn_1', timestamp: Math.floor(nowMs / 1_000), body: text }, [SECRET]);

const signature = (headers: Record<string, string>) => {
  const found = readSignature(headers);
  if (!found) throw new Error('no signature');
  return found;
};

describe('a signature of ours', () => {
  it('is one that the library of Standard Webhooks makes', () => {
    const headers = sign();
    expect(headers).toEqual({
      'webhook-id': 'txn_1',
      'webhook-timestamp': '1793642400',
      'webhook-signature': others.sign('txn_1', new Date(NOW), body),
    });
  });

  it('verifies there, and one of theirs here', () => {
    expect(others.verify(body, sign(body, Date.now()))).toEqual(JSON.parse(body));
    const theirs = {
      'webhook-id': 'txn_1',
      'webhook-timestamp': '1793642400',
      'webhook-signature': `v1a,abc v1,AAAA ${others.sign('txn_1', new Date(NOW), body)}`,
    };
    expect(isSigned(SECRET, signature(theirs), Buffer.from(body))).toBe(true);
  });

  it('of an empty body is one too', () => {
    const headers = sign('');
    expect(headers['webhook-signature']).toBe(others.sign('txn_1', new Date(NOW), ''));
    expect(isSigned(SECRET, signature(headers), Buffer.alloc(0))).toBe(true);
  });
});

describe('headers signed with two secrets', () => {
  it('verify with each of them alone, and with no other', () => {
    const [current, previous] = [secretOf(1), secretOf(2)];
    const message = { id: 'evt_1', timestamp: Math.floor(Date.now() / 1_000), body };
    const headers = signedHeaders(message, [current, previous].map(secretKey));
    for (const secret of [current, previous]) expect(new Webhook(secret).verify(body, headers)).toBeDefined();
    expect(() => new Webhook(secretOf(3)).verify(body, headers)).toThrow('No matching signature');
    expect(() => new Webhook(current).verify(`${body} `, headers)).toThrow('No matching signature');
    expect(() => new Webhook(current).verify(body, { ...headers, 'webhook-id': 'evt_2' })).toThrow(
      'No matching signature',
    );
  });
});

describe('a signature is refused', () => {
  const good = sign();
  const isGood = (headers: Record<string, string>, bytes = Buffer.from(body), secret = SECRET) =>
    isSigned(secret, signature(headers), bytes);

  it.each([
    ['of another body', {}, `${body} `],
    ['of another id', { 'webhook-id': 'txn_2' }, body],
    ['of another time', { 'webhook-timestamp': '1793642401' }, body],
    ['without its version', { 'webhook-signature': good['webhook-signature']?.slice(3) ?? '' }, body],
    ['of another version', { 'webhook-signature': good['webhook-signature']?.replace('v1', 'v2') ?? '' }, body],
    ['cut off', { 'webhook-signature': good['webhook-signature']?.slice(0, 20) ?? '' }, body],
    ['that is empty', { 'webhook-signature': 'v1,' }, body],
  ])('%s', (_, changes, text) => {
    expect(isGood(good)).toBe(true);
    expect(isGood({ ...good, ...changes }, Buffer.from(text))).toBe(false);
  });

  it('of another secret', () => {
    expect(isGood(good, Buffer.from(body), Buffer.alloc(32, 8))).toBe(false);
  });

  it.each([
    ['webhook-id', undefined],
    ['webhook-id', ''],
    ['webhook-timestamp', undefined],
    ['webhook-timestamp', '1e9'],
    ['webhook-timestamp', '-1'],
    ['webhook-timestamp', '1793642400123456'],
    ['webhook-signature', undefined],
    ['webhook-signature', 'v1,'.padEnd(5_000, 'A')],
  ])('with %s %s', (name, value) => {
    expect(readSignature({ ...good, [name]: value })).toBeUndefined();
  });

  it.each([
    [-301, false],
    [-300, true],
    [0, true],
    [300, true],
    [301, false],
  ])('or not, %i seconds from now: %s', (seconds, fresh) => {
    expect(isFresh(signature(good), NOW + seconds * 1_000)).toBe(fresh);
  });
});
