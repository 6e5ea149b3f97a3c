import { rmSync } from 'node:fs';
import { mkdtemp, realpath } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createServer } from 'vite';

/** What `npm start` leaves in `.svc/credentials.json`. */
export interface Credentials {
  readonly baseUrl: string;
  readonly publicKey: string;
}

export interface ExampleOptions {
  /** Default: the next free one from 5173 on. */
  readonly port?: number;
  /** Whether the page follows changes of its files. Default: yes. */
  readonly watch?: boolean;
}

export interface ExampleServer {
  readonly url: string;
  stop(): Promise<void>;
}

const PORT = 5173;
/** A name as the page's own field allows it. */
const NAME = /^[A-Za-z0-9 ._-]{1,40}$/;
/** A body here is a name. */
const MAX_BODY_CHARACTERS = 1_000;
const TOKEN_SECONDS = 300;

const app = path.resolve(import.meta.dirname, '..');
const repository = path.resolve(app, '../..');
/** What the page is made of. Left to itself, Vite hands out the whole repository, and with it the folder where the service keeps its keys. */
const SERVED = [app, path.join(repository, 'packages'), path.join(repository, 'node_modules')];
/** Never served, wherever it lies: the service's data folder with its keys, and what Vite itself withholds unless it is told otherwise. */
const WITHHELD = [
  '**/.svc/**',
  '.env',
  '.env.*',
  '*.{crt,pem,key,p12,pfx,cer,der}',
  '.npmrc',
  '.yarnrc.yml',
  '**/.git/**',
];

/** The page, and the little that an app's own backend does for it: say where the service is, and give the user a token. */
export async function startExample(credentials: Credentials, options: ExampleOptions = {}): Promise<ExampleServer> {
  const { port = PORT, watch = true } = options;
  // Not in node_modules: nothing is to be left there.
  const cacheDir = await realpath(await mkdtemp(path.join(tmpdir(), 'svc-example-')));
  const removeCache = () => rmSync(cacheDir, { recursive: true, force: true });
  // Vite ends the process by itself when it is told to stop, and may still write to the cache after it was closed.
  process.once('exit', removeCache);
  const server = await createServer({
    configFile: false,
    root: app,
    cacheDir,
    logLevel: 'warn',
    // One page: any other address is not found.
    appType: 'mpa',
    optimizeDeps: { include: ['hash-wasm', '@scure/starknet'] },
    server: {
      // A name, not an address: passkeys belong to a domain.
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
    // A real app asks its own identity provider, for the user who has signed in there. The sandbox believes any name.
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
