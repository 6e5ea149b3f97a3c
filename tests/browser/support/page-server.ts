import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What stands at a path: its type and its text. */
export interface Asset {
  readonly type: string;
  readonly text: string;
}

export interface PageServer {
  /** `http://localhost:…`: a name, because passkeys belong to a domain, and a place that browsers count as secure. */
  readonly origin: string;
  stop(): Promise<void>;
}

/** As strict as a page with this library can be: nothing from elsewhere, nothing inline, and WebAssembly for Argon2id. */
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
