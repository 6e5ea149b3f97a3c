import path from 'node:path';
import { sandbox } from '@svc/sandbox';
import { EmbeddedPostgresError } from '@svc/store';
import { PagesError } from '@svc/web/pages';
import { WrongTokenError } from './chains/networks.ts';
import { WrongChainError } from './chains/node-fetch.ts';
import { readConfig } from './config.ts';
import { ConfigError } from './env-reader.ts';
import type { Development } from './organizations/development.ts';
import { startService } from './service.ts';
import { CatalogueError } from './skus/catalogue.ts';

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

async function main(): Promise<void> {
  const startedAt = performance.now();
  const config = readConfig(process.env);
  const stopped = untilSignal();
  const service = await startService(config, config.sandbox ? sandbox : undefined);
  const startedInMs = performance.now() - startedAt;
  process.stdout.write(banner({ ...service, startedInMs, credentialsFile: shown(service.credentialsFile) }));
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
  if (code === 'EADDRINUSE') return 'The port is in use already. Set PORT to another one, or stop what listens there.';
  if (code === 'EACCES' && !listening) {
    return `The data folder cannot be written (${error instanceof Error ? error.message : code}). Set SVC_DATA_DIR to another one.`;
  }
  if (code === 'EACCES') return 'Listening on this port is not allowed. Set PORT to one above 1023.';
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

main().then(
  () => process.exit(0),
  (error: unknown) => {
    process.stderr.write(`svc did not start.\n${explain(error)}\n`);
    process.exit(1);
  },
);

export interface BannerFacts {
  readonly role: 'all' | 'api' | 'worker';
  readonly publicUrl: string;
  readonly startedInMs: number;
  readonly database: string;
  readonly development: Development | undefined;
  readonly signInUrl: string | undefined;
  readonly credentialsFile: string;
}

export function banner(facts: BannerFacts): string {
  const { publicUrl, development } = facts;
  if (facts.role === 'worker') return `\nsvc is ready to run jobs; its health is at ${publicUrl}/readyz\n`;
  const rows: [string, string][] = [
    ['Interface', `${publicUrl}/v1`],
    ['Reference', `${publicUrl}/docs`],
    ['Dashboard', facts.signInUrl === undefined ? `${publicUrl}/dashboard` : `${facts.signInUrl} (once, 15 minutes)`],
    ...(development ? [['Starknet', `${publicUrl}/sandbox/starknet/rpc`] as [string, string]] : []),
    ['Database', facts.database],
    ...keyRows(facts),
  ];
  const table = rows.map(([name, value]) => `  ${name.padEnd(12)}${value}`).join('\n');
  const blocks = [`svc is ready (${(facts.startedInMs / 1000).toFixed(1)} s)`, table];
  if (development?.secretKey !== undefined)
    blocks.push(firstCall(publicUrl, development.publicKey, development.secretKey));
  return `\n${blocks.join('\n\n')}\n`;
}

function keyRows({ development, credentialsFile }: BannerFacts): [string, string][] {
  if (!development) return [['Keys', 'none for development; `npm run admin` makes organisations and keys']];
  const { publicKey, secretKey } = development;
  if (secretKey === undefined) {
    return [
      ['Public key', publicKey],
      ['Secret key', 'shown at the first start; `npm run admin` makes another, or set SVC_DEV_SECRET_KEY'],
    ];
  }
  return [
    ['Public key', publicKey],
    ['Secret key', secretKey],
    ['Kept in', credentialsFile],
  ];
}

function firstCall(publicUrl: string, publicKey: string, secretKey: string): string {
  return [
    '  Try it:',
    '',
    `  curl '${publicUrl}/v1/skus?category=RECARGAS&limit=3' \\`,
    `    -H 'x-api-key: ${publicKey}' \\`,
    `    -H 'Authorization: Bearer ${secretKey}'`,
  ].join('\n');
}
