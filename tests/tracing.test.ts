import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Owner } from './support/app.ts';
import { eventually } from './support/eventually.ts';
import { GiftFixture, newWallet } from './support/gifts.ts';
import { TestService } from './support/service.ts';

interface Span {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly attributes: readonly { readonly key: string; readonly value: object }[];
}

interface Export {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: Span['attributes'] };
    readonly scopeSpans: readonly { readonly spans: readonly Span[] }[];
  }[];
}

/** Starts, exports and blocks, on a busy machine. */
const EACH_MS = 120_000;
const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const CALLER = '00f067aa0ba902b7';

const spans: Span[] = [];
const keys = new Set<string | undefined>();
/** As small as a receiver of traces can be. */
const receiver = createServer(async (request, response) => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  keys.add(request.headers['x-receiver-key'] as string | undefined);
  const { resourceSpans } = JSON.parse(Buffer.concat(chunks).toString()) as Export;
  for (const { scopeSpans } of resourceSpans) for (const scope of scopeSpans) spans.push(...scope.spans);
  response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
});

let service: TestService;
beforeAll(async () => {
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  service = await TestService.hosted({
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`,
    OTEL_EXPORTER_OTLP_HEADERS: 'x-receiver-key=secret',
  });
}, EACH_MS);
afterAll(async () => {
  await service.stop();
  receiver.closeAllConnections();
  await new Promise((resolve) => receiver.close(resolve));
});

const ofTrace = (traceId: string) => spans.filter((span) => span.traceId === traceId);
const namesOf = (traceId: string) => ofTrace(traceId).map(({ name }) => name);
const arrived = (traceId: string, names: readonly string[]) =>
  eventually(
    async () => namesOf(traceId),
    (found) => names.every((name) => found.includes(name)),
    EACH_MS,
  );

it('one trace has the request, the relay that was sent for it and its receipt', { timeout: EACH_MS }, async () => {
  const body = await service.app.creation(new Owner(), 'traced');
  const reply = await service.app.post('/svc-wallets', body, { traceparent: `00-${TRACE}-${CALLER}-01` });
  expect(reply.status).toBe(200);
  const names = ['POST /v1/svc-wallets', 'relay send', 'relay receipt'];
  expect(await arrived(TRACE, names)).toEqual(expect.arrayContaining(names));
  const request = ofTrace(TRACE).find(({ name }) => name === 'POST /v1/svc-wallets');
  const steps = ['relay send', 'relay receipt'].flatMap(
    (step) => ofTrace(TRACE).find(({ name }) => name === step) ?? [],
  );
  expect(request?.parentSpanId).toBe(CALLER);
  expect(steps.map(({ parentSpanId }) => parentSpanId)).toEqual([request?.spanId, request?.spanId]);
  const relays = steps.map(({ attributes }) => attributes.find(({ key }) => key === 'svc.relay.id')?.value);
  expect(relays).toEqual([{ stringValue: expect.stringMatching(/^rly_/) }, relays[0]]);
  expect([...keys]).toEqual(['secret']);
});

it('jobs that a request causes are in its trace, and no gift code is', { timeout: EACH_MS }, async () => {
  const gifts = new GiftFixture(service);
  const { code } = await gifts.gift({ amount: 1 });
  const trace = TRACE.replace('4', '5');
  const walletAddress = newWallet('starknet');
  const path = `/gifts/claim/${code}/redeem`;
  const reply = await service.app.post(
    path,
    { walletAddress, chain: 'starknet' },
    { traceparent: `00-${trace}-${CALLER}-01` },
  );
  expect(reply.status).toBe(201);
  await arrived(trace, ['POST /v1/gifts/claim/:code/redeem', 'job payout-development', 'relay send', 'relay receipt']);
  expect(JSON.stringify(spans)).not.toContain(code);
});
