import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Asset {
  readonly type: string;
  readonly text: string;
}

export interface PageServer {
  /** `http://localhost:…`: a name, because passkeys belong to a domain, and a secure context for browsers. */
  readonly origin: string;
  stop(): Promise<void>;
}

/** The strictest policy that works with the library: no foreign and no inline scripts, WebAssembly for Argon2id. */
const POLICY = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; connect-src http:";

export async function servePages(assets: ReadonlyMap<string, Asset>): Promise<PageServer> {
  const server = createServer((request, response) => {
    const asset = assets.get(new URL(request.url ?? '/', 'http://localhost').pathname);
    response.writeHead(asset ? 200 : 404, {
      'content-type': asset?.type ?? 'text/plain',
      'content-security-policy': POLICY,
      'cache-control': 'no-store',
    });
    response.end(asset?.text ?? '');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://localhost:${port}`,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
