import { createHash } from 'node:crypto';
import { allEndpoints } from '@svc/protocol';
import { sql } from '@svc/store';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { App, Owner } from '../support/app.ts';
import { expectError } from '../support/assertions.ts';
import { caller, send } from '../support/client.ts';
import type { RunningServer } from '../support/server.ts';
import { TestService } from '../support/service.ts';

let service: TestService;
let origin: string;
/** As an operator would run it in production, on the same database. */
let strict: RunningServer;
const METRICS_TOKEN = 'metrics-token-of-the-operator';

beforeAll(async () => {
  service = await TestService.hosted();
  origin = service.server.origin;
  strict = await service.anotherHosted({ SANDBOX: 'off', METRICS_TOKEN, PUBLIC_URL: 'https://svc.example' });
});
afterAll(() => service.stop());

/** PUBLIC_URL is not reachable here, its port is. */
const strictOrigin = () => /listening at (http:\S+?)"/.exec(strict.output())?.[1] ?? '';

describe('the health of a process', () => {
  const checks = {
    database: 'ok',
    stopping: false,
    proxy: 'ok',
    node: 'ok',
    class: 'ok',
    treasuryClass: 'ok',
    deployed: 'ok',
    relayers: 'ok',
    manager: 'ok',
    disk: expect.stringMatching(/^(ok|low)$/),
  };

  it('is told without credentials', async () => {
    expect(await send(`${origin}/healthz`)).toMatchObject({ status: 200, body: { status: 'ok' } });
    expect(await send(`${origin}/readyz`)).toMatchObject({
      status: 200,
      body: { status: 'ok', checks },
    });
  });

  it('is not ready while the node cannot be reached', async () => {
    await service.sandbox.orderFault({ kind: 'unavailable', seconds: 60 });
    expect(await send(`${origin}/readyz`)).toMatchObject({
      status: 503,
      body: { status: 'unavailable', checks: { node: 'unreachable' } },
    });
    await service.sandbox.ask('/starknet/faults', undefined, 'DELETE');
    await expect
      .poll(() => send(`${origin}/readyz`), { timeout: 60_000 })
      .toMatchObject({ status: 200, body: { checks } });
  });

  it('is not ready while the accounts of a chain have no money', async () => {
    const { db } = service;
    await db.run(sql`
      insert into relayer_accounts (chain_id, address, balance, balance_read_at) values ('0x1', '0x1', 0, now())`);
    expect(await send(`${origin}/readyz`)).toMatchObject({ status: 503, body: { checks: { relayers: 'empty' } } });
    await db.run(sql`delete from relayer_accounts where chain_id = '0x1'`);
    expect((await send(`${origin}/readyz`)).status).toBe(200);
  });

  it('names a proxy in front that TRUST_PROXY does not name, and the log does so once', async () => {
    const headers = { 'x-forwarded-for': '203.0.113.7' };
    for (let i = 0; i < 3; i++) await send(`${strictOrigin()}/healthz`, { headers });
    expect((await send(`${strictOrigin()}/readyz`)).body).toMatchObject({ checks: { proxy: 'untrusted' } });
    // Lines are written in blocks.
    await expect.poll(() => strict.output().match(/TRUST_PROXY is off/g)?.length).toBe(1);
  });
});

describe('the metrics', () => {
  const CODE = 'SECRETCODE42';

  it('count requests by route and status, without what stands in an address', async () => {
    await caller(service.server)('/skus/pase-recarga');
    await caller(service.server)('/skus/nothing');
    await send(`${origin}/v1/gifts/claim/${CODE}`);
    await send(`${origin}/v1/${CODE}`);
    const { status, headers, text } = await send(`${origin}/metrics`);
    expect(status).toBe(200);
    expect(headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/);
    expect(text).toContain('# TYPE svc_http_request_duration_seconds histogram');
    const counts = [...text.matchAll(/^svc_http_request_duration_seconds_count\{(.+)\} (\d+)$/gm)];
    const byLabels = new Map(counts.map(([, labels = '', count]) => [labels, Number(count)]));
    expect(byLabels.get('method="GET",route="/v1/skus/:id",status="200"')).toBe(1);
    expect(byLabels.get('method="GET",route="/v1/skus/:id",status="404"')).toBe(1);
    expect(byLabels.get('method="GET",route="/v1/gifts/claim/:code",status="200"')).toBe(1);
    expect(byLabels.get('method="GET",route="unknown",status="404"')).toBe(1);
    expect(text).toMatch(/^svc_database_connections\{state="idle"\} \d+$/m);
    expect(text).not.toContain(CODE);
  });

  it('are for this machine only where there is no token', async () => {
    expectError(
      await send(`${origin}/metrics`, { headers: { 'x-forwarded-for': '203.0.113.7' } }),
      401,
      'missing_credentials',
    );
  });

  it('want the token where the operator set one', async () => {
    for (const authorization of [undefined, METRICS_TOKEN, 'Bearer wrong', `Bearer ${METRICS_TOKEN}x`, 'Bearer ']) {
      const headers = authorization === undefined ? {} : { authorization };
      expectError(await send(`${strictOrigin()}/metrics`, { headers }), 401, 'missing_credentials');
    }
    const headers = { authorization: `Bearer ${METRICS_TOKEN}` };
    expect((await send(`${strictOrigin()}/metrics`, { headers })).status).toBe(200);
  });
});

