import { Webhook } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';
import { status } from '../../testing/receiver.ts';
import { startTestServer, type TestServer } from '../../testing/servers.ts';
import { startReceiver } from '../../testing/webhooks.ts';
import { publicOnly, trusted } from '../outbound/address-guard.ts';
import { outboundRequest } from '../outbound/request.ts';
import { type Attempt, type AttemptDeps, attempt, type DueDelivery } from './delivery-attempt.ts';
import { newSecret } from './webhooks.ts';

const never = new AbortController().signal;
const local = publicOnly({ allowLoopback: true });

function due(url: string, changes: Partial<DueDelivery> = {}): DueDelivery {
  return {
    ...{ id: 'dlv_1', webhookId: 'whk_1', attempts: 0, url, secrets: [newSecret()] },
    ...{ eventId: 'evt_1', type: 'sku-purchase.completed', createdAt: new Date('2026-11-16T10:00:00Z') },
    data: { id: 'txn_1', skuFileNumber: 'Ñ-1' },
    ...changes,
  };
}

const to = (url: string, deps: Partial<AttemptDeps> = {}): Promise<Attempt> =>
  attempt({ guard: local, ...deps }, due(url), never);

/** A server that counts every byte it gets. */
async function counting(speak: string): Promise<TestServer & { bytes(): number }> {
  let bytes = 0;
  const server = await startTestServer((socket) => {
    socket.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      socket.end(speak);
    });
  });
  return { ...server, bytes: () => bytes };
}

describe('an attempt', () => {
  it('posts the event, signed for the secret and those before it', async () => {
    const receiver = await startReceiver();
    const delivery = due(receiver.url, { secrets: [newSecret(), newSecret(), newSecret()] });
    const { made, result } = await attempt({ guard: local }, delivery, never);
    expect(result).toEqual({ state: 'DELIVERED' });
    expect(made).toMatchObject({ status: 204, error: null, response: '' });
    const [{ headers, body } = { headers: {}, body: '' }] = receiver.received;
    expect(headers).toMatchObject({ 'content-type': 'application/json', 'webhook-id': 'evt_1' });
    const event = { type: 'sku-purchase.completed', timestamp: '2026-11-16T10:00:00.000Z', data: delivery.data };
    for (const secret of delivery.secrets) {
      expect(new Webhook(secret).verify(body, headers as Record<string, string>)).toEqual(event);
    }
  });

  it('keeps the beginning of an answer that is no text, and half characters of it not at all', async () => {
    const receiver = await startReceiver((response) => {
      response.writeHead(500).end(Buffer.concat([Buffer.from('a\0b\xff', 'latin1'), Buffer.from('🎁'.repeat(2_000))]));
    });
    const { made } = await to(receiver.url);
    expect(made).toMatchObject({ status: 500, error: 'The address answered 500.' });
    expect(made.response).toMatch(/^ab\ufffd🎁/u);
    expect([...(made.response ?? '')].length).toBeLessThanOrEqual(1_000);
    expect(made.response?.isWellFormed()).toBe(true);
  });

  it('to a receiver that hangs ends in time', async () => {
    const receiver = await startReceiver(() => undefined);
    const { made, result, timedOut } = await to(receiver.url, { timeoutMs: 100, random: () => 0 });
    expect(made).toMatchObject({ status: null, error: expect.stringContaining('did not answer within 100 ms') });
    expect([result, timedOut]).toEqual([{ state: 'WAITING', delayMs: 5_000 }, true]);
  });

  it('to a receiver that drips ends in time, too', async () => {
    const receiver = await startReceiver((response) => {
      response.writeHead(200, { 'content-length': '1000' });
      const drip = setInterval(() => response.write('.'), 10);
      response.once('close', () => clearInterval(drip));
    });
    expect(await to(receiver.url, { timeoutMs: 200 })).toMatchObject({ made: { status: null }, timedOut: true });
  });

  it('to a receiver that hangs up, or speaks no HTTP, is a failure', async () => {
    for (const words of ['', 'SSH-2.0-OpenSSH_9.6\r\n']) {
      const server = await counting(words);
      const { made, result } = await to(`http://127.0.0.1:${server.port}/`);
      expect(made).toMatchObject({ status: null, error: expect.stringContaining('whole HTTP answer') });
      expect(result.state).toBe('WAITING');
    }
  });

  it('to a receiver that sends a gigabyte takes no more than it keeps, and is a failure that says so', async () => {
    let sent = 0;
    const receiver = await startReceiver((response) => {
      const chunk = Buffer.alloc(65_536);
      const pour = () => {
        while (sent < 2 ** 30 && !response.destroyed) {
          sent += chunk.length;
          if (!response.write(chunk)) return;
        }
        response.end();
      };
      response.writeHead(200);
      response.on('drain', pour);
      pour();
    });
    const { made, result } = await to(receiver.url);
    expect(made.error).toContain('more than 65536 bytes');
    expect(result.state).toBe('WAITING');
    expect(sent).toBeLessThan(2 ** 26);
  });

  it('does not follow a redirect', async () => {
    const target = await counting('');
    const receiver = await startReceiver(status(302, { location: `http://127.0.0.1:${target.port}/` }));
    expect(await to(receiver.url)).toMatchObject({ made: { status: 302 }, result: { state: 'WAITING' } });
    await outboundRequest(`http://127.0.0.1:${target.port}/`, {
      guard: trusted(),
      timeoutMs: 5_000,
      maxBodyBytes: 1,
    }).catch(() => undefined);
    expect(target.sockets.length).toBe(1);
  });

  it('that is interrupted is none', async () => {
    const interruption = new AbortController();
    const receiver = await startReceiver(() => interruption.abort(new Error('The process stops.')));
    const asked = attempt({ guard: local }, due(receiver.url), interruption.signal);
    await expect(asked).rejects.toThrow('The process stops.');
  });
});

