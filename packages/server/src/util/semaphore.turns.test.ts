import { describe, expect, it } from 'vitest';
import { createSemaphore } from './semaphore.ts';

describe('turns', () => {
  it('let so many run at once and no more, in the order in which they came, also when one fails', async () => {
    const take = createSemaphore(2);
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
});
