import type { Database } from '@svc/store';
import Fastify from 'fastify';
import { describe, expect, it, vi } from 'vitest';
import {
  type Checks,
  createMetrics,
  diskCheck,
  type GaugeSource,
  type Health,
  registerOperations,
  shareRead,
  watchForwarding,
} from './monitoring.ts';

const database = {
  pool: { totalCount: 0, idleCount: 0, waitingCount: 0 },
  lists: { rows: async () => [] },
  probe: async () => {},
} as unknown as Database;

function startMetrics(read: GaugeSource['read']) {
  const app = Fastify();
  const log = { warn: vi.spyOn(app.log, 'warn'), info: vi.spyOn(app.log, 'info') };
  const { registry } = createMetrics(app, database, [{ name: 'svc_test', help: 'test', labelNames: ['kind'], read }]);
  const scrape = async () => (await registry.metrics()).split('\n').filter((line) => /^svc_(test|gauge)/.test(line));
  return { log, scrape };
}

const two = [{ labels: { kind: 'a' }, value: 2 }];

describe('a gauge that fails', () => {
  it('keeps its last value and is counted, and the scrape answers', async () => {
    const read = vi.fn<GaugeSource['read']>().mockResolvedValueOnce(two).mockRejectedValue(new Error('gone'));
    const { scrape } = startMetrics(read);
    expect(await scrape()).toEqual(['svc_test{kind="a"} 2']);
    // The counter is read while the gauge is, so a failure shows in the next scrape.
    expect(await scrape()).toEqual(['svc_test{kind="a"} 2']);
    expect(await scrape()).toEqual(['svc_gauge_failures{gauge="svc_test"} 1', 'svc_test{kind="a"} 2']);
  });

  it('is logged when it begins to fail and when it answers again, not at every scrape', async () => {
    const failure = new Error('gone');
    const read = vi.fn<GaugeSource['read']>().mockRejectedValueOnce(failure).mockRejectedValueOnce(failure);
    const { log, scrape } = startMetrics(read.mockResolvedValue(two));
    for (let round = 0; round < 4; round++) await scrape();
    expect(log.warn.mock.calls).toEqual([[{ gauge: 'svc_test', err: failure }, 'gauge read failed']]);
    expect(log.info.mock.calls).toEqual([[{ gauge: 'svc_test' }, 'gauge read recovered']]);
  });

  it('does not keep a scrape waiting', async () => {
    vi.useFakeTimers();
    const { log, scrape } = startMetrics(() => new Promise(() => {}));
    const scraped = scrape();
    await vi.advanceTimersByTimeAsync(5_000);
    vi.useRealTimers();
    expect(await scraped).toEqual([]);
    expect(log.warn).toHaveBeenCalledOnce();
  });
});

describe('a gauge that answers', () => {
  it('shows what it read last and nothing older', async () => {
    const read = vi.fn<GaugeSource['read']>().mockResolvedValueOnce(two);
    const { scrape } = startMetrics(read.mockResolvedValue([{ labels: { kind: 'b' }, value: 3 }]));
    await scrape();
    expect(await scrape()).toEqual(['svc_test{kind="b"} 3']);
  });
});

describe('a shared read', () => {
  it('runs once for those who need it at the same time, and anew for later ones', async () => {
    const read = vi.fn<() => Promise<number>>().mockResolvedValueOnce(1).mockRejectedValueOnce(new Error('gone'));
    const shared = shareRead(read.mockResolvedValue(3));
    expect(await Promise.all([shared(), shared()])).toEqual([1, 1]);
    await expect(shared()).rejects.toThrow('gone');
    expect(await shared()).toBe(3);
  });
});

interface Operations {
  readonly checks?: Checks;
  readonly metricsToken?: string;
  readonly isBehindProxy?: boolean;
}

