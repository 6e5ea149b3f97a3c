import { rmSync } from 'node:fs';
import { mkdtemp, realpath } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createServer } from 'vite';

/** Written by `npm start` to `.svc/credentials.json`. */
export interface Credentials {
  readonly baseUrl: string;
  readonly publicKey: string;
}

export interface ExampleOptions {
  /** Default: the next free port from 5173. */
  readonly port?: number;
  /** Reloads on file changes. Default: true. */
  readonly watch?: boolean;
}

export interface ExampleServer {
  readonly url: string;
  stop(): Promise<void>;
}

const PORT = 5173;
/** The same pattern as the page's field. */
const NAME = /^[A-Za-z0-9 ._-]{1,40}$/;
/** A body contains a name only. */
const MAX_BODY_CHARACTERS = 1_000;
const TOKEN_SECONDS = 300;

const app = path.resolve(import.meta.dirname, '..');
const repository = path.resolve(app, '../..');
/** By default Vite serves the whole repository, including the service's keys. */
const SERVED = [app, path.join(repository, 'packages'), path.join(repository, 'node_modules')];
/** Never served: the service's data folder, and Vite's own defaults. */
const WITHHELD = [
  '**/.svc/**',
  '.env',
  '.env.*',
  '*.{crt,pem,key,p12,pfx,cer,der}',
  '.npmrc',
  '.yarnrc.yml',
  '**/.git/**',
];

/** Serves the page and its backend: the service's address, and the user's token. */
export async function startExample(credentials: Credentials, options: ExampleOptions = {}): Promise<ExampleServer> {
  const { port = PORT, watch = true } = options;
  // Not in node_modules, where files would stay behind.
  const cacheDir = await realpath(await mkdtemp(path.join(tmpdir(), 'svc-example-')));
  const removeCache = () => rmSync(cacheDir, { recursive: true, force: true });
  // Vite ends the process on its own signal handler and may write to the cache after closing.
  process.once('exit', removeCache);
  const server = await createServer({
    configFile: false,
    root: app,
    cacheDir,
    logLevel: 'warn',
    // One page: every other path is 404.
    appType: 'mpa',
    optimizeDeps: { include: ['hash-wasm', '@scure/starknet'] },
    server: {
      // A name, because passkeys belong to a domain.
      host: 'localhost',
      port,
      fs: { allow: [...SERVED, cacheDir], deny: WITHHELD },
      ...(watch ? {} : { watch: null, hmr: false }),
    },
    plugins: [
      {
        name: 'backend',
        configureServer: ({ middlewares }) => {
          middlewares.use('/backend', (request, response) => void answer(credentials, request, response));
        },
      },
    ],
  });
  await server.listen();
  return {
    url: server.resolvedUrls?.local[0] ?? '',
    stop: async () => {
      await server.close();
      removeCache();
    },
  };
}

async function answer(credentials: Credentials, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { baseUrl, publicKey } = credentials;
  const { origin } = new URL(baseUrl);
  const reply = (status: number, body: unknown) => {
    response.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' });
    response.end(JSON.stringify(body));
  };
  try {
    if (request.url === '/settings') return reply(200, { baseUrl, publicKey, faucetUrl: `${origin}/sandbox/faucet` });
    if (request.url !== '/user-token') return reply(404, {});
    const { name } = JSON.parse(await read(request)) as { name?: unknown };
    if (typeof name !== 'string' || !NAME.test(name)) return reply(400, {});
    // A real app gets it from its identity provider for the signed-in user. The sandbox accepts any name.
    const token = await fetch(`${origin}/sandbox/identity/token`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ sub: name, expiresInSeconds: TOKEN_SECONDS }),
    });
    reply(token.status, await token.json());
  } catch {
    reply(502, {});
  }
}

async function read(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const part of request.setEncoding('utf8')) {
    text += part;
    if (text.length > MAX_BODY_CHARACTERS) throw new Error('The body is too long.');
  }
  return text;
}
