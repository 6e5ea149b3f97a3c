import { afterEach, describe, expect, it } from 'vitest';
import { type Behaviour, behave, deadUrl, type FaultyNode, startFaultyNode } from '../../testing/faulty-node.ts';
import { ChainUnavailableError, NodeFailure, nodeFetch, WrongChainError } from './node-fetch.ts';
import { Nodes } from './nodes.ts';

/** Nodes that hang never answer; the others do, as late as a busy machine lets them. */
const limitMs = (url: string) => (hanging.has(url) ? 200 : 60_000);
const hanging = new Set<string>();
const running: FaultyNode[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((node) => node.stop()));
});

async function node(behaviour: Behaviour): Promise<FaultyNode> {
  const started = await startFaultyNode(behaviour);
  running.push(started);
  if (behaviour === behave.hang) hanging.add(started.url);
  return started;
}

const ask = async (url: string, fetchNode = nodeFetch(limitMs(url))): Promise<unknown> => {
  const response = await fetchNode(url, { method: 'POST', body: JSON.stringify({ method: 'question' }) });
  return response.json();
};

class Refused extends Error {}
/** Asks the node itself for its chain. */
const asked = async (client: Client) => BigInt(String(await client()));

type Client = () => Promise<unknown>;
interface Options {
  readonly now?: () => number;
  readonly chainIdOf?: (client: Client) => Promise<bigint>;
}

/** Chain 7, and every node says so unless the test asks it. */
function nodesAt(urls: readonly string[], options: Options = {}): Nodes<Client> {
  const connect = (url: string) => async () => {
    const answer = (await ask(url)) as { error?: unknown; result?: unknown };
    if (answer.error) throw new Refused();
    return answer.result;
  };
  const isAnswer = (error: unknown) => error instanceof Refused;
  return new Nodes({ chain: 'BASE', urls, connect, chainId: 7n, chainIdOf: async () => 7n, isAnswer, ...options });
}

const failures: readonly [string, Behaviour, boolean][] = [
  ['hangs', behave.hang, true],
  ['hangs up', behave.hangUp, true],
  ['answers HTTP 500', behave.status(500), true],
  ['answers HTTP 503', behave.status(503), true],
  ['answers HTTP 429', behave.status(429), false],
  ['answers HTTP 403', behave.status(403), false],
  ['answers with a page', behave.text('<html>welcome</html>'), true],
  ['answers with JSON of another kind', behave.text('{"message":"hello"}'), true],
  ['answers with half a body', behave.text('{"jsonrpc":"2.0","result":'), true],
  ['is broken inside', behave.error(-32603, 'Internal error'), true],
  ['is over its limit', behave.error(-32005, 'limit exceeded'), true],
  ['has no quota left', behave.error(-32000, 'daily request count exceeded'), true],
  ['passes on a status of HTTP', behave.error(429, 'Too Many Requests'), true],
  ['answers an error without a code', behave.text('{"jsonrpc":"2.0","error":"busy"}'), true],
];

describe('one try at a node', () => {
  it.each(failures)('that %s is a failure that names the host alone', async (_, behaviour, unclear) => {
    const { url } = await node(behaviour);
    const error = await ask(url).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(NodeFailure);
    expect(error).toMatchObject({ unclear });
    expect(String(error)).toContain(new URL(url).host);
    expect(String(error)).not.toContain('secret-key');
  });

  it('that is down is a failure after which nothing can have happened', async () => {
    const error = await ask(await deadUrl()).catch((caught: unknown) => caught);
    expect(error).toMatchObject({ name: 'NodeFailure', unclear: false });
  });

  it('that redirects is a failure: the request goes nowhere else', async () => {
    const other = await node(behave.result(1));
    const { url } = await node((_request, response) => void response.writeHead(307, { location: other.url }).end());
    await expect(ask(url)).rejects.toThrow(NodeFailure);
    expect(other.requests).toEqual([]);
  });

  it('that answers with an error about the chain has answered', async () => {
    const { url } = await node(behave.error(20, 'Contract not found'));
    expect(await ask(url)).toMatchObject({ error: { code: 20 } });
  });
});

