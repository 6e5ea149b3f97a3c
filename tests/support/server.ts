import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { HostOrder } from './service-host.ts';

const MAIN = path.resolve(import.meta.dirname, '../../packages/server/src/main.ts');
/** A start takes about a second; on a busy machine it took 25. */
const START_LIMIT_MS = 240_000;
const STOP_LIMIT_MS = 90_000;
const POLL_MS = 20;

export interface Credentials {
  readonly baseUrl: string;
  readonly publicKey: string;
  readonly secretKey: string;
  readonly organizationId: string;
  readonly rpcUrl: string;
}

export interface ServerAddress {
  /** Without a path. */
  readonly origin: string;
  readonly credentials: Credentials;
  /** Other test files use it at the same time. */
  readonly isShared?: boolean;
}

export interface RunningServer extends ServerAddress {
  readonly dataDir: string;
  readonly outputFile: string;
  output(): string;
  stop(): Promise<void>;
}

/** In a process of its own, which can be killed. */
export interface ServerProcess extends RunningServer {
  readonly process: ChildProcess;
  end(signal?: NodeJS.Signals): Promise<number | null>;
}

export interface ServerOptions {
  readonly env?: Record<string, string>;
  readonly dataDir?: string;
  /** Of another version. */
  readonly main?: string;
}

export async function startServer(options: ServerOptions = {}): Promise<ServerProcess> {
  const dataDir = options.dataDir ?? (await newDataDir());
  // A file, not a pipe: a test too busy to read a pipe would slow the server down.
  const outputFile = newOutputFile();
  const file = openSync(outputFile, 'w');
  const child = spawn(process.execPath, [options.main ?? MAIN], {
    env: { ...processEnv(), ...anyPort, SVC_DATA_DIR: dataDir, ...options.env },
    stdio: ['ignore', file, file],
  });
  closeSync(file);
  let lastOutput: string | undefined;
  const output = () => lastOutput ?? readFileSync(outputFile, 'utf8');
  const exited = new Promise<number | null>((resolve) => child.once('exit', resolve));
  await ready(child, output).catch((error: unknown) => {
    // The caller has no handle to end it with.
    child.kill('SIGKILL');
    throw error;
  });
  const credentials = await readCredentials(dataDir, output());
  const end = async (signal: NodeJS.Signals = 'SIGTERM') => {
    if (child.exitCode === null && child.signalCode === null) child.kill(signal);
    return within(exited, STOP_LIMIT_MS, () => `the server did not stop:\n${output()}`);
  };
  return {
    origin: new URL(credentials.baseUrl).origin,
    credentials,
    dataDir,
    outputFile,
    process: child,
    output,
    end,
    stop: async () => {
      await end();
      lastOutput ??= output();
      await rm(dataDir, { recursive: true, force: true });
      await rm(outputFile, { force: true });
    },
  };
}

const anyPort = { HOST: '127.0.0.1', PORT: '0' };

const newOutputFile = () => path.join(tmpdir(), `svc-output-${randomUUID()}.log`);

/** Beside others in a process that has loaded the code already: a start costs a quarter. */
export async function startHosted(hostsUrl: string, env: Record<string, string>): Promise<RunningServer> {
  const dataDir = await newDataDir();
  const outputFile = newOutputFile();
  const id = randomUUID();
  const order = async (body: HostOrder) => {
    const response = await fetch(hostsUrl, { method: 'POST', body: JSON.stringify(body) });
    if (!response.ok) throw new Error(await response.text());
  };
  await order({ id, start: { ...anyPort, SVC_DATA_DIR: dataDir, ...env }, outputFile });
  let lastOutput: string | undefined;
  const output = () => lastOutput ?? readFileSync(outputFile, 'utf8');
  const credentials = await readCredentials(dataDir, output());
  return {
    origin: new URL(credentials.baseUrl).origin,
    credentials,
    dataDir,
    outputFile,
    output,
    stop: async () => {
      if (lastOutput !== undefined) return;
      await order({ id, stop: true });
      lastOutput = output();
      await rm(dataDir, { recursive: true, force: true });
      await rm(outputFile, { force: true });
    },
  };
}

/** Nothing of the caller's environment, but for the path and the cache of compiled code. */
export function processEnv(): Record<string, string> {
  const { PATH = '', NODE_COMPILE_CACHE } = process.env;
  return { PATH, ...(NODE_COMPILE_CACHE && { NODE_COMPILE_CACHE }) };
}

/** Without the sandbox there is no credentials file; the address stands in the banner. */
async function readCredentials(dataDir: string, output: string): Promise<Credentials> {
  const text = await readFile(path.join(dataDir, 'credentials.json'), 'utf8').catch(() => undefined);
  if (text !== undefined) return JSON.parse(text) as Credentials;
  const baseUrl = (/Interface\s+(\S+)/.exec(output) ?? /health is at (\S+)\/readyz/.exec(output))?.[1];
  if (baseUrl === undefined) throw new Error(`the server did not say where it listens:\n${output}`);
  return { baseUrl, publicKey: '', secretKey: '', organizationId: '', rpcUrl: '' };
}

/** Readable for the database's user, so that as root, too, the database stays inside the folder. */
export async function newDataDir(): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'svc-test-'));
  await chmod(folder, 0o755);
  return folder;
}

async function ready(child: ChildProcess, output: () => string): Promise<void> {
  const deadline = Date.now() + START_LIMIT_MS;
  while (!output().includes('svc is ready')) {
    if (child.exitCode !== null || child.signalCode !== null) throw new Error(`the server did not start:\n${output()}`);
    if (Date.now() > deadline) throw new Error(`the server is not ready:\n${output()}`);
    await pause(POLL_MS);
  }
}

async function within<T>(promise: Promise<T>, limitMs: number, message: () => string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(message())), limitMs);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

const ERROR_LEVEL = 50;

export function logLines(output: string): Record<string, unknown>[] {
  return output.split('\n').flatMap((line) => {
    try {
      return line.startsWith('{') ? [JSON.parse(line) as Record<string, unknown>] : [];
    } catch {
      return [];
    }
  });
}

export function errorLines(output: string): Record<string, unknown>[] {
  return logLines(output).filter(({ level }) => typeof level === 'number' && level >= ERROR_LEVEL);
}

const run = promisify(execFile);

/** In megabytes. */
export async function rssOf(pid: number | undefined): Promise<number> {
  const { stdout } = await run('ps', ['-o', 'rss=', '-p', String(pid)]);
  return Number(stdout.trim()) / 1_024;
}
