import { type Bundle, type CairoModule, type SourceLine, sourceOf, testBundle } from './bundle.ts';
import { readable, runCompiler } from './compiler.ts';
import { relativePath } from './paths.ts';

/**
 * One program in four crashes the test runner, depending on code layout. A no-op test of this many instructions changes the
 * layout.
 */
const PADDINGS = [0, 40, 80, 120, 160, 200];
const CRASH = /broke down|Vector capacity exceeded/;

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
    if (!tests.problems.some((problem) => CRASH.test(problem))) break;
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
  return { name: 'padding', file: 'contracts/build/run-tests.ts (padding)', source };
}

export interface TestRun {
  readonly passed: number;
  readonly expected: number;
  /** Empty only if every expected test is known to have passed. */
  readonly problems: readonly string[];
  readonly seconds: number;
  readonly peakMb: number;
}

/** Some programs always crash the runner; the same tests in two programs do not. */
const CRASHED = 'The test runner itself broke down. Divide the tests of this slice into two files.';

/** Runs the tests whose path contains the filter. A missing result counts as a failure. */
export async function runTests(bundle: Bundle, filter = ''): Promise<TestRun> {
  const expected = expectedTests(bundle, filter);
  const { output, broken, reports, diagnostics, seconds, peakMb } = await runCompiler({
    kind: 'test',
    source: sourceOf(bundle),
    filter,
  });
  const report = broken ? undefined : parseReport(output, reports);
  const ran = { expected: expected.length, seconds, peakMb };
  if (report) return { ...ran, passed: report.passed, problems: problemsOf(report, expected) };
  const messages = broken ? [CRASHED] : readable(diagnostics, bundle);
  return { ...ran, passed: 0, problems: ['The tests did not run.', ...messages, output] };
}

export function problemsOf(report: TestReport, expected: readonly ExpectedTest[]): string[] {
  const problems = expected.flatMap((test) => problemOf(report, test));
  if (report.passed === expected.length && report.failed + report.ignored === 0) return problems;
  const { passed, failed, ignored } = report;
  return [`${expected.length} tests expected; ${passed} passed, ${failed} failed, ${ignored} ignored.`, ...problems];
}

/** Without a report only the totals are known. */
function problemOf({ outcomes, reasons }: TestReport, { path, line }: ExpectedTest): string[] {
  const outcome = outcomes.get(path);
  if (outcomes.size === 0 || outcome === 'ok') return [];
  const what = outcome === undefined ? 'did not run' : (reasons.get(path) ?? outcome);
  return [`${path} (${relativePath(line.file)}:${line.line})\n    ${what}`];
}

const TEST = /^\s*#\[test\]\s*$/;
const ATTRIBUTE = /^\s*(#\[|\/\/)/;
const FUNCTION = /^\s*fn (\w+)\s*\(/;

export interface ExpectedTest {
  /** Below the crate: `tests::sessions::end_at_the_second_that_they_name`. */
  readonly path: string;
  readonly line: SourceLine;
}

/** The tests in the source, to detect one that did not run. */
export function expectedTests(bundle: Bundle, filter = ''): ExpectedTest[] {
  return bundle
    .flatMap((line, index) => (TEST.test(line.text) ? [testAfter(bundle, index)] : []))
    .filter(({ path }) => path.includes(filter));
}

function testAfter(bundle: Bundle, index: number): ExpectedTest {
  const line = bundle.slice(index + 1).find(({ text }) => !ATTRIBUTE.test(text));
  const name = line && FUNCTION.exec(line.text)?.[1];
  if (!line || !name) throw new Error(`No function follows #[test] in ${bundle[index]?.file}:${bundle[index]?.line}.`);
  return { path: `${line.module}::${name}`, line };
}

export interface TestReport {
  readonly passed: number;
  readonly failed: number;
  readonly ignored: number;
  /** Empty if the report was not found in the compiler's memory. */
  readonly outcomes: ReadonlyMap<string, 'ok' | 'fail' | 'ignored'>;
  readonly reasons: ReadonlyMap<string, string>;
}

const SUMMARY = /test result: \w+\. (\d+) passed; (\d+) failed; (\d+) ignored/;
/** The compiler's crate name. */
const CRATE = 'astro::';
const OUTCOME = /^test (\S+) \.\.\. (ok|fail|ignored)\b/gm;
const REASON = /^ {3}(\S+) - ([\s\S]*?)(?=\n {3}\S+ - |\n\ntest result: )/gm;

/** Undefined without a summary. */
export function parseReport(output: string, reports: readonly string[]): TestReport | undefined {
  const summary = SUMMARY.exec(output);
  if (!summary) return undefined;
  const [passed = 0, failed = 0, ignored = 0] = summary.slice(1).map(Number);
  const complete = reports.find(
    (report) => SUMMARY.exec(report)?.[0] === summary[0] && count(report) === passed + failed + ignored,
  );
  return { passed, failed, ignored, outcomes: outcomesOf(complete ?? ''), reasons: reasonsOf(complete ?? '') };
}

function count(report: string): number {
  return [...report.matchAll(OUTCOME)].length;
}

function outcomesOf(report: string): TestReport['outcomes'] {
  return new Map([...report.matchAll(OUTCOME)].map(([, name = '', outcome]) => [below(name), outcome as 'ok']));
}

function reasonsOf(report: string): TestReport['reasons'] {
  const failures = report.slice(Math.max(0, report.indexOf('failures:\n')));
  return new Map([...failures.matchAll(REASON)].map(([, name = '', reason = '']) => [below(name), reason.trim()]));
}

function below(name: string): string {
  return name.startsWith(CRATE) ? name.slice(CRATE.length) : name;
}