describe('several nodes', () => {
  it.each(failures)('are asked in turn when the first %s', async (_, behaviour) => {
    const [first, second] = [await node(behaviour), await node(behave.result('yes'))];
    expect(await nodesAt([first.url, second.url]).read(({ client }) => client())).toBe('yes');
    expect([first.requests.length, second.requests.length]).toEqual([1, 1]);
  });

  it('are asked in turn when the first is down', async () => {
    const second = await node(behave.result('yes'));
    expect(await nodesAt([await deadUrl(), second.url]).read(({ client }) => client())).toBe('yes');
  });

  it('are not asked again when one has answered no', async () => {
    const [first, second] = [await node(behave.error(20, 'no')), await node(behave.result('yes'))];
    await expect(nodesAt([first.url, second.url]).read(({ client }) => client())).rejects.toThrow(Refused);
    expect(second.requests).toEqual([]);
  });

  it('give one error that names every host when none answers', async () => {
    const [first, second] = [await node(behave.status(502)), await node(behave.text(''))];
    const error = await nodesAt([first.url, second.url])
      .read(({ client }) => client())
      .catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(ChainUnavailableError);
    const detail = String((error as Error).cause);
    for (const { url } of [first, second]) expect(detail).toContain(new URL(url).host);
    expect(`${error} ${detail}`).not.toContain('secret-key');
    expect(String(error)).not.toContain('127.0.0.1');
  });

  it('let one that failed rest, and come back to it after half a minute or when the others fail', async () => {
    let now = 0;
    const answers: Behaviour[] = [behave.status(500)];
    const first = await node((...request) => (answers.shift() ?? behave.result('first'))(...request));
    const second = await node((...request) => (answers.shift() ?? behave.result('second'))(...request));
    const nodes = nodesAt([first.url, second.url], { now: () => now });
    const read = () => nodes.read(({ client }) => client());
    expect([await read(), await read()]).toEqual(['second', 'second']);
    expect(first.requests).toHaveLength(1);
    now = 30_000;
    expect(await read()).toBe('first');
    answers.push(behave.status(500), behave.status(500));
    await expect(read()).rejects.toThrow(ChainUnavailableError);
    expect(await read()).toBe('first');
  });

  it('tell which one answers, so that it alone can be asked to go on', async () => {
    const [first, second] = [await node(behave.status(500)), await node(behave.result('yes'))];
    const nodes = nodesAt([first.url, second.url]);
    expect(await nodes.read(async ({ client, index }) => [index, await client()])).toEqual([1, 'yes']);
    await expect(nodes.readFrom(0, ({ client }) => client())).rejects.toThrow(ChainUnavailableError);
    await expect(nodes.readFrom(7, ({ client }) => client())).rejects.toThrow(ChainUnavailableError);
    expect(second.requests).toHaveLength(1);
  });

  it('are all checked: silence is reported, another chain is an error that names both', async () => {
    const [good, silent, wrong] = [
      await node(behave.result('0x7')),
      await node(behave.status(500)),
      await node(behave.result('0x8')),
    ];
    expect(await nodesAt([good.url, silent.url], { chainIdOf: asked }).check()).toEqual([
      { host: new URL(good.url).host, trouble: undefined },
      { host: new URL(silent.url).host, trouble: `${new URL(silent.url).host} answered HTTP 500` },
    ]);
    const check = nodesAt([good.url, wrong.url], { chainIdOf: asked }).check();
    await expect(check).rejects.toThrow(WrongChainError);
    await expect(check).rejects.toThrow(`${new URL(wrong.url).host} is a node of chain 0x8, but BASE is chain 0x7`);
  });

  it('are not asked anything while they are on another chain, and are asked for it once', async () => {
    const [wrong, right] = [await node(behave.result('0x8')), await node(behave.result('0x7'))];
    const nodes = nodesAt([wrong.url, right.url], { chainIdOf: asked });
    const read = () => nodes.read(async ({ index, client }) => [index, await client()]);
    expect([await read(), await read()]).toEqual([
      [1, '0x7'],
      [1, '0x7'],
    ]);
    expect([wrong.requests.length, right.requests.length]).toEqual([1, 3]);
    await expect(nodes.readFrom(0, ({ client }) => client())).rejects.toMatchObject({
      cause: { message: expect.stringContaining('is a node of chain 0x8') },
    });
  });
});
