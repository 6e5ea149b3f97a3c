import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { startProvider } from '../../testing/provider-server.ts';
import { fileNumberOf, type Order } from './orders.ts';

let provider: Awaited<ReturnType<typeof startProvider>>;
beforeAll(async () => {
  provider = await startProvider();
  // Longer than the tests: they make orders due themselves.
  await provider.post('/settings', { slowSeconds: 3_600 });
});
afterAll(() => provider.stop());
afterEach(async () => {
  await provider.send('/faults', { method: 'DELETE' });
  provider.service.received.length = 0;
  provider.service.answers.length = 0;
});

let count = 0;
const orderOf = (reference: string): Order => ({
  orderId: `txn_${++count}`,
  environment: 'development',
  organizationId: 'org_1',
  catalogue: 'deployment',
  providerId: 'telcel',
  skuId: 'telcel-50',
  reference,
  amount: '50',
  currency: 'MXN',
});
const fault = async (body: Record<string, unknown>) => {
  const reply = await provider.post('/faults', body);
  expect(reply.status, JSON.stringify(reply.body)).toBe(200);
};

describe('an order', () => {
  it('is delivered at once, with a number that its id leads to', async () => {
    const order = orderOf('5512345678');
    const completed = { status: 200, body: { status: 'completed', fileNumber: fileNumberOf(order.orderId) } };
    expect(await provider.order(order)).toEqual(completed);
    expect(await provider.lookUp(order.orderId)).toEqual(completed);
    expect(await provider.ledger(order.orderId)).toEqual({
      ...order,
      status: 'completed',
      fileNumber: expect.stringMatching(/^\d{10}$/),
      asked: 1,
      lookedUp: 1,
      delivered: 1,
      told: [],
      receivedAt: expect.any(String),
    });
  });

  it('whose reference ends in 0000 fails, and delivers nothing', async () => {
    const order = orderOf('5512340000');
    const { status, body } = await provider.order(order);
    expect([status, body]).toEqual([200, { status: 'failed', reason: expect.stringMatching(/rechaza.*refuses/) }]);
    expect((await provider.lookUp(order.orderId)).body).toEqual(body);
    expect(await provider.ledger(order.orderId)).toMatchObject({ status: 'failed', delivered: 0 });
  });

  it('whose reference ends in 1111 is accepted, delivered when due, and its result is sent', async () => {
    const order = orderOf('5512341111');
    const accepted = { status: 202, body: { status: 'accepted' } };
    expect([await provider.order(order), await provider.lookUp(order.orderId)]).toEqual([accepted, accepted]);
    await provider.sendResults();
    expect(provider.service.received).toEqual([]);
    expect(await provider.ledger(order.orderId)).toMatchObject({ status: 'accepted', delivered: 0 });
    await provider.makeDue(order.orderId);
    await provider.sendResults();
    await provider.sendResults();
    const body = { status: 'completed', fileNumber: fileNumberOf(order.orderId) };
    expect(provider.service.received).toMatchObject([{ path: `/orders/${order.orderId}/result`, body }]);
    expect(provider.service.received[0]?.headers['webhook-id']).toBe(order.orderId);
    expect(await provider.ledger(order.orderId)).toMatchObject({ status: 'completed', delivered: 1, told: [204] });
    expect(await provider.lookUp(order.orderId)).toEqual({ status: 200, body });
  });

  it('that is due is delivered once, by the first request', async () => {
    const order = orderOf('5512341111');
    await provider.order(order);
    await provider.makeDue(order.orderId);
    const asked = await Promise.all([1, 2, 3].map(() => provider.lookUp(order.orderId)));
    expect(asked.map(({ body }) => body.status)).toEqual(['completed', 'completed', 'completed']);
    await provider.sendResults();
    expect(await provider.ledger(order.orderId)).toMatchObject({ delivered: 1, lookedUp: 3, told: [204] });
  });

  it('that comes ten times at once is one order', async () => {
    const order = orderOf('5512345678');
    const replies = await Promise.all(Array.from({ length: 10 }, () => provider.order(order)));
    expect(new Set(replies.map(({ body }) => JSON.stringify(body))).size).toBe(1);
    expect(await provider.ledger(order.orderId)).toMatchObject({ asked: 10, delivered: 1 });
  });

  it.each(['reference', 'amount', 'skuId', 'organizationId'])(
    'with a known id and another %s is refused',
    async (field) => {
      const order = orderOf('5512345678');
      await provider.order(order);
      expect((await provider.order({ ...order, [field]: '1' })).status).toBe(400);
      expect(await provider.ledger(order.orderId)).toMatchObject({ ...order, asked: 1, delivered: 1 });
    },
  );

  it('that was never sent is unknown', async () => {
    expect(await provider.lookUp('txn_never')).toEqual({ status: 404, body: { status: 'unknown' } });
  });

  it('is refused unless it is signed, names itself and is whole', async () => {
    const order = orderOf('5512345678');
    const { orderId } = order;
    const text = JSON.stringify(order);
    const signed = provider.headersFor(orderId, text);
    const key = { 'idempotency-key': orderId };
    const refusals = [
      provider.post('/orders', text, key),
      provider.post('/orders', `${text} `, { ...signed, ...key }),
      provider.post('/orders', text, { ...signed, ...key, 'webhook-timestamp': '1' }),
      provider.send(`/orders/${orderId}`),
      provider.send(`/orders/${orderId}`, { headers: provider.headersFor('txn_other', '') }),
      provider.post('/orders', text, signed),
      provider.post('/orders', text, { ...provider.headersFor('txn_other', text), ...key }),
      provider.post('/orders', '{', { ...provider.headersFor(orderId, '{'), ...key }),
      provider.post('/orders', '{}', { ...provider.headersFor(orderId, '{}'), ...key }),
    ];
    const statuses = (await Promise.all(refusals)).map(({ status }) => status);
    expect(statuses).toEqual([401, 401, 401, 401, 401, 400, 400, 400, 400]);
    expect(await provider.ledger(orderId)).toBeUndefined();
  });
});