describe('slow statements', () => {
  /** Runs `work` while no other transaction can read the table, and `slow` waits for it. */
  async function whileLocked<T>(slow: () => Promise<T>, work: () => Promise<void>): Promise<T> {
    const { db } = service.database;
    const waits = sql`select from pg_locks where relation = 'transactions'::regclass and not granted`;
    const begun = await db.tx(async (tx) => {
      await tx.run(sql`lock table transactions in access exclusive mode`);
      const running = slow();
      await expect.poll(() => db.rows(waits)).not.toEqual([]);
      await work();
      return { running };
    });
    return begun.running;
  }

  it('of lists keep neither other reads nor readiness waiting', async () => {
    const call = caller(service.server);
    const wallet = new Owner();
    await new App(service.server).createWallet(wallet, 'ana');
    const order: string[] = [];
    const list = async () => {
      const { status } = await call(`/transactions/transaction-list?walletAddress=${wallet.address}`);
      order.push(`list ${status}`);
    };
    await whileLocked(
      () => Promise.all([list(), list()]),
      async () => {
        // Two in a row: each of the shared connections answers one.
        for (let read = 0; read < 2; read++) await call('/svc-wallets/by-user?externalUserId=ana');
        order.push('reads');
        expect((await send(`${origin}/readyz`)).status).toBe(200);
      },
    );
    expect(order).toEqual(['reads', 'list 200', 'list 200']);
  });

  it('of gauges keep neither reads nor readiness waiting, and the scrape answers', async () => {
    const call = caller(service.server);
    const scraped = await whileLocked(
      () => send(`${origin}/metrics`),
      async () => {
        for (let read = 0; read < 2; read++) await call('/svc-wallets/by-user?externalUserId=ana');
        expect((await send(`${origin}/readyz`)).status).toBe(200);
      },
    );
    expect(scraped.status).toBe(200);
  });
});

describe('the reference page', () => {
  it('is one HTML page that needs nothing from elsewhere', async () => {
    const { status, headers, text } = await send(`${origin}/docs`);
    expect(status).toBe(200);
    expect(headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(text).toMatch(/^<!doctype html>/i);
    expect(text).not.toMatch(/<iframe|<link[^>]+href="http|src="(?:http|\/\/)|<script(?![^>]+src=)/i);
    for (const { path } of allEndpoints) expect(text).toContain(path);
  });

  it('allows its own style, scripts of this service, and nothing inline', async () => {
    const { headers, text } = await send(`${origin}/docs`);
    const policy = headers.get('content-security-policy') ?? '';
    const style = /<style>([\s\S]*?)<\/style>/.exec(text)?.[1] ?? '';
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain(`'sha256-${createHash('sha256').update(style).digest('base64')}'`);
    expect(policy).toMatch(/script-src 'self'(;|$)/);
    expect(policy).not.toMatch(/unsafe|https?:|\*/);
    expect(headers.get('x-content-type-options')).toBe('nosniff');
  });
});

describe('the description of the interface', () => {
  it('is OpenAPI 3.1, version 14.0.0, of every endpoint', async () => {
    const { status, headers, body } = await send(`${origin}/v1/openapi.json`);
    const document = body as { openapi: string; info: { version: string }; servers: unknown; paths: object };
    expect(status).toBe(200);
    expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(document.openapi).toMatch(/^3\.1\./);
    expect(document.info.version).toBe('14.0.0');
    expect(document.servers).toEqual([{ url: `${origin}/v1` }]);
    const described = Object.entries(document.paths).flatMap(([path, item]) =>
      Object.keys(item as object).map((method) => `${method.toUpperCase()} ${path}`),
    );
    expect(described.sort()).toEqual(allEndpoints.map(({ method, path }) => `${method} ${path}`).sort());
  });

  it('names the address that others see', async () => {
    const { body, headers } = await send(`${strictOrigin()}/v1/openapi.json`);
    expect(body).toMatchObject({ servers: [{ url: 'https://svc.example/v1' }] });
    expect(headers.get('strict-transport-security')).toMatch(/^max-age=\d+/);
  });
});

describe('without the sandbox', () => {
  it('nothing is below /sandbox', async () => {
    const sub = { sub: 'user-1' };
    expectError(await send(`${strictOrigin()}/sandbox/identity/jwks.json`), 404, 'not_found');
    expectError(
      await send(`${strictOrigin()}/sandbox/identity/token`, { method: 'POST', body: sub }),
      404,
      'not_found',
    );
    expectError(await send(`${strictOrigin()}/sandbox`), 404, 'not_found');
    expect((await send(`${origin}/sandbox/identity/jwks.json`)).status).toBe(200);
  });

  it('no key is shown at the start, and production keys work', async () => {
    const { headers } = await service.organization({ environment: 'production' });
    expect(strict.output()).not.toMatch(/sk_dev_|pk_dev_/);
    expect((await send(`${strictOrigin()}/v1/organization`, { headers })).body).toMatchObject({
      environment: 'production',
    });
  });
});
