import { currentTenant, runAs } from '@svc/store';
import { describe, expect, it } from 'vitest';
import { createBatcher, createGatherer, createSemaphore, QueueFullError } from './semaphore.ts';

describe('a semaphore', () => {
  it('runs at most its limit at once, first in first out, also when one fails', async () => {
    const take = createSemaphore({ limit: 2, maxQueued: 10 });
    const gates = Array.from({ length: 5 }, () => Promise.withResolvers<void>());
    const started: number[] = [];
    const all = gates.map((gate, index) =>
      take(() => {
        started.push(index);
        return gate.promise;
      }).catch(() => {}),
    );
    expect(started).toEqual([0, 1]);
    gates[1]?.reject(new Error('no'));
    await all[1];
    expect(started).toEqual([0, 1, 2]);
    for (const gate of gates) gate.resolve();
    await Promise.all(all);
    expect(started).toEqual([0, 1, 2, 3, 4]);
    expect(await take(async () => 'free again')).toBe('free again');
  });

  it('serves tenants in turn: 500 waiting tasks of one delay the first of another by the running ones only', async () => {
    const take = createSemaphore({ limit: 16, maxQueued: 2_000 });
    const running: PromiseWithResolvers<void>[] = [];
    const started: string[] = [];
    const ask = (tenant: string) =>
      take(() => {
        started.push(tenant);
        const gate = Promise.withResolvers<void>();
        running.push(gate);
        return gate.promise;
      }, tenant);
    const endOne = async () => {
      running.shift()?.resolve();
      await new Promise((resolve) => setImmediate(resolve));
    };
    const loud = Array.from({ length: 516 }, () => ask('loud'));
    const quiet = [ask('quiet'), ask('quiet')];
    expect(started).toHaveLength(16);
    // The queue was only loud's, whose turn is therefore first.
    for (let ended = 0; ended < 4; ended++) await endOne();
    expect(started.slice(16)).toEqual(['loud', 'quiet', 'loud', 'quiet']);
    while (running.length > 0) await endOne();
    await Promise.all([...loud, ...quiet]);
  });

  it('with a full queue refuses the newest task of the tenant that has the most in it', async () => {
    const take = createSemaphore({ limit: 1, maxQueued: 4 });
    const gate = Promise.withResolvers<void>();
    const done: string[] = [];
    const ask = (tenant: string, name: string) => take(() => gate.promise, tenant).then(() => void done.push(name));
    const tasks = [0, 1, 2, 3, 4].map((place) => ask('loud', `loud ${place}`));
    const refused = expect(tasks[4]).rejects.toThrow(QueueFullError);
    await expect(ask('loud', 'one more')).rejects.toThrow(QueueFullError);
    const other = ask('quiet', 'quiet');
    await refused;
    gate.resolve();
    await Promise.all([...tasks.slice(0, 4), other]);
    expect(done).toEqual(['loud 0', 'loud 1', 'quiet', 'loud 2', 'loud 3']);
  });

  it('refuses a task when its queue is full, without starting it, and takes tasks again once there is room', async () => {
    const take = createSemaphore({ limit: 1, maxQueued: 2 });
    const gate = Promise.withResolvers<string>();
    const waiting = [1, 2, 3].map(() => take(() => gate.promise));
    const refused = { started: false };
    await expect(
      take(async () => {
        refused.started = true;
      }),
    ).rejects.toThrow(QueueFullError);
    expect(refused.started).toBe(false);
    gate.resolve('done');
    expect(await Promise.all(waiting)).toEqual(['done', 'done', 'done']);
    expect(await take(async () => 'free again')).toBe('free again');
  });
});

