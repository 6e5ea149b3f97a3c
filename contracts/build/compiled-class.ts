import { readFileSync, writeFileSync } from 'node:fs';
import { hash } from 'starknet';
import { paths, relativePath } from './paths.ts';
import { repairProgram } from './sierra-program.ts';

export interface CompiledClass {
  /** The class as declared, without debug names, which are not part of the hash. */
  readonly json: string;
  readonly classHash: string;
}

export function compiledClass(written: string): CompiledClass {
  const { sierra_program_debug_info: _names, sierra_program, ...rest } = JSON.parse(written);
  // A 32-bit compiler encodes fallthrough branches differently from what nodes read.
  const declared = { sierra_program: repairProgram(sierra_program), ...rest };
  const classHash = BigInt(hash.computeContractClassHash(declared));
  return { json: `${JSON.stringify(declared)}\n`, classHash: `0x${classHash.toString(16).padStart(64, '0')}` };
}

function files({ json, classHash }: CompiledClass): [file: string, content: string][] {
  return [
    [paths.compiledClass, json],
    [paths.classHash, `${classHash}\n`],
  ];
}

export function readCompiled(): string {
  return readFileSync(paths.compiledClass, 'utf8');
}

export function writeCompiled(compiled: CompiledClass): void {
  for (const [file, content] of files(compiled)) writeFileSync(file, content);
}

/** Files that differ from what the source compiles to. */
export function staleFiles(compiled: CompiledClass): string[] {
  return files(compiled)
    .filter(([file, content]) => read(file) !== content)
    .map(([file]) => relativePath(file));
}

function read(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}
