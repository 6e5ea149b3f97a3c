import { type Client, createClient, type Fetch, type Runtime } from '../src/client/client.ts';

export interface NodeRequest {
  readonly url: string;
  readonly method: string;
  readonly params: Record<string, unknown>;
}

export type NodeAnswer = { readonly result: unknown } | { readonly error: unknown } | Response | Error;

export interface FakeNodes {
  readonly fetch: Fetch;
  readonly requests: NodeRequest[];
}

export function fakeNodes(answer: (request: NodeRequest) => NodeAnswer | Promise<NodeAnswer>): FakeNodes {
  const requests: NodeRequest[] = [];
  const fetch: Fetch = async (url, init) => {
    const { method, params } = JSON.parse(String(init?.body)) as Omit<NodeRequest, 'url'>;
    requests.push({ url, method, params });
    const reply = await answer({ url, method, params });
    if (reply instanceof Error) throw reply;
    if (reply instanceof Response) return reply;
    return Response.json({ jsonrpc: '2.0', id: 1, ...reply });
  };
  return { fetch, requests };
}

/** A clock that only `sleep` moves. */
export function fakeRuntime(): Runtime & { readonly sleeps: number[] } {
  let now = 1_700_000_000_000;
  const sleeps: number[] = [];
  return {
    sleeps,
    now: () => now,
    sleep: async (ms, signal) => {
      signal?.throwIfAborted();
      sleeps.push(ms);
      now += ms;
    },
    randomBytes: (count) => crypto.getRandomValues(new Uint8Array(count)),
  };
}

export function nodeClient(fetch: Fetch, nodeUrl: readonly string[] = ['https://one.example/key']): Client {
  const options = { baseUrl: 'https://svc.example/v1', publicKey: 'pk_dev_1', nodeUrl, fetch };
  return createClient(options, fakeRuntime());
}
