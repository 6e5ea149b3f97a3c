import { describe, expect, it, vi } from 'vitest';
import { currentTenant, runAs, TenantBusyError, TenantShares } from './tenant.ts';

describe('the tenant', () => {
  it('is known to everything that its work begins, and to nothing else', async () => {
    const later = runAs('a', async () => {
      await Promise.resolve();
      return currentTenant();
    });
    expect(currentTenant()).toBeUndefined();
    expect(await Promise.all([later, runAs('b', async () => currentTenant())])).toEqual(['a', 'b']);
  });
});

describe('shares', () => {
  const settled = () => new Promise((resolve) => setImmediate(resolve));

  it('let a tenant have its share at once and the rest in order, and leave other tenants alone', async () => {
    const shares = new TenantShares(2);
    const begun: string[] = [];
    const ends: (() => void)[] = [];
    const start = async (tenant: string | undefined, name: string) => {
      const end = await shares.take(tenant);
      begun.push(name);
      ends.push(end);
    };
    for (const name of ['a1', 'a2', 'a3', 'a4']) void start('a', name);
    void start('b', 'b1');
    for (const name of ['x', 'y', 'z']) void start(undefined, name);
    await settled();
    expect(begun.sort()).toEqual(['a1', 'a2', 'b1', 'x', 'y', 'z']);
    ends[0]?.();
    await settled();
    expect(begun.at(-1)).toBe('a3');
    ends[1]?.();
    await settled();
    expect(begun.at(-1)).toBe('a4');
  });

  it('refuse what waits too long, and go on with the next', async () => {
    vi.useFakeTimers();
    const shares = new TenantShares(1, { maxWaitMs: 1_000 });
    const end = await shares.take('a');
    const late = shares.take('a').catch((error: unknown) => error);
    await vi.advanceTimersByTimeAsync(1_000);
    vi.useRealTimers();
    expect(await late).toBeInstanceOf(TenantBusyError);
    const next = shares.take('a');
    end();
    (await next)();
    expect(await shares.take('a')).toBeTypeOf('function');
  });

  it('refuse at once what would queue without a bound', async () => {
    const shares = new TenantShares(1);
    await shares.take('a');
    const queued = Array.from({ length: 500 }, () => shares.take('a'));
    await expect(shares.take('a')).rejects.toBeInstanceOf(TenantBusyError);
    expect(queued).toHaveLength(500);
    expect(await shares.take('b')).toBeTypeOf('function');
  });
});
