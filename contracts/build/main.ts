// Compiles the contract, compares the result with the committed class, and runs the Cairo tests.
//
//   npm run contracts                       everything; records the sources that passed
//   npm run contracts -- --if-changed       verifies the committed class hash; the rest only if the sources changed
//   npm run contracts -- --write            writes contracts/compiled instead of comparing
//   npm run contracts -- policies upgrade   only these slices of the tests
import { contractBundle } from './bundle.ts';
import { type CompiledClass, compiledClass, readCompiled, staleFiles, writeCompiled } from './compiled-class.ts';
import { compile } from './compiler.ts';
import { paths, relativePath } from './paths.ts';
import { runSlice } from './run-tests.ts';
import { allSlices, type Slice } from './slices.ts';
import { digestOf, planSuite, readRecord, suiteInputs, writeRecord } from './suite-record.ts';

async function main(args: readonly string[]): Promise<void> {
  const slices = allSlices();
  const chosen = choose(
    slices,
    args.filter((arg) => !arg.startsWith('--')),
  );
  const inputs = suiteInputs(slices);
  if (!args.includes('--write')) {
    const committed = verifyCommitted();
    const plan = planSuite(args, readRecord(), digestOf(inputs, committed));
    const next = plan.run ? `running the suite (${plan.reason})` : 'sources as in the recorded run, suite skipped';
    console.log(`committed class hash ${committed.classHash} verified; ${next}`);
    if (!plan.run) return;
  }

  const { passed, compiled } = await runSuite(chosen, args.includes('--write'));
  if (!passed) {
    process.exitCode = 1;
  } else if (chosen.length === slices.length) {
    writeRecord(digestOf(inputs, compiled));
    console.log(`recorded in ${relativePath(paths.record)}; commit it with the sources`);
  }
}

function verifyCommitted(): CompiledClass {
  const committed = compiledClass(readCompiled());
  const [stale] = staleFiles(committed);
  if (stale) throw new Error(`${stale} does not fit the committed class. Run: npm run contracts -- --write`);
  return committed;
}

interface SuiteResult {
  readonly passed: boolean;
  readonly compiled: CompiledClass;
}

/** One compiler process at a time, to bound memory. */
async function runSuite(slices: readonly Slice[], write: boolean): Promise<SuiteResult> {
  const totals = { seconds: 0, peakMb: 0, passed: 0, failed: false };
  const count = (run: { seconds: number; peakMb: number }) => {
    totals.seconds += run.seconds;
    totals.peakMb = Math.max(totals.peakMb, run.peakMb);
    return `${run.seconds.toFixed(0)} s, ${run.peakMb} MB`;
  };

  const { json, warnings, run } = await compile(contractBundle());
  const compiled = compiledClass(json);
  console.log(`compiled: class hash ${compiled.classHash} (${count(run)})`);
  for (const warning of warnings) console.log(warning);
  if (write) writeCompiled(compiled);
  for (const file of staleFiles(compiled)) {
    totals.failed = true;
    console.error(`${file} is not what contracts/src compiles to. Run: npm run contracts -- --write`);
  }

  for (const { name, modules } of slices) {
    const tests = await runSlice(modules);
    totals.passed += tests.passed;
    console.log(`${name}: ${tests.passed} of ${tests.expected} tests passed (${count(tests)})`);
    for (const problem of tests.problems) console.error(`  ${problem}`);
    if (tests.problems.length > 0) totals.failed = true;
  }
  const { passed, seconds, peakMb, failed } = totals;
  console.log(`${passed} tests passed in ${slices.length} slices; ${seconds.toFixed(0)} s, at most ${peakMb} MB`);
  return { passed: !failed, compiled };
}

function choose(slices: readonly Slice[], names: readonly string[]): readonly Slice[] {
  const unknown = names.filter((name) => !slices.some((slice) => slice.name === name));
  if (unknown.length > 0) throw new Error(`There is no slice named ${unknown.join(', ')}.`);
  return names.length === 0 ? slices : slices.filter(({ name }) => names.includes(name));
}

await main(process.argv.slice(2)).catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
});
