import { spawn } from 'node:child_process';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { DoctorReport } from '@svc/protocol';

const MAIN = path.resolve(import.meta.dirname, '../../packages/server/src/main.ts');
const START_MS = 5 * 60_000;
/** A worker reads balances in its first minute. */
const BALANCES_MS = 3 * 60_000;
const POLL_MS = 500;

/** Starts the service with these settings on a free port, has it examine itself, and stops it. */
export async function examineService(env: Record<string, string>, operatorToken: string): Promise<DoctorReport> {
  const child = spawn(process.execPath, [MAIN], {
    env: { ...process.env, ...env, HOST: '127.0.0.1', PORT: '0', LOG_FORMAT: 'json', LOG_LEVEL: 'info' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      output = (output + chunk).slice(-50_000);
    });
  }
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const kill = () => child.kill('SIGKILL');
  process.once('exit', kill);
  try {
    const origin = await until(START_MS, async () => {
      if (child.exitCode !== null) throw new Error(`The service does not start:\n${output.slice(-3_000)}`);
      return /Server listening at (http:[^"\s]+)/.exec(output)?.[1];
    });
    const ask = async () => {
      const headers = { authorization: `Bearer ${operatorToken}` };
      const response = await fetch(`${origin}/v1/operator/doctor`, { headers });
      if (!response.ok) return undefined;
      return (await response.json()) as DoctorReport;
    };
    let last: DoctorReport | undefined;
    await until(BALANCES_MS, async () => {
      last = await ask();
      return last && !last.checks.some(({ found }) => found === 'unknown') ? true : undefined;
    }).catch(() => {});
    if (!last) throw new Error(`The service does not answer:\n${output.slice(-3_000)}`);
    return last;
  } finally {
    child.kill('SIGTERM');
    await exited;
    process.off('exit', kill);
  }
}

async function until<T>(limitMs: number, look: () => Promise<T | undefined>): Promise<T> {
  for (const end = Date.now() + limitMs; ; await pause(POLL_MS)) {
    const found = await look();
    if (found !== undefined) return found;
    if (Date.now() > end) throw new Error(`It took longer than ${limitMs / 1_000} seconds.`);
  }
}
