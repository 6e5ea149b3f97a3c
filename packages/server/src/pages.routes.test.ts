import { ApiError } from '@svc/protocol';
import type { Pages } from '@svc/web/pages';
import Fastify from 'fastify';
import { describe, expect, it } from 'vitest';
import { addSecurityHeaders, replyWithError } from './http/request-hooks.ts';
import { type Explorers, explorersOf, type HomeFacts, registerPages, sendNotFoundPage } from './pages.ts';

const pages: Pages = {
  html: {
    claim: '<meta name="svc-explorers" content="" /><script src="./assets/a-1.js"></script>',
    wallet: '<head></head><script src="./assets/a-1.js"></script>',
    dashboard: '<title>Dashboard</title><script src="./assets/a-1.js"></script>',
    explorer: '<title>Explorer</title><script src="./assets/a-1.js"></script>',
    notFound: '<title>Not found</title><a href="./docs">Reference</a><script src="./assets/a-1.js"></script>',
    docs: '<script src="./assets/a-1.js"></script>',
    home: '<meta name="svc-home" content="" /><title>Home</title><script src="./assets/a-1.js"></script>',
  },
  assets: new Map([['a-1.js', { body: Buffer.from('plain'), brotli: Buffer.from('small') }]]),
};

const facts: HomeFacts = { version: '1.2.3', network: null, hasSandbox: true };

const open = (explorers: Explorers = {}, hasSandbox = true) => serve(explorers, hasSandbox, facts);
const openWithoutHome = () => serve({}, true, undefined);

function serve(explorers: Explorers, hasSandbox: boolean, home: HomeFacts | undefined) {
  const app = Fastify();
  addSecurityHeaders(app, 'http://svc.test');
  app.setErrorHandler(replyWithError);
  const served = { pages, explorers, hasSandbox, home };
  app.setNotFoundHandler((request, reply) => {
    if (sendNotFoundPage(served, request, reply)) return reply;
    throw new ApiError('not_found');
  });
  registerPages(app, served);
  return app;
}

describe('an unknown page', () => {
  const accept = 'text/html,application/xhtml+xml,*/*;q=0.8';

  it.each([
    ['/nothing', './'],
    ['/nothing/at/all?x=/y', '../../'],
  ])('is a page for browsers, with links that work below a path prefix: %s', async (url, toRoot) => {
    const reply = await open().inject({ url, headers: { accept } });
    expect([reply.statusCode, reply.headers['content-type']]).toEqual([404, 'text/html; charset=utf-8']);
    expect(reply.body).toContain(`href="${toRoot}docs"`);
    expect(reply.body).toContain(`src="${toRoot}assets/a-1.js"`);
    expect(reply.headers['content-security-policy']).toContain("style-src 'self'");
  });

  it('is JSON for other clients, and below the interface', async () => {
    for (const [url, headers] of [
      ['/nothing', { accept: '*/*' }],
      ['/v1/nothing', { accept }],
    ] as const) {
      expect((await open().inject({ url, headers })).json()).toMatchObject({ error: 'not_found' });
    }
  });
});

