// Compiles the treasury's contract, compares it with the committed class, runs its scenarios and plants bugs in it.
//
//   npm run contracts:treasury                    everything; records the sources that passed
//   npm run contracts:treasury -- --if-changed    verifies the committed class; the rest only if the sources changed
//   npm run contracts:treasury -- --write         writes contracts/compiled instead of comparing
//   npm run contracts:treasury -- treasury_1      only these slices
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { sourceOf } from '../../build/bundle.ts';
import { type CompiledClass, compiledClass } from '../../build/compiled-class.ts';
import { compile } from '../../build/compiler.ts';
import { relativePath } from '../../build/paths.ts';
import { runSlice, runTests } from '../../build/run-tests.ts';
import { planSuite, readRecord, writeRecord } from '../../build/suite-record.ts';
import { treasurySlices } from '../cairo/slices.ts';
import { treasuryScenarios } from '../scenarios/all.ts';
import { contractBundle, paths, testBundle } from './bundle.ts';
import { planted, plantedBundle } from './planted.ts';

async function main(args: readonly string[]): Promise<void> {
  const names = args.filter((arg) => !arg.startsWith('--'));
  const all = treasurySlices(treasuryScenarios);
  const slices = names.length === 0 ? all : all.filter(({ name }) => names.includes(name));
  if (args.includes('--write')) {
    const written = await compileNow();
    for (const [file, content] of filesOf(written)) writeFileSync(file, content);
  } else {
    const plan = planSuite(args, readRecord(paths.record), digest());
    if (!plan.run) {
      requireCommitted(compiledClass(readFileSync(paths.compiledClass, 'utf8')));
      return console.log('treasury: sources as in the recorded run, suite skipped');
    }
    console.log(`treasury: running the suite (${plan.reason})`);
    requireCommitted(await compileNow());
  }
  const problems: string[] = [];
  for (const { name, modules } of slices) {
    const tests = await runSlice(modules, (some) => runTests(testBundle(some)));
    console.log(
      `${name}: ${tests.passed} of ${tests.expected} passed (${tests.seconds.toFixed(0)} s, ${tests.peakMb} MB)`,
    );
    problems.push(...tests.problems);
  }
  if (names.length === 0) problems.push(...(await plantBugs()));
  for (const problem of problems) console.error(`  ${problem}`);
  if (problems.length > 0) process.exitCode = 1;
  else if (names.length === 0) writeRecord(digest(), paths.record);
}

async function compileNow(): Promise<CompiledClass> {
  const { json, warnings } = await compile(contractBundle());
  for (const warning of warnings) console.log(warning);
  const compiled = compiledClass(json);
  console.log(`compiled: class hash ${compiled.classHash}`);
  return compiled;
}

/** Every planted bug must fail its scenario. */
async function plantBugs(): Promise<string[]> {
  const survived: string[] = [];
  for (const bug of planted) {
    const scenario = treasuryScenarios.find(({ name }) => name === bug.caughtBy);
    if (!scenario) throw new Error(`There is no scenario named ${bug.caughtBy}.`);
    const [slice] = treasurySlices([scenario]);
    const tests = await runSlice(slice?.modules ?? [], (some) => runTests(plantedBundle(some, bug)));
    const caught = tests.passed === 0 && tests.problems.some((problem) => /1 failed/.test(problem));
    console.log(`${caught ? 'caught' : 'SURVIVED'}: ${bug.name}`);
    if (!caught) survived.push(`The planted bug was not caught: ${bug.name}. ${tests.problems.join(' ')}`);
  }
  return survived;
}

function filesOf({ json, classHash }: CompiledClass): [file: string, content: string][] {
  return [
    [paths.compiledClass, json],
    [paths.classHash, `${classHash}\n`],
  ];
}

function requireCommitted(compiled: CompiledClass): void {
  for (const [file, content] of filesOf(compiled)) {
    if (readFileSync(file, 'utf8') === content) continue;
    throw new Error(
      `${relativePath(file)} is not what the sources compile to. Run: npm run contracts:treasury -- --write`,
    );
  }
}

/** Everything that can change the suite's result, the committed class included. */
function digest(): string {
  const hash = createHash('sha256');
  const { version } = createRequire(import.meta.url)('wasm-cairo/package.json') as { version: string };
  const texts = [
    version,
    readFileSync(paths.compiledClass, 'utf8'),
    readFileSync(paths.classHash, 'utf8'),
    sourceOf(contractBundle()),
    ...treasurySlices(treasuryScenarios).map(({ modules }) => sourceOf(testBundle(modules))),
    JSON.stringify(planted),
    ...[path.resolve(import.meta.dirname, '../../build'), import.meta.dirname].flatMap(sourcesIn),
  ];
  for (const text of texts) hash.update(`${text.length}\0${text}\0`);
  return hash.digest('hex');
}

function sourcesIn(folder: string): string[] {
  const names = readdirSync(folder).filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'));
  return names.sort().map((name) => readFileSync(path.join(folder, name), 'utf8'));
}

await main(process.argv.slice(2)).catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
});
