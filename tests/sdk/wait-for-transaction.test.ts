import { selector, toHex } from '@svc/starknet';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { defaultRuntime, type Runtime } from '../../packages/sdk/src/client/client.ts';
import { waitForTransaction, waitForTransactionOf } from '../../packages/sdk/src/node/wait-for-transaction.ts';
import { hashOf, Owner, transferOf } from '../support/app.ts';
import { SessionFixture } from '../support/sessions.ts';
import { USDC } from '../support/starknet-client.ts';

let fixture: SessionFixture;
let owner: Owner;
beforeAll(async () => {
  fixture = await SessionFixture.start();
  owner = new Owner();
  await fixture.app.createWallet(owner, 'ana');
  await fixture.sandbox.faucet(owner.address, 'USDC', '100');
});
afterEach(async () => {
  await fixture.sandbox.ask('/starknet/faults', undefined, 'DELETE');
  await fixture.sandbox.thaw();
});
afterAll(() => fixture.service.stop());

/** The discard port, where nothing listens. */
const DEAD_NODE = 'http://127.0.0.1:9';
const send = async () => hashOf(await fixture.app.execute(owner, [transferOf(USDC, '0xb0b', 7n)]));

/** Runs an event instead of sleeping. */
function meanwhile(...events: (() => Promise<unknown>)[]): Runtime & { readonly pauses: number[] } {
  const pauses: number[] = [];
  let now = Date.now();
  const sleep = async (ms: number) => {
    pauses.push(ms);
    now += ms;
    await events.shift()?.();
  };
  return { ...defaultRuntime, now: () => now, sleep, pauses };
}

describe('waiting for a transaction', () => {
  it('returns its success with its events, keyed by the selectors of their names', async () => {
    const transactionHash = await send();
    const result = await waitForTransaction(transactionHash, { nodeUrl: fixture.sandbox.rpcUrl });
    expect(result).toMatchObject({
      transactionHash,
      success: true,
      executionStatus: 'SUCCEEDED',
      finalityStatus: 'ACCEPTED_ON_L2',
      blockNumber: expect.any(Number),
    });
    expect(result).not.toHaveProperty('revertReason');
    const transfers = result.events.filter(({ keys }) => keys[0] === toHex(selector('Transfer')));
    expect(transfers.map(({ from_address }) => BigInt(from_address))).toContain(BigInt(USDC));
  });

  it('returns a revert with its reason, without throwing', async () => {
    await fixture.sandbox.orderFault({ kind: 'revert', reason: 'out of luck' });
    const result = await waitForTransaction(await send(), { nodeUrl: fixture.sandbox.rpcUrl });
    expect(result).toMatchObject({ success: false, executionStatus: 'REVERTED', events: [] });
    expect(result.revertReason).toContain('out of luck');
  });

  it('continues until the block is closed', async () => {
    await fixture.sandbox.freeze();
    const transactionHash = await send();
    const runtime = meanwhile(
      async () => {},
      () => fixture.sandbox.ask('/starknet/mine', { blocks: 1 }),
    );
    const result = await waitForTransaction(transactionHash, { nodeUrl: fixture.sandbox.rpcUrl, runtime });
    expect(result).toMatchObject({ success: true, finalityStatus: 'ACCEPTED_ON_L2' });
    expect(runtime.pauses).toEqual([3_000, 3_000]);
  });

  it('continues while the hash is unknown, for 300000 ms', async () => {
    const runtime = meanwhile();
    const waiting = waitForTransaction('0x123456', { nodeUrl: fixture.sandbox.rpcUrl, runtime });
    await expect(waiting).rejects.toMatchObject({ name: 'SvcConnectionError', code: 'timeout' });
    expect(runtime.pauses.reduce((sum, ms) => sum + ms, 0)).toBe(300_000);
  });

  it('skips a missing node and an unresponsive one', async () => {
    const nodeUrl = [DEAD_NODE, fixture.sandbox.rpcUrl];
    const transactionHash = await send();
    expect(await waitForTransaction(transactionHash, { nodeUrl })).toMatchObject({ success: true });
    const method = 'starknet_getTransactionReceipt';
    await fixture.sandbox.orderFault({ kind: 'unavailable', method, count: 1_000 });
    const runtime = meanwhile(
      async () => {},
      () => fixture.sandbox.ask('/starknet/faults', undefined, 'DELETE'),
    );
    expect(await waitForTransaction(transactionHash, { nodeUrl, runtime })).toMatchObject({ success: true });
  });

  it('throws if no node answers', async () => {
    const waiting = waitForTransaction('0x1', { nodeUrl: DEAD_NODE, runtime: meanwhile() });
    await expect(waiting).rejects.toMatchObject({ name: 'SvcConnectionError', code: 'connection_failed' });
  });

  it('by a client needs no node URL', async () => {
    expect(await waitForTransactionOf(fixture.client, await send())).toMatchObject({ success: true });
    expect(await waitForTransactionOf(fixture.client, await send(), { nodeUrl: DEAD_NODE })).toMatchObject({
      success: true,
    });
  });
});
