import { type CairoModule, testBundle } from './bundle.ts';
import { runTests, type TestRun } from './run-tests.ts';

/**
 * One program in four crashes the test runner, depending on code layout. A no-op test of this many instructions changes the
 * layout.
 */
const PADDINGS = [0, 40, 80, 120, 160, 200];
const BROKEN = /broke down|Vector capacity exceeded/;

export type Run = (modules: readonly CairoModule[]) => Promise<TestRun>;

/** Retries with padding if the runner, not a test, failed. */
export async function runSlice(
  modules: readonly CairoModule[],
  run: Run = (all) => runTests(testBundle(all)),
): Promise<TestRun> {
  let result: TestRun | undefined;
  for (const size of PADDINGS) {
    const tests = await run(size === 0 ? modules : [...modules, padding(size)]);
    result = withoutPadding(tests, size, result);
    if (!tests.problems.some((problem) => BROKEN.test(problem))) break;
  }
  if (!result) throw new Error('There is no padding to begin with.');
  return result;
}

/** Time and memory include the failed attempts. */
function withoutPadding(tests: TestRun, size: number, before: TestRun | undefined): TestRun {
  const extra = size === 0 ? 0 : 1;
  return {
    ...tests,
    expected: tests.expected - extra,
    passed: Math.max(0, tests.passed - extra),
    seconds: tests.seconds + (before?.seconds ?? 0),
    peakMb: Math.max(tests.peakMb, before?.peakMb ?? 0),
  };
}

export function padding(size: number): CairoModule {
  const lines = Array.from({ length: size }, (_, index) => `    assert(five != ${1_000 + index}, ${index});`);
  const source = `#[inline(never)]
fn five() -> felt252 {
    5
}

#[test]
fn pads() {
    let five = five();
${lines.join('\n')}
}`;
  return { name: 'padding', file: 'contracts/build/run-slice.ts (padding)', source };
}
