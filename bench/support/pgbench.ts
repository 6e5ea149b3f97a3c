import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

export interface PgbenchOptions {
  readonly url: string;
  readonly script: string;
  readonly clients: number;
  readonly transactionsEach: number;
  readonly variables: Readonly<Record<string, number>>;
}

/** Transactions a second, by PostgreSQL's own client, which has to be on the path: statements prepared, connecting not counted. */
export async function pgbench(options: PgbenchOptions): Promise<number> {
  const { url, script, clients, transactionsEach, variables } = options;
  const folder = await mkdtemp(path.join(tmpdir(), 'svc-pgbench-'));
  const file = path.join(folder, 'script.sql');
  try {
    await writeFile(file, script);
    const jobs = Math.min(clients, availableParallelism());
    const defined = Object.entries(variables).map(([name, value]) => `--define=${name}=${value}`);
    const amount = [`--client=${clients}`, `--jobs=${jobs}`, `--transactions=${transactionsEach}`];
    const { stdout } = await run('pgbench', [
      '-n',
      '--protocol=prepared',
      `--file=${file}`,
      ...amount,
      ...defined,
      url,
    ]);
    const [, processed, expected] = /actually processed: (\d+)\/(\d+)/.exec(stdout) ?? [];
    const rate = Number(/^tps = ([\d.]+)/m.exec(stdout)?.[1]);
    if (processed === undefined || processed !== expected || !(rate > 0)) throw new Error(stdout);
    return rate;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
