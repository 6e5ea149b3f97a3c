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
