import { selector, toHex } from '@svc/starknet';
import { describe, expect, it } from 'vitest';
import { fakeNodes, type NodeAnswer, nodeClient } from '../../testing/fake-nodes.ts';
import { wasRevoked } from './on-chain-session.ts';

const event = { from_address: '0x1', keys: [], data: [] };
const page = (events: object[], continuation_token?: string): NodeAnswer => ({
  result: { events, continuation_token },
});
const ask = (fetch: ReturnType<typeof fakeNodes>['fetch'], urls?: string[]) =>
  wasRevoked(nodeClient(fetch, urls ?? ['https://one.example/rpc']), 0x1n, 0x2n);

describe('a session key that the wallet does not know', () => {
  it('was revoked when the wallet has an event of it', async () => {
    const { fetch, requests } = fakeNodes(() => page([event]));
    expect(await ask(fetch)).toBe(true);
    const keys = [[toHex(selector('SessionKeyRevoked'))], ['0x2']];
    expect(requests).toMatchObject([{ method: 'starknet_getEvents', params: { filter: { address: '0x1', keys } } }]);
  });

  it('was revoked when the event is on a later page of the same node', async () => {
    const { fetch, requests } = fakeNodes(({ params }) => {
      const { continuation_token } = params.filter as { continuation_token?: string };
      return continuation_token === 'b' ? page([event]) : page([], continuation_token === undefined ? 'a' : 'b');
    });
    expect(await ask(fetch)).toBe(true);
    expect(requests).toHaveLength(3);
  });

  it('was not revoked if there is no event', async () => {
    expect(await ask(fakeNodes(() => page([])).fetch)).toBe(false);
  });

  it('is searched for in a bounded number of pages', async () => {
    const { fetch, requests } = fakeNodes(() => page([], 'again'));
    expect(await ask(fetch)).toBe(false);
    expect(requests).toHaveLength(10);
  });

  it('is searched for up to the latest block where the node lacks the pre-confirmed one', async () => {
    const { fetch } = fakeNodes(({ params }) => {
      const { to_block } = params.filter as { to_block: string };
      return to_block === 'latest' ? page([event]) : { error: { code: -32602, message: 'Invalid params' } };
    });
    expect(await ask(fetch)).toBe(true);
  });

  it('counts as never registered if no node answers', async () => {
    const { fetch } = fakeNodes(() => new Response('', { status: 503 }));
    expect(await ask(fetch)).toBe(false);
  });
});
