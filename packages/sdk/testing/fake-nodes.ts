import { type Client, createClient, type Fetch, type Runtime } from '../src/client/client.ts';

export interface Asked {
  readonly url: string;
  readonly method: string;
  readonly params: Record<string, unknown>;
}

/** What a node says: a result, an error, or anything else that HTTP can bring. */
export type Said = { readonly result: unknown } | { readonly error: unknown } | Response | Error;

export interface FakeNodes {
  readonly fetch: Fetch;
  readonly asked: Asked[];
}

/** Nodes that answer as a function says. */
export function fakeNodes(answer: (asked: Asked) => Said | Promise<Said>): FakeNodes {
  const asked: Asked[] = [];
  const fetch: Fetch = async (url, init) => {
    const { method, params } = JSON.parse(String(init?.body)) as Omit<Asked, 'url'>;
    asked.push({ url, method, params });
    const said = await answer({ url, method, params });
    if (said instanceof Error) throw said;
    if (said instanceof Response) return said;
    return Response.json({ jsonrpc: '2.0', id: 1, ...said });
  };
  return { fetch, asked };
}

/** A clock that stands still but for sleeping. */
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

export function fakeClient(fetch: Fetch, nodeUrl: readonly string[] = ['https://one.example/key']): Client {
  const options = { baseUrl: 'https://svc.example/v1', publicKey: 'pk_dev_1', nodeUrl, fetch };
  return createClient(options, fakeRuntime());
}
