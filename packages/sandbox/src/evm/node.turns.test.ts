import { describe, expect, it } from 'vitest';
import { TooManyWaiting, Turns } from './node.ts';

describe('turns', () => {
  it('are taken one after another, in the order in which they were asked for', async () => {
    const turns = new Turns(10);
    const events: string[] = [];
    const work = (name: string) => async () => {
      events.push(`${name} starts`);
      await Promise.resolve();
      events.push(`${name} ends`);
      return name;
    };
    expect(await Promise.all([turns.take(work('first')), turns.take(work('second'))])).toEqual(['first', 'second']);
    expect(events).toEqual(['first starts', 'first ends', 'second starts', 'second ends']);
  });

  it('go on after one that failed', async () => {
    const turns = new Turns(10);
    const failing = turns.take(() => Promise.reject(new Error('broken')));
    const next = turns.take(async () => 'done');
    await expect(failing).rejects.toThrow('broken');
    expect(await next).toBe('done');
  });

  it('are refused while too many wait, and given again afterwards', async () => {
    const turns = new Turns(2);
    const first = turns.take(async () => 1);
    const second = turns.take(async () => 2);
    await expect(turns.take(async () => 3)).rejects.toBeInstanceOf(TooManyWaiting);
    await Promise.all([first, second]);
    expect(await turns.take(async () => 4)).toBe(4);
  });
});
