import { type Bundle, sourceOf } from './bundle.ts';
import { type CompilerRun, runCompiler } from './compiler-process.ts';
import { readable } from './diagnostics.ts';

export interface Compiled {
  /** Compiler output: JSON with `sierra_program`, `entry_points_by_type`, `abi`. */
  readonly json: string;
  readonly warnings: readonly string[];
  readonly run: CompilerRun;
}

/** Throws with the compiler's messages, at their original positions. */
export async function compile(bundle: Bundle): Promise<Compiled> {
  const run = await runCompiler({ kind: 'compile', source: sourceOf(bundle) });
  const diagnostics = readable(run.diagnostics, bundle);
  if (run.broken || !run.output.startsWith('{')) throw new CompileError(diagnostics, run.output);
  return { json: run.output, warnings: diagnostics, run };
}

export class CompileError extends Error {
  constructor(diagnostics: readonly string[], output: string) {
    // Diagnostics may be lost in the compiler's memory.
    super(`The contract does not compile.\n${diagnostics.length > 0 ? diagnostics.join('\n\n') : output}`);
  }
}
