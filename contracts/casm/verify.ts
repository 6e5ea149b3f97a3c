import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { type CompiledSierraCasm, hash } from 'starknet';

const run = promisify(execFile);
const COMPILED = path.resolve(import.meta.dirname, '../compiled');
const LIMIT_MS = 600_000;
/** Of the words of a compiler that failed. */
const MAX_WORDS = 500;

/** The hashes of the compiled form depend on the compiler's release. */
export interface CasmRecord {
  readonly compiler: string;
  readonly classes: Readonly<Record<string, string>>;
}

export async function readCasmRecord(): Promise<CasmRecord> {
  return JSON.parse(await readFile(path.join(COMPILED, 'casm.json'), 'utf8')) as CasmRecord;
}

/**
 * Compiles the committed classes to CASM, as a network does when they are declared: a class that does not compile
 * cannot be used anywhere. With the recorded release the hashes are compared as well. Answers a line for each class.
 */
export async function verifyCasm(
  compiler = process.env.SIERRA_COMPILE_BIN || 'starknet-sierra-compile',
): Promise<string[]> {
  const record = await readCasmRecord();
  const version = await versionOf(compiler, record.compiler);
  const folder = await mkdtemp(path.join(tmpdir(), 'svc-casm-'));
  try {
    const lines: string[] = [];
    for (const [file, expected] of Object.entries(record.classes)) {
      const casm = await compileClass(compiler, path.join(COMPILED, file), path.join(folder, file));
      const found = hash.computeCompiledClassHashBlake(casm);
      if (version !== record.compiler) {
        lines.push(`${file} compiles to CASM with ${version}: ${found} (${record.compiler} is recorded: ${expected})`);
        continue;
      }
      if (BigInt(found) !== BigInt(expected)) {
        throw new Error(`${file} compiles to ${found}, and contracts/compiled/casm.json has ${expected}.`);
      }
      lines.push(`${file} compiles to CASM with ${version}: ${found}, as recorded`);
    }
    return lines;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function versionOf(compiler: string, recorded: string): Promise<string> {
  try {
    const { stdout } = await run(compiler, ['--version'], { timeout: LIMIT_MS });
    return stdout.trim().split(' ').at(-1) ?? '';
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    throw new Error(
      `There is no ${compiler}. Install it with "cargo install starknet-sierra-compile --version ${recorded} --locked", and set SIERRA_COMPILE_BIN if it is not on the PATH.`,
    );
  }
}

async function compileClass(compiler: string, from: string, to: string): Promise<CompiledSierraCasm> {
  try {
    await run(compiler, [from, to], { timeout: LIMIT_MS });
  } catch (error) {
    const { stderr = '' } = error as { stderr?: string };
    throw new Error(`${path.basename(from)} does not compile to CASM: ${stderr.trim().slice(0, MAX_WORDS) || error}`);
  }
  return JSON.parse(await readFile(to, 'utf8')) as CompiledSierraCasm;
}
