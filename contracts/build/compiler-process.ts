import { fork } from 'node:child_process';
import path from 'node:path';
import type { CompilerAnswer, CompilerTask } from './compiler-messages.ts';

const CHILD = path.join(import.meta.dirname, 'compiler-child.ts');

export interface CompilerRun extends CompilerAnswer {
  readonly seconds: number;
}

/** Takes up to 3 GB, so callers run one at a time. */
export function runCompiler(task: CompilerTask): Promise<CompilerRun> {
  const started = performance.now();
  return new Promise((resolve, reject) => {
    const child = fork(CHILD, { stdio: ['ignore', 'ignore', 'pipe', 'ipc'], serialization: 'advanced' });
    let said = '';
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
    let answer: CompilerAnswer | undefined;
    child.once('message', (message) => {
      answer = message as CompilerAnswer;
    });
    child.once('error', reject);
    child.once('close', (code, signal) => {
      const seconds = (performance.now() - started) / 1000;
      if (!answer)
        return reject(new Error(`The compiler's process ended (${signal ?? code}) without an answer.\n${said}`));
      const output = answer.broken ? `${answer.output}\n${said}`.trimEnd() : answer.output;
      resolve({ ...answer, output, seconds });
    });
    child.send(task);
  });
}
