import { describe, expect, it } from 'vitest';
import { inlineModules } from './bundle.ts';
import { expectedTests, parseReport, problemsOf } from './run-tests.ts';

const source = `#[test]
fn one() {}
#[test]
// A word.
#[should_panic(expected: ('no',))]
fn two() {}
fn not_a_test() {}
`;
const bundle = inlineModules({ name: 'mine', file: 'tests/mine.cairo', source }, 'tests::mine');
const expected = expectedTests(bundle);

const PASSED = 'test result: ok. 2 passed; 0 failed; 0 ignored';
const FAILED = 'test result: FAILED. 1 passed; 1 failed; 0 ignored';
const line = (name: string, outcome: string) => `test astro::tests::mine::${name} ... ${outcome} (gas usage est.: 1)\n`;
const failures = "failures:\n   astro::tests::mine::two - Panicked with 0x61 ('a').\n\n";
const report = (...parts: readonly string[]) => parts.join('');

function problems(output: string, ...reports: readonly string[]): string[] {
  const parsed = parseReport(output, reports);
  if (!parsed) throw new Error('no summary');
  return problemsOf(parsed, expected);
}

describe('tests', () => {
  it('are expected as the source names them', () => {
    expect(expected.map(({ path }) => path)).toEqual(['tests::mine::one', 'tests::mine::two']);
    expect(expectedTests(bundle, 'two').map(({ path }) => path)).toEqual(['tests::mine::two']);
    const broken = inlineModules({ name: '', file: 'x', source: '#[test]\nstruct A {}' }, '');
    expect(() => expectedTests(broken)).toThrow('No function follows #[test]');
  });

  it('have passed when each of them has', () => {
    expect(problems(PASSED, report(line('one', 'ok'), line('two', 'ok'), PASSED))).toEqual([]);
  });

  it('have failed with the words of their panic and the place of the test', () => {
    const lines = report(line('one', 'ok'), line('two', 'fail'), failures, FAILED);
    expect(problems(FAILED, lines)).toEqual([
      '2 tests expected; 1 passed, 1 failed, 0 ignored.',
      "tests::mine::two (tests/mine.cairo:6)\n    Panicked with 0x61 ('a').",
    ]);
  });

  it('are reported when they did not run, even if the summary counts them', () => {
    const fewer = 'test result: ok. 1 passed; 0 failed; 0 ignored';
    expect(problems(fewer, report(line('one', 'ok'), fewer))).toEqual([
      '2 tests expected; 1 passed, 0 failed, 0 ignored.',
      'tests::mine::two (tests/mine.cairo:6)\n    did not run',
    ]);
    const others = report(line('one', 'ok'), line('three', 'ok'), PASSED);
    expect(problems(PASSED, others)).toEqual(['tests::mine::two (tests/mine.cairo:6)\n    did not run']);
  });

  it('are not taken for passed when they are ignored', () => {
    const ignored = 'test result: ok. 1 passed; 0 failed; 1 ignored';
    expect(problems(ignored, report(line('one', 'ok'), line('two', 'ignored'), ignored))).toHaveLength(2);
  });

  it('are counted when their report was lost', () => {
    expect(problems(PASSED)).toEqual([]);
    expect(problems(FAILED)).toEqual(['2 tests expected; 1 passed, 1 failed, 0 ignored.']);
    expect(parseReport('Compilation failed.', [])).toBeUndefined();
  });
});
