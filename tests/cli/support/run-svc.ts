import { type ChildProcess, execFile, fork } from 'node:child_process';
import path from 'node:path';
import type { ServerAddress } from '../../support/server.ts';
import { processEnv } from '../../support/server.ts';
import type { SvcAnswer, SvcOrder } from './svc-host.ts';

const MAIN = path.resolve(import.meta.dirname, '../../../packages/cli/src/main.ts');
const HOST = path.resolve(import.meta.dirname, 'svc-host.ts');
/** A command of the tests ends by itself. */
const LIMIT_MS = 60_000;

export type Ran = Pick<SvcAnswer, 'code' | 'stdout' | 'stderr'>;

export interface RunOptions {
  readonly env: Record<string, string>;
  readonly cwd?: string;
}

export const svcEnv = ({ credentials }: ServerAddress): Record<string, string> => ({
  ...processEnv(),
  SVC_BASE_URL: credentials.baseUrl,
  SVC_PUBLIC_KEY: credentials.publicKey,
  SVC_SECRET_KEY: credentials.secretKey,
});

/** Runs the command as a process, as a user would. */
export function startSvc(words: readonly string[], options: RunOptions & { readonly main?: string }): Promise<Ran> {
  const { env, cwd, main = MAIN } = options;
  return new Promise((resolve) => {
    execFile(process.execPath, [main, ...words], { env, cwd, timeout: LIMIT_MS }, (error, stdout, stderr) => {
      resolve({ code: error ? Number(error.code ?? -1) : 0, stdout, stderr });
    });
  });
}

let host: ChildProcess | undefined;
let orders = 0;

/** Runs the command beside others in one process, after those that were ordered before. */
export function runSvc(words: readonly string[], { env, cwd = process.cwd() }: RunOptions): Promise<Ran> {
  host ??= startHost();
  const used = host;
  const id = orders++;
  return new Promise((resolve, reject) => {
    const end = (answer?: SvcAnswer) => {
      if (answer && answer.id !== id) return;
      used.off('message', end).off('exit', lost);
      if (answer) resolve(answer);
    };
    const lost = () => {
      end();
      host = undefined;
      reject(new Error('The process that runs commands for tests has ended.'));
    };
    used.on('message', end).once('exit', lost);
    used.send({ id, words, env, cwd } satisfies SvcOrder);
  });
}

/** Ends with the worker, which does not wait for it. */
function startHost(): ChildProcess {
  const child = fork(HOST, { env: processEnv(), stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  child.unref();
  child.channel?.unref();
  return child;
}
