import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { AttestationClient, Throttle } from './attestation-client.ts';

/** Answers everything in the same way, and remembers what was asked. */
class Service {
  readonly asked: string[] = [];
  readonly #server: Server;

  private constructor(status: number, body: string) {
    this.#server = createServer((request, response) => {
      this.asked.push(`${request.method} ${request.url}`);
      if (status === 0) return void request.socket.destroy();
      response.writeHead(status, { 'content-type': 'application/json' }).end(body);
    });
  }

  static async start(status: number, body: unknown): Promise<Service> {
    const service = new Service(status, typeof body === 'string' ? body : JSON.stringify(body));
    await new Promise<void>((resolve) => service.#server.listen(0, '127.0.0.1', resolve));
    running.push(service.#server);
    return service;
  }

  client(): AttestationClient {
    const { port } = this.#server.address() as AddressInfo;
    return new AttestationClient(
      `http://127.0.0.1:${port}/base/`,
      new Throttle({ now: () => 0, pause: async () => {} }),
    );
  }
}

const running: Server[] = [];
afterEach(() => {
  for (const server of running.splice(0)) server.close();
});

const complete = { message: '0xaa', attestation: '0xbb', status: 'complete', forwardState: null, forwardTxHash: null };

it('messages are asked for by the burn, below the configured address', async () => {
  const service = await Service.start(200, { messages: [{ ...complete, forwardState: 'CONFIRMED' }] });
  expect(await service.client().messages('0x1')).toEqual([
    { complete: true, message: '0xaa', attestation: '0xbb', forwardState: 'CONFIRMED', forwardTxHash: undefined },
  ]);
  expect(service.asked).toEqual(['GET /base/v2/messages/25?transactionHash=0x1']);
});

it('a transaction that it has not seen is no error', async () => {
  expect(await (await Service.start(404, { error: 'unknown' })).client().messages('0x1')).toBeUndefined();
});

it.each([
  { status: 'pending_confirmations', attestation: 'PENDING', message: '0x' },
  { ...complete, attestation: 'PENDING' },
])('what is not attested yet is not complete', async (message) => {
  const service = await Service.start(200, { messages: [message] });
  expect(await service.client().messages('0x1')).toMatchObject([{ complete: false }]);
});

it('only what can be a transaction on Solana is taken for one', async () => {
  const messages = [{ ...complete, forwardState: 'COMPLETE', forwardTxHash: '<script>' }];
  expect(await (await Service.start(200, { messages })).client().messages('0x1')).toMatchObject([
    { forwardState: 'COMPLETE', forwardTxHash: undefined },
  ]);
});

it.each([
  ['an error', 500, {}],
  ['no JSON', 200, 'oops'],
  ['no list', 200, { messages: {} }],
  ['an unknown status', 200, { messages: [{ ...complete, status: 'odd' }] }],
  ['too many messages', 200, { messages: new Array(101).fill(complete) }],
  ['nothing at all', 0, ''],
  ['a redirect', 302, {}],
])('an answer with %s means that the bridge is not available', async (_, status, body) => {
  const asking = (await Service.start(status, body)).client().messages('0x1');
  await expect(asking).rejects.toMatchObject({ code: 'chain_unavailable' });
});

it('after 429 nothing is asked any more', async () => {
  const service = await Service.start(429, {});
  const client = service.client();
  for (const asking of [() => client.messages('0x1'), () => client.fees(), () => client.reattest('0x2')]) {
    await expect(asking()).rejects.toMatchObject({ code: 'chain_unavailable' });
  }
  expect(service.asked).toHaveLength(1);
});

it('fees include the mint, and a message is attested anew by its nonce', async () => {
  const forwardFee = { low: 1, med: 2, high: 3 };
  const service = await Service.start(200, [
    { finalityThreshold: 1_000, minimumFee: 1.3, forwardFee },
    { finalityThreshold: 2_000, minimumFee: 0, forwardFee },
  ]);
  expect(await service.client().fees()).toMatchObject({ fast: { forward: 3n } });
  await service.client().reattest('0x2');
  expect(service.asked).toEqual(['GET /base/v2/burn/USDC/fees/25/5?forward=true', 'POST /base/v2/reattest/0x2']);
});
