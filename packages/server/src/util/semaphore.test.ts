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
