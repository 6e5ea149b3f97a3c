import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { invalidParams, methodNotFound, type RpcFailure, Snip29Error } from './snip29-errors.ts';
import { type Snip29Options, Snip29Paymaster } from './snip29-paymaster.ts';

type Method = 'paymaster_buildTransaction' | 'paymaster_executeTransaction';

/** What goes wrong with the next call of a method. */
export interface Fault {
  readonly method: Method;
  /** Nothing is done: an HTTP status, a made-up result, a JSON-RPC error, or a closed connection is the answer. */
  readonly instead?: { readonly status: number } | { readonly result: object } | RpcFailure | 'hang up';
  /** It is done, and the answer is another one. */
  readonly alter?: (result: never) => unknown;
  /** It is done, and the answer is that it was not. */
  readonly deny?: RpcFailure;
  /** It is done, and the connection closes without an answer. */
  readonly loseAnswer?: true;
  /** The answer comes when this is fulfilled. */
  readonly after?: Promise<void>;
}

export interface Snip29Server {
  readonly url: string;
  /** The methods that were called, in order. */
  readonly calls: string[];
  /** Faults of one method happen in their order, once each. */
  order(fault: Fault): void;
  stop(): Promise<void>;
}

/** A SNIP-29 paymaster behind HTTP that pays with an account of the sandbox, and misbehaves to order. */
export async function startSnip29(options: Snip29Options): Promise<Snip29Server> {
  const paymaster = new Snip29Paymaster(options);
  const calls: string[] = [];
  const faults: Fault[] = [];
  const takeFault = (method: string): Fault | undefined => {
    const index = faults.findIndex((fault) => fault.method === method);
    return index < 0 ? undefined : faults.splice(index, 1)[0];
  };
  const server = createServer(async (incoming, response) => {
    const { id, method, params } = JSON.parse(await bodyOf(incoming)) as { id: number; method: string; params: never };
    calls.push(method);
    const fault = takeFault(method);
    const { instead } = fault ?? {};
    if (instead === 'hang up') return void response.destroy();
    if (instead && 'status' in instead) return void response.writeHead(instead.status).end('no');
    const key = incoming.headers['x-paymaster-api-key'];
    const answer = instead ? madeUp(instead) : await serve(paymaster, method, params, key?.toString());
    await fault?.after;
    if (fault?.loseAnswer) return void response.destroy();
    send(response, { jsonrpc: '2.0', id, ...altered(answer, fault) });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const stop = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/`, calls, order: (fault) => faults.push(fault), stop };
}

type RpcResult = { readonly result: unknown } | { readonly error: RpcFailure };

const madeUp = (instead: RpcFailure | { result: object }): RpcResult =>
  'result' in instead ? instead : { error: instead };

function altered(answer: RpcResult, fault: Fault | undefined): RpcResult {
  if (fault?.deny) return { error: fault.deny };
  return fault?.alter && 'result' in answer ? { result: fault.alter(answer.result as never) } : answer;
}

async function serve(paymaster: Snip29Paymaster, method: string, params: never, key?: string): Promise<RpcResult> {
  try {
    if (method === 'paymaster_isAvailable') return { result: true };
    if (method === 'paymaster_getSupportedTokens') return { result: paymaster.supportedTokens() };
    if (method === 'paymaster_buildTransaction') return { result: await paymaster.build(params, key) };
    if (method === 'paymaster_executeTransaction') return { result: await paymaster.execute(params, key) };
    return { error: methodNotFound };
  } catch (error) {
    if (error instanceof Snip29Error) return { error: error.failure };
    if (error instanceof TypeError || error instanceof SyntaxError) return { error: invalidParams };
    throw error;
  }
}

function send(response: ServerResponse, body: unknown): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

async function bodyOf(incoming: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}
