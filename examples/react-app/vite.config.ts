import { readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import path from 'node:path';
import { defineConfig, type Plugin, type ViteDevServer } from 'vite';

const app = import.meta.dirname;
const { SVC_DATA_DIR = path.resolve(app, '../../.svc') } = process.env;

/** Written by `npm start` of svc. The page gets the address and the public key, never the secret key. */
function credentials(): { baseUrl: string; publicKey: string } {
  const text = readFileSync(path.join(SVC_DATA_DIR, 'credentials.json'), 'utf8');
  const { baseUrl, publicKey } = JSON.parse(text) as { baseUrl: string; publicKey: string };
  return { baseUrl, publicKey };
}

/** What your own backend does: it says where the service is, and gives the signed-in user a token. */
const serve = ({ middlewares }: Pick<ViteDevServer, 'middlewares'>) => {
  middlewares.use('/backend', (request, response) => void answer(request, response));
};
const backend: Plugin = { name: 'backend', configureServer: serve, configurePreviewServer: serve };

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const reply = (status: number, body: unknown) => {
    response.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' });
    response.end(JSON.stringify(body));
  };
  try {
    const { baseUrl, publicKey } = credentials();
    const { origin } = new URL(baseUrl);
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost');
    if (pathname === '/settings') return reply(200, { baseUrl, publicKey, faucetUrl: `${origin}/sandbox/faucet` });
    const name = searchParams.get('name') ?? '';
    if (pathname !== '/user-token' || !/^[A-Za-z0-9 ._-]{1,40}$/.test(name)) return reply(404, {});
    // The sandbox's identity provider accepts any name. Put your own sign-in here.
    const token = await fetch(`${origin}/sandbox/identity/token`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ sub: name, expiresInSeconds: 300 }),
    });
    reply(token.status, await token.json());
  } catch {
    reply(502, { error: 'The service does not answer. Is npm start running?' });
  }
}

export default defineConfig({
  plugins: [backend],
  preview: { host: 'localhost' },
  server: {
    // A name, because passkeys belong to a domain.
    host: 'localhost',
    // Never the service's keys, which are in .svc.
    fs: {
      allow: [app, path.resolve(app, '../../packages'), path.resolve(app, '../../node_modules')],
      deny: ['**/.svc/**', '.env', '.env.*', '*.{crt,pem,key,p12,pfx,cer,der}', '.npmrc', '**/.git/**'],
    },
  },
});