describe('a batcher', () => {
  const limits = { limit: 2, maxQueued: 10, maxTogether: 3 };

  function gated(changes: Partial<typeof limits> = {}) {
    const batches: { readonly items: readonly string[]; readonly gate: PromiseWithResolvers<void> }[] = [];
    const ask = createBatcher<string, string>({ ...limits, ...changes }, async (items) => {
      const gate = Promise.withResolvers<void>();
      batches.push({ items, gate });
      await gate.promise;
      return Promise.allSettled(
        items.map(async (item) => (item.includes('bad') ? Promise.reject(new Error(item)) : `${item} done`)),
      );
    });
    return { ask, batches, items: () => batches.map(({ items }) => items.join(' ')) };
  }
  const settled = () => new Promise((resolve) => setImmediate(resolve));

  it('works together on what a tenant asks for meanwhile, one batch of a tenant at a time', async () => {
    const { ask, batches, items } = gated();
    const all = ['a', 'b', 'c', 'd', 'e'].map((item) => ask(item, 'one'));
    expect(items()).toEqual(['a']);
    batches[0]?.gate.resolve();
    await settled();
    expect(items()).toEqual(['a', 'b c d']);
    batches[1]?.gate.resolve();
    await settled();
    batches[2]?.gate.resolve();
    expect(await Promise.all(all)).toEqual(['a done', 'b done', 'c done', 'd done', 'e done']);
    expect(items()).toEqual(['a', 'b c d', 'e']);
  });

  it('serves tenants in turn, and passes over one that is being served', async () => {
    const { ask, batches, items } = gated();
    const all = ['a', 'b', 'c', 'd', 'e'].map((item) => ask(item, 'loud'));
    all.push(ask('q', 'quiet'), ask('r', 'late'));
    expect(items()).toEqual(['a', 'q']);
    batches[1]?.gate.resolve();
    await settled();
    expect(items()).toEqual(['a', 'q', 'r']);
    for (const { gate } of batches) gate.resolve();
    await settled();
    for (const { gate } of batches) gate.resolve();
    await settled();
    for (const { gate } of batches) gate.resolve();
    await Promise.all(all);
    expect(items()).toEqual(['a', 'q', 'r', 'b c d', 'e']);
  });

  it('answers each with its own result, and all with the error of their batch', async () => {
    const { ask, batches } = gated();
    const [first, bad, good] = [ask('a'), ask('bad'), ask('good')];
    batches[0]?.gate.reject(new Error('batch lost'));
    await expect(first).rejects.toThrow('batch lost');
    await settled();
    batches[1]?.gate.resolve();
    await expect(bad).rejects.toThrow('bad');
    expect(await good).toBe('good done');
  });

  it('with a full queue refuses the newest of the tenant that has the most in it, and none that need not wait', async () => {
    const { ask, batches } = gated({ limit: 1, maxQueued: 2 });
    const all = [ask('a', 'loud'), ask('b', 'loud'), ask('c', 'loud')];
    const displaced = expect(all[2]).rejects.toThrow(QueueFullError);
    await expect(ask('d', 'loud')).rejects.toThrow(QueueFullError);
    const quiet = ask('q', 'quiet');
    await displaced;
    for (let place = 0; place < 3; place++) {
      batches[place]?.gate.resolve();
      await settled();
    }
    expect(await Promise.all([all[0], all[1], quiet])).toEqual(['a done', 'b done', 'q done']);
    const alone = gated({ maxQueued: 0 });
    const taken = alone.ask('a');
    alone.batches[0]?.gate.resolve();
    expect(await taken).toBe('a done');
  });

  it('works for the tenant that asked, whoever ended before', async () => {
    const seen: unknown[] = [];
    const gate = Promise.withResolvers<void>();
    const ask = createBatcher<string, void>({ ...limits, limit: 1 }, async (items) => {
      await gate.promise;
      seen.push(currentTenant());
      return items.map(() => ({ status: 'fulfilled', value: undefined }));
    });
    const all = ['one', 'other'].map((tenant) => runAs(tenant, () => ask(tenant)));
    gate.resolve();
    await Promise.all(all);
    expect(seen).toEqual(['one', 'other']);
  });
});

describe('a gatherer', () => {
  const runs: number[][] = [];
  const gather = createGatherer(async (_key: object, items: readonly number[]) => {
    runs.push([...items]);
    if (items.includes(0)) throw new Error('zero');
    return items.map((item) => item * 2);
  });

  it('runs together what is asked at one moment for one key, and answers each', async () => {
    const [one, other] = [{}, {}];
    runs.length = 0;
    const askTwice = async (item: number) => gather(one, await gather(one, item));
    const answers = await Promise.all([askTwice(1), gather(other, 3), askTwice(2)]);
    expect(answers).toEqual([4, 6, 8]);
    expect(runs).toEqual([[1, 2], [3], [2, 4]]);
  });

  it('fails all of a run where it fails, and none of the next', async () => {
    const key = {};
    const together = await Promise.allSettled([gather(key, 1), gather(key, 0)]);
    expect(together.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(await gather(key, 5)).toBe(10);
  });
});
