import { describe, expect, it } from 'vitest';
import { QueueFullError, SerialQueue } from './node.ts';

describe('queue', () => {
  it('are taken one after another, in the order in which they were asked for', async () => {
    const queue = new SerialQueue(10);
    const events: string[] = [];
    const work = (name: string) => async () => {
      events.push(`${name} starts`);
      await Promise.resolve();
      events.push(`${name} ends`);
      return name;
    };
    expect(await Promise.all([queue.run(work('first')), queue.run(work('second'))])).toEqual(['first', 'second']);
    expect(events).toEqual(['first starts', 'first ends', 'second starts', 'second ends']);
  });

  it('go on after one that failed', async () => {
    const queue = new SerialQueue(10);
    const failing = queue.run(() => Promise.reject(new Error('broken')));
    const next = queue.run(async () => 'done');
    await expect(failing).rejects.toThrow('broken');
    expect(await next).toBe('done');
  });

  it('are refused while too many wait, and given again afterwards', async () => {
    const queue = new SerialQueue(2);
    const first = queue.run(async () => 1);
    const second = queue.run(async () => 2);
    await expect(queue.run(async () => 3)).rejects.toBeInstanceOf(QueueFullError);
    await Promise.all([first, second]);
    expect(await queue.run(async () => 4)).toBe(4);
  });
});
