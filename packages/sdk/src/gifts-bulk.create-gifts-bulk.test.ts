import { ApiError, type BodyOf, type endpoints } from '@svc/protocol';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { sandboxClient, type TestClock } from '../testing/fake-client.ts';
import { type SandboxService, startSandboxService } from '../testing/sandbox-service.ts';
import type { Client } from './client/client.ts';
import { type BulkGift, createGiftsBulk, type GiftsBulkState, SvcGiftsBulkError } from './gifts-bulk.ts';

const DAY_MS = 86_400_000;
const recipients = Array.from({ length: 1_200 }, (_, index) => ({ email: `person-${index}@example.com` }));
const order = { name: 'Navidad', amount: '0.1', recipients };

/** As an app stores it: through JSON. */
const stored = (state: GiftsBulkState) => JSON.parse(JSON.stringify(state)) as GiftsBulkState;

describe('createGiftsBulk', () => {
  let service: SandboxService;
  let client: Client;
  let clock: TestClock;
  let created: string[];
  let credits: number;
  /** Alters the gifts in the service's answer. */
  let alterAnswer: (gifts: BulkGift[]) => BulkGift[];

  beforeEach(async () => {
    [created, credits, clock] = [[], Number.POSITIVE_INFINITY, { nowMs: 1_700_000_000_000 }];
    alterAnswer = (gifts) => gifts;
    service = await startSandboxService({
      createGiftsBulk: ({ body }) => {
        const { recipients: batch, amount, name } = body as BodyOf<typeof endpoints.createGiftsBulk>;
        if (batch.length > credits) throw new ApiError('insufficient_credits');
        created.push(...batch.map(({ email }) => email));
        const gifts = batch.map(({ email, code = 'ABCDEFGH' }) => ({
          email,
          code,
          claimUrl: `https://svc.test/claim/${code}`,
        }));
        return { created: batch.length, campaignName: name, totalHeldUsd: amount, gifts: alterAnswer(gifts) };
      },
    });
    client = sandboxClient(service, clock);
  });
  afterEach(() => service.close());

  const failure = async (run: Promise<unknown>): Promise<SvcGiftsBulkError> => {
    const error = await run.then(
      () => undefined,
      (reason: unknown) => reason,
    );
    expect(error).toBeInstanceOf(SvcGiftsBulkError);
    return error as SvcGiftsBulkError;
  };

  it('sends batches of 500 in the order of the recipients and sums the totals exactly', async () => {
    const seen: number[] = [];
    const answer = await createGiftsBulk(client, {
      ...order,
      onProgress: (state) => void seen.push(state.created.length),
    });
    expect(service.received.map(({ body }) => (body as typeof order).recipients.length)).toEqual([500, 500, 200]);
    expect(created).toEqual(recipients.map(({ email }) => email));
    expect(answer).toMatchObject({ created: 1_200, campaignName: 'Navidad', totalHeldUsd: 0.3 });
    expect(answer.gifts).toHaveLength(1_200);
    expect(seen).toEqual([0, 500, 500, 1_000, 1_000, 1_200]);
  });

  it('gives each batch an idempotency key of its own', async () => {
    await createGiftsBulk(client, order);
    expect(new Set(service.received.map(({ headers }) => headers['idempotency-key'])).size).toBe(3);
  });

  it('reports the state before each batch, so that every sent batch can be resumed', async () => {
    const onProgress = () => Promise.reject(new Error('disk full'));
    await expect(createGiftsBulk(client, { ...order, onProgress })).rejects.toThrow('disk full');
    expect(service.received).toHaveLength(0);
  });

  it('creates no gift twice if an answer was lost and the run is resumed', async () => {
    const states: GiftsBulkState[] = [];
    service.loseAnswer('createGiftsBulk');
    const { state, code } = await failure(
      createGiftsBulk(client, { ...order, onProgress: (one) => void states.push(one) }),
    );
    expect(code).toBe('gifts_bulk_stopped');
    expect(states.at(-1)).toEqual(state);
    const answer = await createGiftsBulk(client, { ...order, resume: stored(state) });
    expect(answer.gifts.map(({ email }) => email)).toEqual(recipients.map(({ email }) => email));
    expect(created).toHaveLength(1_200);
  });

  it.each<[string, (gifts: BulkGift[]) => BulkGift[]]>([
    ['none', () => []],
    ['one too few', (gifts) => gifts.slice(1)],
    ['one too many', (gifts) => [...gifts, ...gifts.slice(0, 1)]],
  ])('stops, and sends nothing more, if the answer has %s', async (_, change) => {
    alterAnswer = change;
    const { code, state } = await failure(createGiftsBulk(client, order));
    expect(code).toBe('gifts_bulk_unclear');
    expect(state).toMatchObject({ created: [], pending: { idempotencyKey: expect.any(String) } });
    expect(service.received).toHaveLength(1);
    // The same request has the same answer and creates nothing.
    expect(await failure(createGiftsBulk(client, { ...order, resume: stored(state) }))).toMatchObject({ code, state });
    expect(created).toHaveLength(500);
  });

  it('can be resumed if the service normalises mail addresses', async () => {
    alterAnswer = (gifts) => gifts.map((gift) => ({ ...gift, email: gift.email.toUpperCase() }));
    const states: GiftsBulkState[] = [];
    credits = 500;
    const onProgress = (state: GiftsBulkState) => {
      states.push(stored(state));
      credits = state.created.length > 0 ? 0 : 500;
    };
    await failure(createGiftsBulk(client, { ...order, onProgress }));
    credits = 500;
    expect(await createGiftsBulk(client, { ...order, resume: states.at(-1) })).toMatchObject({ created: 1_200 });
    expect(created).toEqual(recipients.map(({ email }) => email));
  });

  it('continues after a refusal once its cause is gone', async () => {
    credits = 100;
    const states: GiftsBulkState[] = [];
    const onProgress = (one: GiftsBulkState) => void states.push(one);
    await expect(createGiftsBulk(client, { ...order, onProgress })).rejects.toMatchObject({
      code: 'insufficient_credits',
    });
    credits = 500;
    const answer = await createGiftsBulk(client, { ...order, resume: stored(states.at(-1) as GiftsBulkState) });
    expect(answer.created).toBe(1_200);
    expect(created).toHaveLength(1_200);
  });

  it('has the state if batches were created before a refusal', async () => {
    const onProgress = (state: GiftsBulkState) => {
      credits = state.created.length === 0 ? 500 : 0;
    };
    const { state, cause } = await failure(createGiftsBulk(client, { ...order, onProgress }));
    expect(cause).toMatchObject({ code: 'insufficient_credits' });
    expect(state.created).toHaveLength(500);
    expect(state.pending).toBeUndefined();
  });

  it('refuses to repeat a batch whose idempotency key may have expired', async () => {
    service.loseAnswer('createGiftsBulk');
    const { state } = await failure(createGiftsBulk(client, order));
    service.deleteKeys();
    clock.nowMs += DAY_MS;
    const { code, message } = await failure(createGiftsBulk(client, { ...order, resume: stored(state) }));
    expect(code).toBe('gifts_bulk_unclear');
    expect(message).toContain('person-0@example.com');
    expect(created).toHaveLength(500);
  });

  it.each([
    ['another amount', { ...order, amount: 1 }],
    ['another name', { ...order, name: 'Other' }],
    ['fewer recipients', { ...order, recipients: recipients.slice(1) }],
    ['other recipients', { ...order, recipients: recipients.toReversed() }],
    ['other codes', { ...order, recipients: recipients.map(({ email }, index) => ({ email, code: `MINE-${index}` })) }],
  ])('refuses to resume with %s', async (_, params) => {
    const states: GiftsBulkState[] = [];
    await createGiftsBulk(client, { ...order, onProgress: (state) => void states.push(state) });
    const sent = service.received.length;
    await expect(createGiftsBulk(client, { ...params, resume: states.at(-1) })).rejects.toMatchObject({
      code: 'invalid_input',
    });
    expect(service.received).toHaveLength(sent);
  });

  it('passes codes that the app chose', async () => {
    const { gifts } = await createGiftsBulk(client, {
      ...order,
      recipients: [{ email: 'a@example.com', code: 'MINE-1' }],
    });
    expect(gifts[0]?.code).toBe('MINE-1');
  });

  it.each([0, -1, '1e3', '0.0000001', 10_001, Number.NaN])(
    'refuses the amount %s before anything is sent',
    async (amount) => {
      await expect(createGiftsBulk(client, { ...order, amount })).rejects.toMatchObject({ code: 'invalid_input' });
      expect(service.received).toHaveLength(0);
    },
  );
});
