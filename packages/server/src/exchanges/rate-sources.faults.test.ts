import type { RequestListener, ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import { answeringBody as answering, samples, startRateServer } from '../../testing/servers.ts';
import type { RateSource } from './exchange.ts';
import { askSource, banxicoSource, ecbSource, frankfurterSource, operatorSource } from './rate-sources.ts';

const NOW = Date.parse('2026-07-17T20:00:00Z');
const PATIENCE_MS = 10_000;
const SECRET = 'do-not-log-me';

interface Form {
  readonly name: string;
  readonly at: (url: string, timeoutMs: number) => RateSource;
  readonly good: string;
}

const forms: readonly Form[] = [
  {
    name: 'operator',
    at: (url, timeoutMs) => operatorSource({ url: `${url}/?key=${SECRET}`, token: SECRET, timeoutMs }),
    good: samples.operator('18.5'),
  },
  {
    name: 'banxico',
    at: (url, timeoutMs) => banxicoSource({ baseUrl: url, token: SECRET, timeoutMs }),
    good: samples.banxico('18.5'),
  },
  {
    name: 'frankfurter',
    at: (url, timeoutMs) => frankfurterSource({ baseUrl: url, timeoutMs }),
    good: samples.frankfurter('18.5'),
  },
  { name: 'ecb', at: (url, timeoutMs) => ecbSource({ url, timeoutMs }), good: samples.ecb('18.5', '1') },
];

const answer = (status: number, body: string, headers = {}): RequestListener => {
  return (_request, response) => response.writeHead(status, headers).end(body);
};
const cut = (write: (response: ServerResponse) => void): RequestListener => {
  return (_request, response) => {
    write(response);
    response.destroy();
  };
};

type Fault = readonly [what: string, kind: string, listen: (good: string) => RequestListener];
const faults: readonly Fault[] = [
  ['an error of its server', 'status', (good) => answer(500, good)],
  ['a refused token', 'status', (good) => answer(401, good)],
  ['too many requests', 'status', (good) => answer(429, good)],
  ['a redirect, which is not followed', 'status', (good) => answer(302, good, { location: '/elsewhere' })],
  ['nothing', 'unreadable', () => answer(200, '')],
  ['no content', 'status', () => answer(204, '')],
  ['a page', 'unreadable', () => answering('<!doctype html><html><body>Maintenance</body></html>', 'text/html')],
  ['garbage', 'unreadable', () => (_request, response) => response.end(Buffer.from('00ff80fe9d1f8b08', 'hex'))],
  ['half an answer, cut in form', 'unreadable', (good) => answer(200, good.slice(0, 12))],
  [
    'half an answer, cut in flight',
    'protocol',
    (good) => cut((r) => r.writeHead(200, { 'content-length': good.length }).write(good.slice(0, 9))),
  ],
  ['a cut connection', 'protocol', () => (request) => request.socket.destroy()],
  ['a body without end', 'too_large', (good) => answer(200, good.padEnd(70_000, ' '))],
];

describe.each(forms)('$name', ({ name, at, good }) => {
  it('gives its rate when nothing is wrong', async () => {
    const { url } = await startRateServer(answering(good));
    expect(await askSource(at(url, PATIENCE_MS), NOW)).toMatchObject({
      ok: true,
      rate: { mxnPerUsd: 185n * 10n ** 17n },
    });
  });

  it.each(faults)('fails by %s', async (_what, kind, listen) => {
    const server = await startRateServer(listen(good));
    const outcome = await askSource(at(server.url, PATIENCE_MS), NOW);
    expect(outcome).toMatchObject({ ok: false, failure: { source: name, kind } });
    expect(JSON.stringify(outcome)).not.toContain(SECRET);
    expect(server.requests).toHaveLength(1);
  });

  it('fails by silence', async () => {
    const { url } = await startRateServer(() => {});
    const outcome = await askSource(at(url, 20), NOW);
    expect(outcome).toMatchObject({ ok: false, failure: { source: name, kind: 'timeout' } });
    expect(JSON.stringify(outcome)).not.toContain(SECRET);
  });

  it('fails where the port is closed', async () => {
    const outcome = await askSource(at('http://127.0.0.1:1', PATIENCE_MS), NOW);
    expect(outcome).toMatchObject({ ok: false, failure: { source: name, kind: 'connect' } });
    expect(JSON.stringify(outcome)).not.toContain(SECRET);
  });
});
