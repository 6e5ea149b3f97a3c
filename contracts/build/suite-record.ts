import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { contractBundle, sourceOf, testBundle } from './bundle.ts';
import type { CompiledClass } from './compiled-class.ts';
import { paths, relativePath } from './paths.ts';
import type { Slice } from './slices.ts';

/** A text that can change the suite's result. */
export interface SuiteInput {
  readonly name: string;
  readonly text: string;
}

/** The Cairo programs, the compiler's version, and the code that runs it. */
export function suiteInputs(slices: readonly Slice[]): SuiteInput[] {
  return [
    { name: 'wasm-cairo', text: compilerVersion() },
    { name: 'contract', text: sourceOf(contractBundle()) },
    ...slices.map(({ name, modules }) => ({ name: `slice ${name}`, text: sourceOf(testBundle(modules)) })),
    ...buildFiles().map((file) => ({ name: relativePath(file), text: readFileSync(file, 'utf8') })),
  ];
}

/** Includes the committed class, so a manual change triggers a new run. */
export function digestOf(inputs: readonly SuiteInput[], { json, classHash }: CompiledClass): string {
  const hash = createHash('sha256');
  for (const { name, text } of [{ name: classHash, text: json }, ...inputs]) {
    hash.update(`${name}\0${text.length}\0${text}\0`);
  }
  return hash.digest('hex');
}

export type SuitePlan = { readonly run: true; readonly reason: string } | { readonly run: false };

/** Named slices always run; `--if-changed` skips inputs that passed before. */
export function planSuite(args: readonly string[], recorded: string | undefined, current: string): SuitePlan {
  const names = args.filter((arg) => !arg.startsWith('--'));
  if (names.length > 0) return { run: true, reason: `named: ${names.join(', ')}` };
  if (!args.includes('--if-changed')) return { run: true, reason: 'asked for' };
  if (recorded === undefined) return { run: true, reason: 'no run is recorded' };
  return recorded === current ? { run: false } : { run: true, reason: 'sources changed since the recorded run' };
}

export function readRecord(file: string = paths.record): string | undefined {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

export function writeRecord(digest: string, file: string = paths.record): void {
  writeFileSync(file, `${digest}\n`);
}

function compilerVersion(): string {
  const { version } = createRequire(import.meta.url)('wasm-cairo/package.json') as { version: string };
  return version;
}

function buildFiles(): string[] {
  const names = readdirSync(import.meta.dirname).filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'));
  return names.sort().map((name) => path.join(import.meta.dirname, name));
}