describe('a fault', () => {
  const outcome = (asked: Promise<{ status: number }>) =>
    asked.then(
      ({ status }) => status,
      () => 'no answer',
    );
  const order = (one: Order) => outcome(provider.order(one));
  const deliveriesOf = async ({ orderId }: Order) => (await provider.ledger(orderId))?.delivered ?? 0;
  /** Goes away once the order was met by its fault. */
  async function orderAndLeave(one: Order, delivered: number): Promise<number | string> {
    const waiting = new AbortController();
    const asked = outcome(provider.order(one, waiting.signal));
    await expect.poll(async () => (await provider.send('/faults')).body.faults).toEqual([]);
    await expect.poll(() => deliveriesOf(one)).toBe(delivered);
    waiting.abort();
    return asked;
  }

  it.each([
    ['unavailable', 500, 0],
    ['close', 'no answer', 0],
    ['hang', 'no answer', 0],
    ['deliver-unavailable', 500, 1],
    ['deliver-close', 'no answer', 1],
    ['deliver-hang', 'no answer', 1],
  ])('%s answers %s after %i deliveries; asking again delivers once', async (kind, answer, delivered) => {
    const one = orderOf('5512345678');
    await fault({ kind });
    const isLeft = kind.endsWith('hang');
    expect(await (isLeft ? orderAndLeave(one, delivered) : order(one))).toBe(answer);
    expect(await deliveriesOf(one)).toBe(delivered);
    expect((await provider.order(one)).body.status).toBe('completed');
    expect(await provider.ledger(one.orderId)).toMatchObject({ delivered: 1, asked: 1 + delivered });
  });

  it('of look-ups meets look-ups alone', async () => {
    const one = orderOf('5512345678');
    await fault({ kind: 'unavailable', request: 'look-up' });
    await fault({ kind: 'close', request: 'look-up', reference: one.reference });
    expect((await provider.order(one)).status).toBe(200);
    expect(await outcome(provider.lookUp(one.orderId))).toBe(500);
    expect(await outcome(provider.lookUp('txn_never'))).toBe(404);
    expect(await outcome(provider.lookUp(one.orderId))).toBe('no answer');
    expect(await outcome(provider.lookUp(one.orderId))).toBe(200);
  });

  it('meets only the reference that it names, as often as ordered, and is listed until then', async () => {
    await fault({ kind: 'unavailable', reference: '5500000001', count: 2 });
    expect((await provider.order(orderOf('5500000002'))).status).toBe(200);
    const one = orderOf('5500000001');
    expect(await order(one)).toBe(500);
    const listed = (await provider.send('/faults')).body.faults;
    expect(listed).toMatchObject([{ kind: 'unavailable', request: 'order', reference: '5500000001', remaining: 1 }]);
    expect([await order(one), await order(one)]).toEqual([500, 200]);
    expect((await provider.send('/faults')).body.faults).toEqual([]);
  });

  const told = () => provider.service.received.map(({ body }) => body.status);
  it.each([
    ['slow', '5512345678', ['completed']],
    ['slow', '5512340000', ['failed']],
    ['no-callback', '5512345678', []],
    ['callback-twice', '5512345678', ['completed', 'completed']],
    ['callback-contradicting', '5512345678', ['completed', 'failed']],
    ['callback-contradicting', '5512340000', ['failed', 'completed']],
  ])('%s: an order for %s is accepted and its callbacks are %j', async (kind, reference, words) => {
    const one = orderOf(reference);
    await fault({ kind });
    expect((await provider.order(one)).status).toBe(202);
    expect((await provider.order(one)).status).toBe(202);
    await provider.makeDue(one.orderId);
    for (let look = 0; look < 3; look++) await provider.sendResults();
    expect(told()).toEqual(words);
    const ends = reference.endsWith('0000') ? 'failed' : 'completed';
    expect((await provider.lookUp(one.orderId)).body.status).toBe(ends);
    expect(await provider.ledger(one.orderId)).toMatchObject({ delivered: ends === 'completed' ? 1 : 0, asked: 2 });
  });

  it('keeps its second callback when two processes send the first one at the same time', async () => {
    const one = orderOf('5512345678');
    await fault({ kind: 'callback-contradicting' });
    await provider.order(one);
    await provider.makeDue(one.orderId);
    provider.service.answers.push(async () => {
      await provider.makeDue(one.orderId);
      await provider.sendResults();
    });
    await provider.sendResults();
    expect(await provider.ledger(one.orderId)).toMatchObject({ told: [204] });
    await provider.sendResults();
    expect(told()).toEqual(['completed', 'completed', 'failed']);
  });

  it.each([
    {},
    { kind: 'nonsense' },
    { kind: 'unavailable', request: 'nonsense' },
    { kind: 'deliver-hang', request: 'look-up' },
    { kind: 'slow', request: 'look-up' },
    { kind: 'unavailable', count: 0 },
    { kind: 'unavailable', reference: '' },
  ])('%j is refused', async (body) => {
    expect((await provider.post('/faults', body)).status).toBe(400);
  });
});