describe('the claim page', () => {
  it('is the same for every code, looked for again each time, and lets nothing in from elsewhere', async () => {
    const replies = await Promise.all(
      ['/claim/NAVIDAD', '/claim/assets', '/claim/'].map((url) => open().inject({ url })),
    );
    expect(replies.map(({ body }) => body)).toEqual(Array(3).fill(pages.html.claim));
    const headers = replies[0]?.headers ?? {};
    expect(headers).toMatchObject({ 'cache-control': 'no-cache', 'content-type': 'text/html; charset=utf-8' });
    expect(headers['content-security-policy']).toContain("default-src 'none'; script-src 'self'");
    expect(headers['content-security-policy']).not.toMatch(/'unsafe-/);
    expect(headers['referrer-policy']).toBe('no-referrer');
  });

  it('is found without the last slash, below any path', async () => {
    const { statusCode, headers } = await open().inject('/claim');
    expect([statusCode, headers.location]).toEqual([302, 'claim/']);
  });

  it('keeps its assets for ever, small where the browser can read that', async () => {
    const small = await open().inject({ url: '/claim/assets/a-1.js', headers: { 'accept-encoding': 'gzip, br' } });
    expect(small.headers).toMatchObject({
      'content-encoding': 'br',
      'cache-control': 'public, max-age=31536000, immutable',
    });
    expect(small.body).toBe('small');
    const plain = await open().inject('/claim/assets/a-1.js');
    expect([plain.headers['content-encoding'], plain.body]).toEqual([undefined, 'plain']);
    expect(plain.headers['content-type']).toBe('text/javascript; charset=utf-8');
  });

  it.each(['/claim/assets/other.js', '/claim/assets/..%2Findex.html', '/claim/assets/__proto__', '/claim/a/b'])(
    'has nothing at %s',
    async (url) => {
      const { statusCode, headers } = await open().inject(url);
      expect([statusCode, headers['cache-control']]).toEqual([404, 'no-store']);
    },
  );

  it('is told of explorers where everything that it shows is on a live network', async () => {
    const { body } = await open({ starknet: 'https://explorer.example/{hash}' }).inject('/claim/NAVIDAD');
    expect(body).toContain('content="{&quot;starknet&quot;:&quot;https://explorer.example/{hash}&quot;}"');
  });
});

describe('the dashboard', () => {
  it.each([
    ['/dashboard', './dashboard/assets/a-1.js'],
    ['/dashboard?env=production', './dashboard/assets/a-1.js'],
    ['/dashboard/', './assets/a-1.js'],
    ['/dashboard/wallets', './assets/a-1.js'],
    ['/dashboard/developers/webhooks/7?tab=a/b', '../../assets/a-1.js'],
  ])('answers at %s, with its assets below any path prefix', async (url, script) => {
    const { body, headers } = await open().inject(url);
    expect(body).toBe(`<title>Dashboard</title><script src="${script}"></script>`);
    expect(headers).toMatchObject({ 'cache-control': 'no-cache', 'content-type': 'text/html; charset=utf-8' });
  });

  it('runs its own scripts and styles alone, and cannot be framed', async () => {
    const { headers } = await open().inject('/dashboard');
    expect(headers['content-security-policy']).toBe(
      "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; style-src 'self'; connect-src 'self'; " +
        "base-uri 'none'; frame-ancestors 'none'; img-src 'self' data: blob:; form-action 'self'",
    );
  });

  it('has its assets beside it, and no page at an unknown one', async () => {
    expect((await open().inject('/dashboard/assets/a-1.js')).body).toBe('plain');
    expect((await open().inject('/dashboard/assets/a-2.js')).statusCode).toBe(404);
  });
});

describe('the explorer', () => {
  it('exists with the sandbox alone', async () => {
    const paths = ['/sandbox/explorer', '/sandbox/explorer/blocks/7', '/sandbox/explorer/assets/a-1.js'];
    const statuses = async (hasSandbox: boolean) =>
      Promise.all(paths.map(async (url) => (await open({}, hasSandbox).inject(url)).statusCode));
    expect(await statuses(true)).toEqual([200, 200, 200]);
    expect(await statuses(false)).toEqual([404, 404, 404]);
  });
});

describe('the home page', () => {
  it('is for browsers; other clients are told that nothing is here', async () => {
    const page = await open().inject({ url: '/', headers: { accept: 'text/html,application/xhtml+xml' } });
    expect([page.statusCode, page.body]).toEqual([200, expect.stringContaining('<title>Home</title>')]);
    const answer = await open().inject({ url: '/', headers: { accept: '*/*' } });
    expect([answer.statusCode, answer.json().error]).toEqual([404, 'not_found']);
    expect((await open().inject('/assets/a-1.js')).body).toBe('plain');
  });

  it('is told what runs here', async () => {
    const { body } = await open().inject({ url: '/', headers: { accept: 'text/html' } });
    expect(body).toContain(
      'content="{&quot;version&quot;:&quot;1.2.3&quot;,&quot;network&quot;:null,&quot;hasSandbox&quot;:true}"',
    );
  });

  it('is nowhere once it is switched off', async () => {
    const { statusCode } = await openWithoutHome().inject({ url: '/', headers: { accept: 'text/html' } });
    expect(statusCode).toBe(404);
  });
});

describe('explorers', () => {
  const starknet = {
    rpcUrls: [],
    publicRpcUrl: '',
    svcClassHash: 0n,
    paymentAddress: '0x1' as never,
  };

  it('belong to the network, and are none where a gift may be one of the sandbox', () => {
    expect(explorersOf({ ...starknet, network: 'mainnet' }, false).starknet).toBe('https://voyager.online/tx/{hash}');
    expect(explorersOf({ ...starknet, network: 'sepolia' }, false).starknet).toContain('//sepolia.');
    expect(explorersOf({ ...starknet, network: 'mainnet' }, true)).toEqual({});
    expect(explorersOf(undefined, false)).toEqual({});
    expect(explorersOf(undefined, true)).toEqual({ starknet: '../sandbox/explorer/tx/{hash}' });
  });
});
