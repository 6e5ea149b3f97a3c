import Fastify from 'fastify';
import { describe, expect, it } from 'vitest';
import { type OwnAddress, refuseForeignPages } from './foreign-pages.ts';

async function status(headers: Record<string, string>, own: OwnAddress = { isLocal: true }, url = '/sandbox/mine') {
  const app = Fastify();
  app.addHook('onRequest', async (request, reply) => {
    if (request.headers.origin !== undefined) reply.header('access-control-allow-origin', '*');
  });
  app.register(
    async (scope) => {
      refuseForeignPages(scope, own);
      scope.post('/mine', async () => 'mined');
      scope.get('/mailbox', async () => 'mails');
      scope.post('/starknet/rpc', async () => 'answer');
      scope.get('/identity/jwks.json', async () => 'keys');
    },
    { prefix: '/sandbox' },
  );
  const method = /mine|rpc/.test(url) ? 'POST' : 'GET';
  const reply = await app.inject({ method, url, headers: { host: '127.0.0.1:8080', ...headers } });
  return [reply.statusCode, reply.headers['access-control-allow-origin'] ?? 'hidden'];
}

describe('a page of another site', () => {
  it.each(['https://evil.example', 'null', 'http://127.0.0.1.evil.example', 'http://localhost.evil.example:8080'])(
    'cannot drive the sandbox from %s, nor read what it answers',
    async (origin) => {
      expect(await status({ origin })).toEqual([403, 'hidden']);
      expect(await status({ origin }, {}, '/sandbox/mailbox')).toEqual([403, 'hidden']);
    },
  );

  it('cannot reach it by a domain that leads to this machine', async () => {
    const host = 'evil.example:8080';
    expect(await status({ host }, { isLocal: true }, '/sandbox/mailbox')).toEqual([403, 'hidden']);
    expect(await status({ host, origin: `http://${host}` })).toEqual([403, 'hidden']);
  });

  it('may use the node and the key set, as with any public node', async () => {
    const origin = 'https://app.example';
    expect(await status({ origin }, {}, '/sandbox/starknet/rpc')).toEqual([200, '*']);
    expect(await status({ origin }, {}, '/sandbox/identity/jwks.json')).toEqual([200, '*']);
  });
});

describe('the sandbox still serves', () => {
  it('programs, which name no origin', async () => {
    expect(await status({})).toEqual([200, 'hidden']);
    expect(await status({ host: 'svc:8080' }, {})).toEqual([200, 'hidden']);
  });

  it.each(['http://127.0.0.1:8080', 'http://localhost:5173', 'http://[::1]:3000', 'http://app.localhost'])(
    'pages of %s',
    async (origin) => {
      expect(await status({ origin })).toEqual([200, '*']);
    },
  );

  it('pages of the address that the operator named, behind a proxy with another host', async () => {
    const own = { publicUrl: 'https://svc.example', isLocal: true };
    expect(await status({ origin: 'https://svc.example', host: 'svc.example' }, own)).toEqual([200, '*']);
    expect(await status({ origin: 'https://svc.example', host: '10.0.0.1:8080' }, own)).toEqual([200, '*']);
  });
});
