import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

export type Lie = (text: string) => string;

export interface LyingProxy {
  readonly baseUrl: string;
  lie(pathEnd: string, lie: Lie): void;
  /** Stops altering and clears the records. */
  behave(): void;
  /** Paths of requests that contained a signature. */
  signed(): readonly string[];
  lied(): readonly string[];
  close(): Promise<void>;
}

/** Proxy of a compromised service: forwards everything and alters chosen answers. */
export async function openLyingProxy(origin: string): Promise<LyingProxy> {
  const lies = new Map<string, Lie>();
  const signed: string[] = [];
  const lied: string[] = [];

  const answer = async (request: IncomingMessage) => {
    const { url = '/', method = 'GET' } = request;
    const [path = ''] = url.split('?');
    const body = await bodyOf(request);
    if (/signature/i.test(body)) signed.push(path);
    const headers = Object.fromEntries(
      Object.entries(request.headers).filter(([name]) => !/^(host|connection|content-length)$/.test(name)),
    ) as Record<string, string>;
    const response = await fetch(origin + url, { method, headers, ...(body !== '' && { body }) });
    const text = await response.text();
    const [, lie] = [...lies].find(([pathEnd]) => path.endsWith(pathEnd)) ?? [];
    if (!lie || !response.ok) return { status: response.status, text };
    lied.push(path);
    return { status: response.status, text: lie(text) };
  };
  const server = createServer((request, response) => {
    answer(request)
      .then(({ status, text }) => response.writeHead(status, { 'content-type': 'application/json' }).end(text))
      .catch((error: unknown) => response.writeHead(502).end(String(error)));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    lie: (pathEnd, lie) => void lies.set(pathEnd, lie),
    behave: () => {
      lies.clear();
      signed.length = 0;
      lied.length = 0;
    },
    signed: () => [...signed],
    lied: () => [...lied],
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}