describe('an address that is not public', () => {
  const forbidden = { made: { status: null, error: expect.stringContaining('does not lead to a public address') } };
  const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n';

  it.each([
    ...['127.0.0.1', '127.1', '2130706433', '0x7f000001', '0177.0.0.1', '0.0.0.0', '[::1]', '[::ffff:127.0.0.1]'],
    ...[
      '10.0.0.1',
      '100.64.0.1',
      '169.254.169.254',
      '172.16.0.1',
      '192.168.0.1',
      '224.0.0.1',
      '[fd00::1]',
      '[fe80::1]',
    ],
  ])('gets no byte when the webhook names it: %s', async (host) => {
    const server = await counting(OK);
    for (const scheme of ['http', 'https']) {
      expect(await to(`${scheme}://${host}:${server.port}/`, { guard: publicOnly() })).toMatchObject(forbidden);
    }
    expect([server.sockets.length, server.bytes()]).toEqual([0, 0]);
  });

  it.each(['127.0.0.1', '::1', '10.1.2.3', '169.254.169.254', 'fd00::1', '::ffff:127.0.0.1'])(
    'gets no byte when a name leads to it: %s',
    async (address) => {
      const server = await counting(OK);
      for (const addresses of [[address], ['8.8.8.8', address]]) {
        const guard = publicOnly({ lookup: async () => addresses });
        expect(await to(`http://hooks.example:${server.port}/`, { guard })).toMatchObject(forbidden);
      }
      expect([server.sockets.length, server.bytes()]).toEqual([0, 0]);
    },
  );

  it('gets no byte when a name that led elsewhere leads to it now', async () => {
    const server = await counting(OK);
    const answers = [['127.0.0.1'], ['10.0.0.1'], ['0.0.0.0']];
    const guard = publicOnly({ allowLoopback: true, lookup: async () => answers.shift() ?? [] });
    const url = `http://rebind.example:${server.port}/`;
    expect(await to(url, { guard })).toMatchObject({ made: { status: 200 } });
    const bytes = server.bytes();
    for (let again = 0; again < 2; again++) expect(await to(url, { guard })).toMatchObject(forbidden);
    expect([server.sockets.length, server.bytes()]).toEqual([1, bytes]);
  });
});
