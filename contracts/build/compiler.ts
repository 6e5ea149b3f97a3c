import { fork } from 'node:child_process';
import path from 'node:path';
import { type Bundle, sourceOf } from './bundle.ts';
import { relativePath } from './paths.ts';

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

const PLACE = /^ --> lib\.cairo:(\d+):(\d+)/m;

/** Replaces positions in the bundle by the original file and line. */
export function readable(diagnostics: readonly string[], bundle: Bundle): string[] {
  return diagnostics.map((text) =>
    text.replace(PLACE, (whole, line: string, column: string) => {
      const at = bundle[Number(line) - 1];
      return at ? ` --> ${relativePath(at.file)}:${at.line}:${column}` : whole;
    }),
  );
}

export type CompilerTask =
  | { readonly kind: 'compile'; readonly source: string }
  | { readonly kind: 'test'; readonly source: string; readonly filter: string };

export interface CompilerAnswer {
  /** The compiler's result, or its error. */
  readonly output: string;
  readonly broken: boolean;
  /** Found in the compiler's memory: WebAssembly has no stream to write them to. */
  readonly diagnostics: readonly string[];
  readonly reports: readonly string[];
  readonly peakMb: number;
}

const CHILD = path.join(import.meta.dirname, 'compiler-child.ts');

export interface CompilerRun extends CompilerAnswer {
  readonly seconds: number;
}

/** Takes up to 3 GB, so callers run one at a time. */
export function runCompiler(task: CompilerTask): Promise<CompilerRun> {
  const started = performance.now();
  return new Promise((resolve, reject) => {
    const child = fork(CHILD, { stdio: ['ignore', 'ignore', 'pipe', 'ipc'], serialization: 'advanced' });
    let stderr = '';
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      stderr += text;
    });
    let answer: CompilerAnswer | undefined;
    child.once('message', (message) => {
      answer = message as CompilerAnswer;
    });
    child.once('error', reject);
    child.once('close', (code, signal) => {
      const seconds = (performance.now() - started) / 1000;
      if (!answer)
        return reject(new Error(`The compiler's process ended (${signal ?? code}) without an answer.\n${stderr}`));
      const output = answer.broken ? `${answer.output}\n${stderr}`.trimEnd() : answer.output;
      resolve({ ...answer, output, seconds });
    });
    child.send(task);
  });
}