function startOperations({ checks = {}, metricsToken, isBehindProxy = false }: Operations = {}) {
  const app = Fastify();
  const health: Health = { stopping: false, hasUntrustedProxy: false, probes: new Map() };
  watchForwarding(app, health);
  const metrics = createMetrics(app, database, []);
  registerOperations(app, { db: database, health, metrics, metricsToken, isBehindProxy, checks });
  return app;
}

describe('readiness', () => {
  const ready = async (checks: Checks) => {
    const reply = await startOperations({ checks }).inject('/readyz');
    return [reply.statusCode, reply.json().status, reply.json().checks.any];
  };

  it.each(['unreachable', 'undeclared', 'undeployed', 'empty', 'full'])(
    'ends with a check that says %s',
    async (word) => {
      expect(await ready({ fine: async () => 'ok', any: async () => word })).toEqual([503, 'unavailable', word]);
    },
  );

  it.each(['ok', 'low', 'missing', 'incomplete', 'unknown'])('remains with a check that says %s', async (word) => {
    expect(await ready({ any: async () => word })).toEqual([200, 'ok', word]);
  });

  it('remains when a check cannot be read', async () => {
    const failing = () => Promise.reject(new Error('gone'));
    expect(await ready({ any: failing })).toEqual([200, 'ok', 'unknown']);
  });

  it.each([
    ['full', [10_000_000_000, 100_000_000]],
    ['low', [10_000_000_000, 1_000_000_000]],
    ['ok', [10_000_000_000, undefined]],
  ])('says that a disk is %s where folders have %j bytes left', async (word, free) => {
    const byFolder = new Map(free.map((bytes, index) => [`folder ${index}`, bytes]));
    expect(await diskCheck([...byFolder.keys()], async (folder) => byFolder.get(folder))()).toBe(word);
  });

  it('reads the free space of the folders that exist', async () => {
    expect(await diskCheck([import.meta.dirname, '/no/such/folder'])()).toMatch(/^(ok|low)$/);
  });
});

describe('a proxy that the operator did not name', () => {
  it('is reported in /readyz and once in the log', async () => {
    const app = startOperations();
    const warn = vi.spyOn(app.log, 'warn');
    const read = async () => (await app.inject('/readyz')).json().checks.proxy;
    expect(await read()).toBe('ok');
    for (let i = 0; i < 3; i++) await app.inject({ url: '/healthz', headers: { 'x-forwarded-for': '203.0.113.7' } });
    expect(await read()).toBe('untrusted');
    expect(warn).toHaveBeenCalledExactlyOnceWith(expect.stringContaining('TRUST_PROXY is off'));
  });
});

describe('the metrics', () => {
  const REMOTE = '203.0.113.7';
  const scrape = async (
    operations: Operations,
    remoteAddress: string,
    headers: Record<string, string> = {},
  ): Promise<number> =>
    (await startOperations(operations).inject({ url: '/metrics', remoteAddress, headers })).statusCode;

  it.each(['127.0.0.1', '127.1.2.3', '::1', '::ffff:127.0.0.1'])('are open to this machine: %s', async (address) => {
    expect(await scrape({}, address)).toBe(200);
  });

  it.each([
    ['another machine', {}, REMOTE, {}],
    ['another machine that looks similar', {}, '::ffff:203.0.113.7', {}],
    ['a proxy on this machine', {}, '127.0.0.1', { 'x-forwarded-for': REMOTE }],
    ['a proxy on this machine that uses the standard header', {}, '127.0.0.1', { forwarded: `for=${REMOTE}` }],
    ['anything on this machine behind a proxy', { isBehindProxy: true }, '127.0.0.1', {}],
    ['this machine without the token', { metricsToken: 'secret' }, '127.0.0.1', {}],
  ])('are closed to %s', async (_, operations, address, headers) => {
    expect(await scrape(operations, address, headers as Record<string, string>)).toBe(401);
  });

  it('are open with the token from anywhere', async () => {
    const headers = { authorization: 'Bearer secret' };
    expect(await scrape({ metricsToken: 'secret', isBehindProxy: true }, REMOTE, headers)).toBe(200);
  });
});
