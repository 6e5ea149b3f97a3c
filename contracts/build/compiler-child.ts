// One compiler run per process: WebAssembly never returns memory.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import start, { compileStarknetContract, runTests } from 'wasm-cairo';
import type { CompilerAnswer, CompilerTask } from './compiler.ts';
import { findDiagnostics, findReports } from './memory-texts.ts';

const WASM = fileURLToPath(import.meta.resolve('wasm-cairo/wasm-cairo_bg.wasm'));

function run(task: CompilerTask): string {
  // Allows warnings and keeps debug names; neither changes the class hash.
  if (task.kind === 'compile') return compileStarknetContract(task.source, true, true);
  const [includeIgnored, onlyIgnored, starknet, profiler, withoutGas, resources] = [
    false,
    false,
    true,
    '',
    false,
    false,
  ];
  const { source, filter } = task;
  return runTests(source, true, filter, includeIgnored, onlyIgnored, starknet, profiler, withoutGas, resources);
}

async function answer(task: CompilerTask): Promise<CompilerAnswer> {
  const { memory } = await start({ module_or_path: readFileSync(WASM) });
  const { output, broken } = attempt(() => run(task));
  const bytes = new Uint8Array(memory.buffer);
  return {
    output,
    broken,
    diagnostics: findDiagnostics(bytes),
    reports: task.kind === 'test' ? findReports(bytes) : [],
    peakMb: Math.round(process.resourceUsage().maxRSS / 1000),
  };
}

function attempt(body: () => string): { output: string; broken: boolean } {
  try {
    return { output: body(), broken: false };
  } catch (error) {
    return { output: error instanceof Error ? (error.stack ?? error.message) : String(error), broken: true };
  }
}

process.once('message', async (task: CompilerTask) => {
  const result = await answer(task);
  process.send?.(result, () => process.disconnect?.());
});
