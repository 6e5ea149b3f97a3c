import { execFile } from 'node:child_process';
import path from 'node:path';
import type { ServerAddress } from '../../support/server.ts';
import { processEnv } from '../../support/server.ts';

const MAIN = path.resolve(import.meta.dirname, '../../../packages/cli/src/main.ts');
/** A command of the tests ends by itself. */
const LIMIT_MS = 60_000;

export interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export const svcEnv = ({ credentials }: ServerAddress): Record<string, string> => ({
  ...processEnv(),
  SVC_BASE_URL: credentials.baseUrl,
  SVC_PUBLIC_KEY: credentials.publicKey,
  SVC_SECRET_KEY: credentials.secretKey,
});

/** Runs the command as a process, as a user would. */
export function runSvc(
  words: readonly string[],
  options: { readonly env: Record<string, string>; readonly cwd?: string; readonly main?: string },
): Promise<Ran> {
  const { env, cwd, main = MAIN } = options;
  return new Promise((resolve) => {
    execFile(process.execPath, [main, ...words], { env, cwd, timeout: LIMIT_MS }, (error, stdout, stderr) => {
      resolve({ code: error ? Number(error.code ?? -1) : 0, stdout, stderr });
    });
  });
}
