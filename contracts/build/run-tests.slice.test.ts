import { expect, it } from 'vitest';
import type { CairoModule } from './bundle.ts';
import type { TestRun } from './run-tests.ts';
import { runSlice } from './run-tests.ts';

const module = { name: 'some', file: 'some.cairo', source: '' };
const broken: TestRun = {
  passed: 0,
  expected: 2,
  problems: ['The test runner itself broke down.'],
  seconds: 5,
  peakMb: 9,
};

/** Returns the given results in order and records the modules. */
function runner(...answers: readonly TestRun[]) {
  const runs: string[][] = [];
  const left = [...answers];
  const run = async (modules: readonly CairoModule[]) => {
    runs.push(modules.map(({ name }) => name));
    return left.shift() ?? broken;
  };
  return { runs, run };
}

it('tests that run are run once, also when they fail', async () => {
  const failed = { passed: 1, expected: 2, problems: ['one failed'], seconds: 1, peakMb: 1 };
  const { runs, run } = runner(failed);
  expect(await runSlice([module], run)).toEqual(failed);
  expect(runs).toEqual([['some']]);
});

it('a runner that broke down is tried again with padding, which is not counted as a test', async () => {
  const { runs, run } = runner(broken, { passed: 3, expected: 3, problems: [], seconds: 7, peakMb: 4 });
  expect(await runSlice([module], run)).toEqual({ passed: 2, expected: 2, problems: [], seconds: 12, peakMb: 9 });
  expect(runs).toEqual([['some'], ['some', 'padding']]);
});

it('a runner that always breaks down is a failure', async () => {
  const { runs, run } = runner();
  expect((await runSlice([module], run)).problems).toEqual(broken.problems);
  expect(runs.length).toBeGreaterThan(3);
});
