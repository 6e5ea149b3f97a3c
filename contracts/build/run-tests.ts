import { type Bundle, sourceOf } from './bundle.ts';
import { runCompiler } from './compiler-process.ts';
import { readable } from './diagnostics.ts';
import { type ExpectedTest, expectedTests } from './expected-tests.ts';
import { shown } from './places.ts';
import { parseReport, type TestReport } from './test-report.ts';

export interface TestRun {
  readonly passed: number;
  readonly expected: number;
  /** Empty only if every expected test is known to have passed. */
  readonly problems: readonly string[];
  readonly seconds: number;
  readonly peakMb: number;
}

/** Some programs always crash the runner; the same tests in two programs do not. */
const BROKEN = 'The test runner itself broke down. Divide the tests of this slice into two files.';

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
  const messages = broken ? [BROKEN] : readable(diagnostics, bundle);
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
  return [`${path} (${shown(line.file)}:${line.line})\n    ${what}`];
}
