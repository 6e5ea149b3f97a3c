import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { defaultRuntime } from './client/client.ts';
import { SvcWebhookError } from './client/errors.ts';
import { verifyWebhook } from './verify-webhook.ts';

const KEY = Buffer.from('a secret of more than 24 bytes, made for tests');
const SECRET = `whsec_${KEY.toString('base64')}`;
const OTHER = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const NOW = 1_793_642_400;
const runtime = { ...defaultRuntime, now: () => NOW * 1_000 };
const event = {
  type: 'sku-purchase.completed',
  timestamp: '2026-11-02T18:40:00.000Z',
  data: { id: 'txn_1', status: 'SUCCESS', skuFileNumber: 'Ñ-1' },
};
const payload = JSON.stringify(event);

function sign(body: string | Uint8Array, { id = 'msg_1', timestamp = NOW, key = KEY as Uint8Array } = {}): string {
  return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest('base64')}`;
}

const headersOf = (signature: string, { id = 'msg_1', timestamp = String(NOW) } = {}) => ({
  'webhook-id': id,
  'webhook-timestamp': timestamp,
  'webhook-signature': signature,
});
const verify = (headers: Parameters<typeof verifyWebhook>[1], body: string | Uint8Array = payload) =>
  verifyWebhook(body, headers, SECRET, { runtime });

describe('verifyWebhook', () => {
  it('returns the event of a signed webhook, with its id', async () => {
    expect(await verify(headersOf(sign(payload)))).toEqual({ ...event, id: 'msg_1' });
  });

  it('knows what each type of event brings', async () => {
    const data = { webhookId: 'whk_1', message: 'This is a test.' };
    const test = JSON.stringify({ ...event, type: 'webhook.test', data });
    const seen: unknown[] = [];
    for (const body of [payload, test]) {
      const got = await verify(headersOf(sign(body)), body);
      // Checked by the compiler: a test event has no purchase, and a purchase no message.
      if (got.type === 'webhook.test') seen.push([got.data.webhookId, got.data.message]);
      if (got.type === 'sku-purchase.completed') seen.push(got.data.skuFileNumber);
    }
    expect(seen).toEqual(['Ñ-1', ['whk_1', 'This is a test.']]);
  });

  it('agrees with a signature that was made elsewhere', async () => {
    // openssl: printf 'msg_1.1793642400.{"type":"t","timestamp":"x","data":{}}' | openssl dgst -sha256 -hmac … -binary | base64
    const body = '{"type":"t","timestamp":"x","data":{}}';
    const fixed = 'v1,Em6M0/xrxKbdIgpK2Ay6x4xBitsBbifVI42b0yr4mH8=';
    expect(sign(body)).toBe(fixed);
    expect(await verify(headersOf(fixed), body)).toMatchObject({ type: 't' });
  });

  it('reads bytes as well as text', async () => {
    expect(await verify(headersOf(sign(payload)), new TextEncoder().encode(payload))).toMatchObject({
      data: event.data,
    });
  });

  it('reads Headers, and plain headers in any case and as lists', async () => {
    const signature = sign(payload);
    expect(await verify(new Headers(headersOf(signature)))).toMatchObject({ id: 'msg_1' });
    const shouted = { 'Webhook-Id': 'msg_1', 'WEBHOOK-TIMESTAMP': [String(NOW)], 'Webhook-Signature': signature };
    expect(await verify(shouted)).toMatchObject({ id: 'msg_1' });
  });

  it('accepts any one of several signatures and secrets, so that a secret can be replaced', async () => {
    const wrong = sign(payload, { key: Buffer.alloc(32, 9) });
    expect(await verify(headersOf(`v1a,abc ${wrong} ${sign(payload)}`))).toMatchObject({ id: 'msg_1' });
    const headers = headersOf(sign(payload));
    expect(await verifyWebhook(payload, headers, [OTHER, SECRET], { runtime })).toMatchObject({ id: 'msg_1' });
    await expect(verifyWebhook(payload, headers, [OTHER], { runtime })).rejects.toMatchObject({
      code: 'no_matching_signature',
    });
    await expect(verifyWebhook(payload, headers, [], { runtime })).rejects.toMatchObject({
      code: 'no_matching_signature',
    });
  });

  const good = sign(payload);
  it.each<[string, string, Parameters<typeof verifyWebhook>[1], string?]>([
    ['a changed body', 'no_matching_signature', headersOf(good), payload.replace('SUCCESS', 'SUCCESs')],
    ['a body written anew', 'no_matching_signature', headersOf(good), JSON.stringify(event, null, 1)],
    ['another id', 'no_matching_signature', headersOf(good, { id: 'msg_2' })],
    ['another time', 'no_matching_signature', headersOf(good, { timestamp: String(NOW + 1) })],
    [
      'the signature of another secret',
      'no_matching_signature',
      headersOf(sign(payload, { key: Buffer.alloc(32, 7) })),
    ],
    ['a shortened signature', 'no_matching_signature', headersOf(`${good.slice(0, 23)}=`)],
    ['an empty signature', 'no_matching_signature', headersOf('v1,')],
    ['a signature of another version', 'no_matching_signature', headersOf(good.replace('v1', 'v2'))],
    ['a signature that is not base64', 'no_matching_signature', headersOf('v1,***')],
    ['no headers', 'missing_header', {}],
    ['no signature', 'missing_header', { ...headersOf(good), 'webhook-signature': undefined }],
    ['two ids', 'missing_header', { ...headersOf(good), 'webhook-id': ['msg_1', 'msg_1'] }],
    ['a time that is no number', 'invalid_timestamp', headersOf(good, { timestamp: '1e9' })],
    ['a negative time', 'invalid_timestamp', headersOf(good, { timestamp: '-1' })],
  ])('refuses %s', async (_, code, headers, body) => {
    const error = await verify(headers, body).then(
      () => undefined,
      (reason: unknown) => reason,
    );
    expect(error).toBeInstanceOf(SvcWebhookError);
    expect(error).toMatchObject({ code });
  });

  it.each([
    [-300, undefined],
    [-301, 'too_old'],
    [300, undefined],
    [301, 'too_new'],
  ])('checks a webhook sent %i seconds from now', async (seconds, code) => {
    const timestamp = NOW + seconds;
    const result = verify(headersOf(sign(payload, { timestamp }), { timestamp: String(timestamp) }));
    if (code) await expect(result).rejects.toMatchObject({ code });
    else expect(await result).toMatchObject({ id: 'msg_1' });
  });

  it('accepts another tolerance, and rejects everything if it is not a number', async () => {
    const timestamp = NOW - 400;
    const headers = headersOf(sign(payload, { timestamp }), { timestamp: String(timestamp) });
    expect(await verifyWebhook(payload, headers, SECRET, { runtime, toleranceSeconds: 400 })).toMatchObject({
      id: 'msg_1',
    });
    const result = verifyWebhook(payload, headers, SECRET, { runtime, toleranceSeconds: Number.NaN });
    await expect(result).rejects.toMatchObject({ code: 'too_old' });
  });

  it.each(['', 'whsec_', 'whsec_c2hvcnQ=', 'whsec_***', undefined])('refuses the secret %s', async (secret) => {
    const key = Buffer.from(String(secret).replace('whsec_', ''), 'base64');
    const result = verifyWebhook(payload, headersOf(sign(payload, { key })), secret as string, { runtime });
    await expect(result).rejects.toMatchObject({ code: 'invalid_secret' });
  });

  it.each(['not json', '"text"', '{"type":"t"}', 'null'])('refuses the signed body %s', async (body) => {
    await expect(verify(headersOf(sign(body)), body)).rejects.toMatchObject({ code: 'invalid_payload' });
  });

  it.each<[string, unknown]>([
    ['a parsed body', event],
    ['nothing', undefined],
    ['a list', [1, 2]],
    ['an ArrayBuffer', new ArrayBuffer(2)],
  ])('explains what it needs if it gets %s', async (_, body) => {
    const result = verifyWebhook(body as string, headersOf(good), SECRET, { runtime });
    await expect(result).rejects.toMatchObject({
      name: 'SvcWebhookError',
      code: 'invalid_payload',
      message: expect.stringContaining('raw body'),
    });
  });

  it('never prints the secret', async () => {
    const error = await verify(headersOf('v1,abcd')).then(
      () => undefined,
      (reason: unknown) => reason,
    );
    expect(String((error as Error).stack)).not.toContain(SECRET.slice(6, 20));
  });
});
