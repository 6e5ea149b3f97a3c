// Compiles the contract, compares what comes out with what is committed, and runs its tests.
//
//   npm run contracts                       all of it
//   npm run contracts -- --write            writes contracts/compiled in place of comparing
//   npm run contracts -- policies upgrade   of the tests only these slices
import { contractBundle } from './bundle.ts';
import { compile } from './compile.ts';
import { compiledClass, staleFiles, writeCompiled } from './compiled-class.ts';
import { runSlice } from './run-slice.ts';
import { allSlices, type Slice } from './slices.ts';

/** One process after another: two at once would need twice the memory. */
async function main(args: readonly string[]): Promise<void> {
  const slices = chosen(args.filter((arg) => !arg.startsWith('--')));
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
  if (args.includes('--write')) writeCompiled(compiled);
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
  if (failed) process.exitCode = 1;
}

function chosen(names: readonly string[]): Slice[] {
  const slices = allSlices();
  const unknown = names.filter((name) => !slices.some((slice) => slice.name === name));
  if (unknown.length > 0) throw new Error(`There is no slice named ${unknown.join(', ')}.`);
  return names.length === 0 ? slices : slices.filter(({ name }) => names.includes(name));
}

await main(process.argv.slice(2)).catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
});
