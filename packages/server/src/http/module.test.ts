import { describe, expect, it } from 'vitest';
import { mergeJobs, mergeUnique } from './module.ts';

const job = async () => {};

describe('modules put together', () => {
  it('have every job of each', () => {
    const merged = mergeJobs([
      { handlers: { one: job }, recurring: [{ task: 'one', everySeconds: 1 }] },
      { handlers: { two: job }, recurring: [] },
    ]);
    expect(Object.keys(merged.handlers)).toEqual(['one', 'two']);
    expect(merged.recurring).toEqual([{ task: 'one', everySeconds: 1 }]);
  });

  it('stop the start when two have a job of the same name', () => {
    const twice = { handlers: { sweep: job }, recurring: [] };
    expect(() => mergeJobs([twice, twice])).toThrow('Two modules have the job sweep.');
  });

  it('stop the start when two plan the same recurring job', () => {
    const recurring = [{ task: 'sweep', everySeconds: 1 }];
    expect(() =>
      mergeJobs([
        { handlers: { sweep: job }, recurring },
        { handlers: {}, recurring },
      ]),
    ).toThrow('Two modules have the recurring job sweep.');
  });

  it('stop the start when two answer for the same relay outcome', () => {
    expect(() => mergeUnique('relay outcome', [{ payout: job }, { payout: job }])).toThrow(
      'Two modules have the relay outcome payout.',
    );
  });
});
