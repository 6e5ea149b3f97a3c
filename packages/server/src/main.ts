import path from 'node:path';
import { sandbox } from '@svc/sandbox';
import { EmbeddedPostgresError } from '@svc/store';
import { PagesError } from '@svc/web/pages';
import { WrongTokenError } from './chains/networks.ts';
import { WrongChainError } from './chains/node-fetch.ts';
import { readConfig } from './config.ts';
import { ConfigError } from './env-reader.ts';
import { banner, isTerminal } from './log.ts';
import { startService } from './service.ts';
import { CatalogueError } from './skus/skus.ts';

/** A signal arrives twice, from the terminal and from npm. A later one means: stop at once. */
const FORCE_AFTER_MS = 2_000;
/** Longer than any request takes. Jobs that still run then are repeated after the next start. */
const SHUTDOWN_LIMIT_MS = 60_000;

/** Codes of Node and PostgreSQL: no server, no such host, wrong password, no such database. */
const UNREACHABLE = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ETIMEDOUT',
  'ECONNRESET',
  '28P01',
  '28000',
  '3D000',
]);

/** Errors whose message says what to do. */
const PLAIN = [ConfigError, CatalogueError, EmbeddedPostgresError, WrongChainError, WrongTokenError, PagesError];

const HELP = `svc: wallets, payments and gift codes on Starknet, in one service of your own.

  npm start                   the service with an embedded database and a sandbox, on http://127.0.0.1:8080
  PORT=8081 npm start         on another port
  npm start -- --help         this text

Settings are environment variables, all optional:

  PORT, HOST                  where it listens (8080, 127.0.0.1)
  SVC_DATA_DIR                its folder: database and development keys (.svc)
  DATABASE_URL                a PostgreSQL of your own in place of the embedded one
  PUBLIC_URL                  the address that users see, behind a proxy
  STARKNET_NETWORK            mainnet, sepolia or a network file, with the settings that it needs
  LOG_LEVEL, LOG_FORMAT       info; text on a terminal, json otherwise

All of them: docs/operations.md. What to do next: README.md.
`;

async function main(): Promise<void> {
  const [argument] = process.argv.slice(2);
  if (argument === '--help' || argument === '-h') {
    process.stdout.write(HELP);
    return;
  }
  if (argument !== undefined)
    throw new ConfigError(`${argument} is not known. Settings are environment variables: npm start -- --help`);
  const startedAt = performance.now();
  const config = readConfig(process.env);
  const stopped = untilSignal();
  const service = await startService(config, config.sandbox ? sandbox : undefined);
  const startedInMs = performance.now() - startedAt;
  const credentialsFile = shown(service.credentialsFile);
  service.print(banner({ ...service, startedInMs, credentialsFile, isTerminal: isTerminal() }));
  await stopped;
  setTimeout(() => process.exit(1), SHUTDOWN_LIMIT_MS).unref();
  await service.stop();
}

function untilSignal(): Promise<void> {
  return new Promise((resolve) => {
    let first: number | undefined;
    const stop = () => {
      const now = performance.now();
      if (first !== undefined && now - first > FORCE_AFTER_MS) process.exit(1);
      first ??= now;
      resolve();
    };
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, stop);
  });
}

const shown = (file: string) => path.relative(process.cwd(), file);

/** One sentence for what the operator can fix; a stack for anything else. */
function explain(error: unknown): string {
  if (PLAIN.some((kind) => error instanceof kind)) return (error as Error).message;
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  const listening = error instanceof Error && 'syscall' in error && error.syscall === 'listen';
  const host = process.env.HOST ?? '127.0.0.1';
  if (code === 'EADDRNOTAVAIL' || (error instanceof Error && 'hostname' in error && error.hostname === host)) {
    return `This machine has no address ${host} to listen on. Set HOST to one of its own, or to 0.0.0.0 for all.`;
  }
  if (typeof code === 'string' && UNREACHABLE.has(code)) {
    return `The database cannot be reached (${code}). Check DATABASE_URL, and that the PostgreSQL it names runs.`;
  }
  if (code === 'EADDRINUSE') {
    const port = error instanceof Error && 'port' in error ? error.port : process.env.PORT;
    return `port ${port} is in use already. Set PORT to another one, such as PORT=${Number(port) + 1}, or stop what listens there.`;
  }
  if (code === 'EACCES' && !listening) {
    return `The data folder cannot be written (${error instanceof Error ? error.message : code}). Set SVC_DATA_DIR to another one.`;
  }
  if (code === 'EACCES') return 'Listening on this port is not allowed. Set PORT to one above 1023.';
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

main().then(
  () => process.exit(0),
  (error: unknown) => {
    process.stderr.write(`svc did not start: ${explain(error)}\n`);
    process.exit(1);
  },
);
