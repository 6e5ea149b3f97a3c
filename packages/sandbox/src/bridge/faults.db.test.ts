import { request } from 'node:http';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { BridgeClient } from '../../testing/bridge-client.ts';
import { OWNER } from '../../testing/bridge-fixtures.ts';
import { type SandboxServer, startSandbox } from '../../testing/sandbox-server.ts';

let server: SandboxServer;
let burner: BridgeClient;
beforeAll(async () => {
  server = await startSandbox();
  burner = await BridgeClient.at(server);
});
afterAll(async () => {
  expect(server.complaints).toEqual([]);
  await server.stop();
});
beforeEach(() => burner.instantly());
afterEach(() => clear());

const order = async (fault: Record<string, unknown>) => {
  const answer = await burner.ask<{ remaining?: number }>('/bridge/faults', fault);
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  return answer.body;
};
const clear = () => burner.ask('/bridge/faults', undefined, 'DELETE');
const reattest = (nonce: string) => burner.ask<{ nonce: string }>(`/bridge/v2/reattest/${nonce}`, {});

describe('a fault of burns', () => {
  it('is listed until it is used up, and meets the next burns only', async () => {
    const earlier = await burner.burn();
    await order({ kind: 'never-indexed', count: 2 });
    const { body } = await burner.ask<{ faults: unknown[] }>('/bridge/faults');
    expect(body.faults).toMatchObject([{ kind: 'never-indexed', remaining: 2 }]);
    const [first, second, third] = [await burner.burn(), await burner.burn(), await burner.burn()];
    expect((await burner.message(earlier)).status).toBe('complete');
    expect([(await burner.messages(first)).status, (await burner.messages(second)).status]).toEqual([404, 404]);
    expect((await burner.message(third)).status).toBe('complete');
    expect((await burner.ask<{ faults: unknown[] }>('/bridge/faults')).body.faults).toEqual([]);
  });

  it('never-indexed hides a burn until it is cleared, and nothing is minted', async () => {
    const before = await burner.balance(OWNER);
    await order({ kind: 'never-indexed' });
    const hash = await burner.burn();
    await burner.passTime(86_400);
    expect((await burner.messages(hash)).status).toBe(404);
    expect(await burner.balance(OWNER)).toBe(before);
    await clear();
    expect((await burner.message(hash)).forwardState).toBe('COMPLETE');
    expect(await burner.balance(OWNER)).toBe(before + 999_870n);
  });

  it('delayed puts the attestation off and says why', async () => {
    await order({ kind: 'delayed', delaySeconds: 5_000 });
    const hash = await burner.burn();
    await burner.passTime(4_000);
    expect(await burner.message(hash)).toMatchObject({
      status: 'pending_confirmations',
      delayReason: expect.any(String),
    });
    await burner.passTime(1_000);
    expect(await burner.message(hash)).toMatchObject({ status: 'complete', delayReason: null });
  });

  it('expired lets forwarding fail until the message is attested anew, and then pays once', async () => {
    const before = await burner.balance(OWNER);
    await order({ kind: 'expired' });
    const hash = await burner.burn();
    const expired = await burner.message(hash);
    expect(expired).toMatchObject({ status: 'complete', forwardState: 'FAILED', forwardTxHash: null });
    const { solanaSlot } = (await burner.ask<{ solanaSlot: string }>('/bridge')).body;
    const expiry = BigInt(expired.decodedMessage?.decodedMessageBody.expirationBlock ?? 0);
    expect(expiry).toBeLessThan(BigInt(solanaSlot));
    expect(await burner.balance(OWNER)).toBe(before);
    const answers = await Promise.all([
      reattest(expired.eventNonce),
      reattest(`0x${expired.eventNonce.slice(2).toUpperCase()}`),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    const renewed = await burner.message(hash);
    expect(renewed).toMatchObject({ status: 'complete', forwardState: 'COMPLETE', eventNonce: expired.eventNonce });
    expect(renewed.attestation).not.toBe(expired.attestation);
    await reattest(expired.eventNonce);
    expect(await burner.message(hash)).toEqual(renewed);
    expect(await burner.balance(OWNER)).toBe(before + 999_870n);
  });

  it.each([
    ['amount', { decodedMessageBody: { amount: '1000001' } }],
    ['recipient', { decodedMessageBody: { mintRecipient: expect.stringMatching(/^0x\w{64}$/) } }],
    ['domain', { destinationDomain: '4' }],
    ['token', { decodedMessageBody: { burnToken: expect.stringMatching(/35fa$/) } }],
  ])(
    'tampered-message shows another %s until it is cleared, under the signature of the true one',
    async (field, shown) => {
      await order({ kind: 'tampered-message', field });
      const hash = await burner.burn();
      const forged = await burner.message(hash);
      expect(forged.decodedMessage).toMatchObject(shown);
      await clear();
      const truth = await burner.message(hash);
      expect(truth.attestation).toBe(forged.attestation);
      expect(truth.message).not.toBe(forged.message);
      expect(truth.message).toHaveLength(forged.message.length);
    },
  );

  it('forward-failed leaves the message attested and unminted until it is re-attested', async () => {
    const before = await burner.balance(OWNER);
    const hash = await burner.burn({ threshold: 2_000 });
    await order({ kind: 'forward-failed', transactionHash: `0x${hash.slice(2).toUpperCase().padStart(64, '0')}` });
    const failed = await burner.message(hash);
    expect(failed).toMatchObject({ status: 'complete', forwardState: 'FAILED', forwardTxHash: null });
    expect(await burner.balance(OWNER)).toBe(before);
    await reattest(failed.eventNonce);
    expect((await burner.message(hash)).forwardState).toBe('COMPLETE');
    expect(await burner.balance(OWNER)).toBe(before + 1_000_000n);
  });

  it('for a transaction leaves the others alone', async () => {
    await order({ kind: 'never-indexed', transactionHash: '0x123' });
    expect((await burner.message(await burner.burn())).status).toBe('complete');
  });
});

describe('a fault of requests', () => {
  const fees = () => burner.ask<{ code?: number }>('/bridge/v2/burn/USDC/fees/25/5');

  it.each([
    ['unavailable', 500],
    ['rate-limited', 429],
  ])('%s answers %i as often as ordered', async (kind, status) => {
    await order({ kind, count: 2 });
    for (const expected of [status, status, 200]) expect((await fees()).status).toBe(expected);
  });

  it('no-answer closes the connection', async () => {
    await order({ kind: 'no-answer' });
    const outcome = await new Promise((resolve) => {
      const sent = request(`${server.url}/bridge/v2/burn/USDC/fees/25/5`, ({ statusCode }) => resolve(statusCode));
      sent.on('error', (error) => resolve('code' in error ? error.code : error.message));
      sent.end();
    });
    expect(outcome).toBe('ECONNRESET');
    expect((await fees()).status).toBe(200);
  });

  it('meets only the request or the transaction that it names', async () => {
    const [hash, other] = [await burner.burn(), await burner.burn()];
    await order({ kind: 'unavailable', transactionHash: hash });
    await order({ kind: 'rate-limited', request: 'reattest' });
    expect((await fees()).status).toBe(200);
    expect((await burner.messages(other)).status).toBe(200);
    expect((await burner.messages(hash)).status).toBe(500);
    expect((await burner.messages(hash)).status).toBe(200);
    expect((await reattest(`0x${'0'.repeat(64)}`)).status).toBe(429);
    expect((await reattest(`0x${'0'.repeat(64)}`)).status).toBe(404);
  });
});

describe('an order', () => {
  it.each([
    {},
    { kind: 'nonsense' },
    { kind: 'delayed' },
    { kind: 'delayed', delaySeconds: -1 },
    { kind: 'tampered-message', field: 'nonce' },
    { kind: 'expired', transactionHash: 'nonsense' },
    { kind: 'expired', request: 'messages' },
    { kind: 'unavailable', request: 'nonsense' },
    { kind: 'unavailable', count: 0 },
  ])('%j is refused with 400', async (body) => {
    expect((await burner.ask('/bridge/faults', body)).status).toBe(400);
  });
});

describe('the settings', () => {
  it.each([
    { fastSeconds: -1 },
    { fastSeconds: '1' },
    { requestsPerSecond: 0 },
    { nonsense: 1 },
    JSON.parse('{"toString": 1}'),
  ])('refuse %j with 400', async (body) => {
    expect((await burner.ask('/bridge/settings', body)).status).toBe(400);
  });

  it('limit the requests of a second; after five minutes of the chain it goes on', async () => {
    await burner.ask('/bridge/settings', { requestsPerSecond: 1 });
    const fees = () => burner.ask('/bridge/v2/burn/USDC/fees/25/5');
    const answers = await Promise.all(Array.from({ length: 10 }, fees));
    expect(answers.filter(({ status }) => status === 429).length).toBeGreaterThan(0);
    expect((await burner.messages('0x1')).status).toBe(429);
    await burner.passTime(300);
    await burner.instantly();
    expect((await fees()).status).toBe(200);
  });
});
