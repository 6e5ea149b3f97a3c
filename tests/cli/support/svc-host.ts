import { run } from '../../../packages/cli/src/run.ts';

/** Runs commands one after the other in a process that has loaded the code: a start takes most of a command's time. */
export interface SvcOrder {
  readonly id: number;
  readonly words: readonly string[];
  readonly env: Record<string, string>;
  readonly cwd: string;
}
export interface SvcAnswer {
  readonly id: number;
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

async function ran({ id, words, env, cwd }: SvcOrder): Promise<SvcAnswer> {
  const written = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    process[name].write = (text: string | Uint8Array) => {
      written[name] += typeof text === 'string' ? text : Buffer.from(text).toString();
      return true;
    };
  }
  process.env = env;
  process.chdir(cwd);
  return { id, code: await run(words), ...written };
}

let last: Promise<unknown> = Promise.resolve();
process.on('disconnect', () => process.exit(0));
process.on('message', (order: SvcOrder) => {
  last = last.then(async () => process.send?.(await ran(order)));
});
