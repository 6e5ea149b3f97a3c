import { describe, expect, it } from 'vitest';
import { createSemaphore, QueueFullError } from './semaphore.ts';

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
