import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Account } from './account.ts';

const OUTPUT_LIMIT_BYTES = 1_000_000;
// Without PG* variables, which change the programs, and without the service's secrets.
const PASSED_ON = ['PATH', 'LD_LIBRARY_PATH', 'DYLD_LIBRARY_PATH', 'TMPDIR', 'TEMP', 'TMP', 'SystemRoot'];

export function environment(): NodeJS.ProcessEnv {
  const kept = PASSED_ON.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]]));
  return { ...Object.fromEntries(kept), LC_ALL: 'C', TZ: 'UTC' };
}

export function identity(account: Account | undefined): { uid?: number; gid?: number } {
  return account ? { uid: account.uid, gid: account.gid } : {};
}

export async function run(
  file: string,
  args: readonly string[],
  options: { account: Account | undefined; cwd: string; timeoutMs: number },
): Promise<string> {
  const { stdout } = await promisify(execFile)(file, args, {
    ...identity(options.account),
    cwd: options.cwd,
    env: environment(),
    timeout: options.timeoutMs,
    maxBuffer: OUTPUT_LIMIT_BYTES,
  });
  return stdout;
}
