import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Request {
  readonly method: string;
  readonly params: unknown;
}

export interface FaultyNode {
  readonly url: string;
  readonly requests: Request[];
  stop(): Promise<void>;
}

export type Behaviour = (request: Request, response: ServerResponse, body: string) => void | Promise<void>;

export const behave = {
  result: (result: unknown): Behaviour => send(200, { jsonrpc: '2.0', id: 1, result }),
  error: (code: number, message: string, data?: unknown): Behaviour =>
    send(200, { jsonrpc: '2.0', id: 1, error: { code, message, ...(data !== undefined && { data }) } }),
  status: (status: number): Behaviour => send(status, 'no'),
  text: (text: string): Behaviour => send(200, text),
  hang: (() => undefined) as Behaviour,
  hangUp: ((_request, response) => void response.destroy()) as Behaviour,
  /** Forwards the request and closes the connection without an answer. */
  loseAnswer: (url: string): Behaviour => {
    return async (_request, response, body) => {
      await (await forward(url, body)).text();
      response.destroy();
    };
  },
  pass: (url: string): Behaviour => {
    return async (_request, response, body) => {
      const answer = await forward(url, body);
      response.writeHead(answer.status, { 'content-type': 'application/json' }).end(await answer.text());
    };
  },
};

function forward(url: string, body: string): Promise<Response> {
  return fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
}

function send(status: number, body: unknown): Behaviour {
  return (_request, response) => {
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  };
}

/** Of the sandbox and of BASE: nodes of other chains are refused. */
const chainIds: Readonly<Record<string, string>> = {
  starknet_chainId: '0x5356435f53414e44424f58',
  eth_chainId: '0x2105',
};

/** A node that answers as `behaviour` says, but for its chain id. */
export async function startFaultyNode(
  behaviour: Behaviour,
  { chainId }: { chainId?: string } = {},
): Promise<FaultyNode> {
  const requests: Request[] = [];
  const server = createServer(async (incoming, response) => {
    const body = await bodyOf(incoming);
    const request = JSON.parse(body) as Request;
    const own = chainIds[request.method];
    if (own !== undefined) return behave.result(chainId ?? own)(request, response, body);
    requests.push({ method: request.method, params: request.params });
    await behaviour(request, response, body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const stop = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return { url: `http://127.0.0.1:${port}/secret-key`, requests, stop };
}

export async function deadUrl(): Promise<string> {
  const node = await startFaultyNode(behave.hang);
  await node.stop();
  return node.url;
}

async function bodyOf(incoming: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}
