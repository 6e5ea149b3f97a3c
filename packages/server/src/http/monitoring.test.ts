import type { Database } from '@svc/store';
import Fastify from 'fastify';
import { describe, expect, it, vi } from 'vitest';
import { createMetrics, type GaugeSource, shareRead } from './monitoring.ts';

const database = {
  pool: { totalCount: 0, idleCount: 0, waitingCount: 0 },
  lists: { rows: async () => [] },
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