describe('a result', () => {
  it('is sent until the service has understood it, with backoff', async () => {
    const order = orderOf('5512341111');
    await provider.order(order);
    await provider.makeDue(order.orderId);
    provider.service.answers.push(500, 'close', 401);
    for (let look = 0; look < 5; look++) {
      await provider.sendResults();
      // A refused callback waits, so a second attempt sends nothing.
      const told = provider.service.received.length;
      await provider.sendResults();
      expect(provider.service.received).toHaveLength(told);
      await provider.makeDue(order.orderId);
    }
    expect(provider.service.received).toHaveLength(4);
    expect(await provider.ledger(order.orderId)).toMatchObject({ delivered: 1, told: [204] });
  });

  it('that the service refuses as wrong or unknown is not sent again', async () => {
    for (const answer of [400, 404]) {
      const order = orderOf('5512341111');
      await provider.order(order);
      await provider.makeDue(order.orderId);
      provider.service.answers.push(answer);
      await provider.sendResults();
      await provider.makeDue(order.orderId);
      await provider.sendResults();
      expect(await provider.ledger(order.orderId)).toMatchObject({ told: [answer] });
    }
  });

  it('is sent once by concurrent processes', async () => {
    const order = orderOf('5512341111');
    await provider.order(order);
    await provider.makeDue(order.orderId);
    await Promise.all([provider.sendResults(), provider.sendResults(), provider.sendResults()]);
    expect(provider.service.received).toHaveLength(1);
    expect(await provider.ledger(order.orderId)).toMatchObject({ delivered: 1, told: [204] });
  });
});

describe('the provider', () => {
  it('delivers slow orders after the configured time', async () => {
    expect((await provider.send('')).body).toEqual({ settings: { slowSeconds: 3_600 } });
    expect((await provider.post('/settings', { slowSeconds: 0 })).body).toEqual({ settings: { slowSeconds: 0 } });
    const order = orderOf('5512341111');
    expect((await provider.order(order)).body).toEqual({ status: 'accepted' });
    expect((await provider.lookUp(order.orderId)).body.status).toBe('completed');
    for (const body of [{}, { slowSeconds: -1 }, { slowSeconds: '1' }]) {
      expect((await provider.post('/settings', body)).status).toBe(400);
    }
    await provider.post('/settings', { slowSeconds: 3_600 });
  });

  it('lists its orders, the newest first', async () => {
    const [first, second] = [orderOf('1'), orderOf('2')];
    for (const one of [first, second]) await provider.order(one);
    const { orders } = (await provider.send('/orders?limit=2')).body as { orders: Order[] };
    expect(orders.map(({ orderId }) => orderId)).toEqual([second.orderId, first.orderId]);
    for (const query of ['?limit=0', '?limit=x', '?orderId=a&orderId=b']) {
      expect((await provider.send(`/orders${query}`)).status).toBe(400);
    }
  });
});
