import { readdirSync } from 'node:fs';
import { constants, getPriority } from 'node:os';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type SandboxServer, startSandbox } from '../../testing/sandbox-server.ts';

let sandbox: SandboxServer;
beforeAll(async () => {
  sandbox = await startSandbox({ thread: true });
  // Answered once the node is up.
  await ask(sandbox.rpcUrl, 'starknet_chainId');
});
afterAll(() => sandbox.stop());

const ownUrl = () => sandbox.ownRpcUrl;

function ask(url: string, method: string, params: unknown = []): Promise<Response> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
  return fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
}

const order = (fault: object) =>
  fetch(`${sandbox.url}/starknet/faults`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(fault),
  });

describe("the node's own port", () => {
  it('answers what the public address answers', async () => {
    const [own, open] = await Promise.all(
      [ownUrl(), sandbox.rpcUrl].map((url) => ask(url, 'starknet_blockHashAndNumber')),
    );
    expect(own?.status).toBe(200);
    expect(await own?.json()).toEqual(await open?.json());
  });

  it('obeys orders for faults', async () => {
    await order({ kind: 'unavailable', method: 'starknet_chainId' });
    expect((await ask(ownUrl(), 'starknet_chainId')).status).toBe(503);
    expect((await ask(ownUrl(), 'starknet_chainId')).status).toBe(200);
  });

  it('refuses a body that is too large', async () => {
    expect((await ask(ownUrl(), 'x'.repeat(1024 * 1024))).status).toBe(413);
  });

  it('answers an error to what is no JSON', async () => {
    const response = await fetch(ownUrl(), { method: 'POST', body: '{' });
    expect(await response.json()).toMatchObject({ error: { code: -32700 } });
  });
});

describe("the node's thread", () => {
  // A run at the lowest priority leaves no lower one.
  it.runIf(process.platform === 'linux')(
    'runs 10 steps below the threads that serve requests, where there is room',
    () => {
      const threads = readdirSync('/proc/self/task').map(Number);
      const lowest = Math.max(...threads.map((thread) => getPriority(thread)));
      expect(lowest).toBe(Math.min(constants.priority.PRIORITY_LOW, getPriority(process.pid) + 10));
    },
  );
});
