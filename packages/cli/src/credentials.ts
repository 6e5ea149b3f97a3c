import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { usage } from './failure.ts';

export interface GivenCredentials {
  readonly baseUrl?: string | undefined;
  readonly publicKey?: string | undefined;
  readonly secretKey?: string | undefined;
  readonly dataDir?: string | undefined;
}

export interface FoundCredentials {
  /** Ends in `/v1`. */
  readonly baseUrl: string;
  readonly publicKey: string | undefined;
  readonly secretKey: string | undefined;
  /** For people: flags and environment, or a file. */
  readonly source: string;
}

type Env = Readonly<Record<string, string | undefined>>;

const FILE = 'credentials.json';
const DATA_DIR = '.svc';

/**
 * From flags and environment together, or from the file of a local data folder. They are never mixed: a key of one
 * deployment must not be sent to another.
 */
export function findCredentials(given: GivenCredentials, env: Env, folder: string): FoundCredentials {
  const baseUrl = given.baseUrl ?? text(env.SVC_BASE_URL);
  const publicKey = given.publicKey ?? text(env.SVC_PUBLIC_KEY);
  const secretKey = given.secretKey ?? text(env.SVC_SECRET_KEY);
  if (baseUrl !== undefined) {
    return { baseUrl: toBaseUrl(baseUrl), publicKey, secretKey, source: 'flags and environment' };
  }
  if (publicKey !== undefined || secretKey !== undefined) {
    throw usage('Keys are given without an address. Set SVC_BASE_URL or --base-url to the service they belong to.');
  }
  const file = findFile(given.dataDir ?? text(env.SVC_DATA_DIR), folder);
  if (file === undefined) {
    throw usage(
      'There are no credentials. Start the service here with svc dev, or set SVC_BASE_URL, SVC_PUBLIC_KEY and SVC_SECRET_KEY.',
    );
  }
  return readFile(file);
}

/** The named folder, else the nearest `.svc` from this folder upwards. */
function findFile(dataDir: string | undefined, folder: string): string | undefined {
  if (dataDir !== undefined) {
    const file = path.resolve(folder, dataDir, FILE);
    if (existsSync(file)) return file;
    throw usage(`${file} does not exist. Start the service with this data folder first, or name another one.`);
  }
  for (let at = path.resolve(folder); ; at = path.dirname(at)) {
    const file = path.join(at, DATA_DIR, FILE);
    if (existsSync(file)) return file;
    if (path.dirname(at) === at) return undefined;
  }
}

function readFile(file: string): FoundCredentials {
  try {
    const { baseUrl, publicKey, secretKey } = JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>;
    if (typeof baseUrl === 'string' && typeof publicKey === 'string') {
      const secret = typeof secretKey === 'string' ? secretKey : undefined;
      return { baseUrl: toBaseUrl(baseUrl), publicKey, secretKey: secret, source: file };
    }
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  throw usage(`${file} has no credentials. Start the service once: it writes them.`);
}

/** `http://127.0.0.1:8080` is accepted as `http://127.0.0.1:8080/v1`. */
export function toBaseUrl(address: string): string {
  if (!URL.canParse(address)) throw usage(`${address} is not an address. Use one like https://svc.example/v1.`);
  const trimmed = address.replace(/\/+$/, '');
  return new URL(trimmed).pathname === '/' ? `${trimmed}/v1` : trimmed;
}

const text = (value: string | undefined): string | undefined => (value === '' ? undefined : value);
