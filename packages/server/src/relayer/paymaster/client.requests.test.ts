import { type OutsideExecution, outsideExecutionTypedData, toHex } from '@svc/starknet';
import { type ExecutableUserInvoke, PaymasterRpc } from 'starknet';
import { describe, expect, it } from 'vitest';
import { newWallet, transferCall } from '../../../testing/chain.ts';
import { buildRequest, executeRequest } from './client.ts';

const CHAIN = 0x534e5f5345504f4c4941n;
const wallet = newWallet();
const call = transferCall('USDC', 0xb0bn, 7n);
const execution: OutsideExecution = {
  caller: 0xca11n,
  nonce: 0x123n,
  executeAfter: 1_000n,
  executeBefore: 4_600n,
  calls: [call],
};
const bounds = { executeAfter: 1_000, executeBefore: 4_600 };
const parameters = { version: '0x1', feeMode: { mode: 'sponsored' }, timeBounds: bounds } as const;
const address = toHex(wallet.address);
const deployment = {
  address,
  class_hash: toHex(wallet.deployment.classHash),
  salt: toHex(wallet.deployment.salt),
  calldata: wallet.deployment.constructorCalldata.map(toHex),
  version: 1 as const,
};

/** What starknet.js puts on the wire. */
async function wire(ask: (library: PaymasterRpc) => Promise<unknown>): Promise<unknown> {
  const bodies: string[] = [];
  const baseFetch = async (_url: unknown, init?: RequestInit) => {
    bodies.push(String(init?.body));
    return new Response('{"error": {"code": 163, "message": "enough"}}');
  };
  await expect(ask(new PaymasterRpc({ nodeUrl: 'http://paymaster', baseFetch }))).rejects.toThrow();
  return (JSON.parse(bodies[0] ?? '{}') as { params: unknown }).params;
}

describe('requests to a paymaster', () => {
  it('to build are word for word those of starknet.js', async () => {
    const transfer = { contractAddress: toHex(call.to), entrypoint: 'transfer', calldata: call.calldata.map(toHex) };
    const invoke = { userAddress: address, calls: [transfer] };
    const ours = { environment: 'production', account: wallet.address, calls: [call] } as const;
    expect(buildRequest({ ...ours, deployment: undefined }, execution)).toEqual(
      await wire((library) => library.buildTransaction({ type: 'invoke', invoke }, parameters)),
    );
    expect(buildRequest({ ...ours, deployment: wallet.deployment }, execution)).toEqual(
      await wire((library) => library.buildTransaction({ type: 'deploy_and_invoke', invoke, deployment }, parameters)),
    );
  });

  it('to execute are word for word those of starknet.js', async () => {
    const typedData = outsideExecutionTypedData(execution, CHAIN) as ExecutableUserInvoke['typedData'];
    const invoke = { userAddress: address, typedData, signature: ['0x5', '0x6'] };
    const asked = { ...wallet.sponsorshipOf(execution), signature: [5n, 6n] };
    expect(executeRequest(asked, CHAIN)).toEqual(
      await wire((library) => library.executeTransaction({ type: 'invoke', invoke }, parameters)),
    );
    expect(executeRequest({ ...asked, deployment: wallet.deployment }, CHAIN)).toEqual(
      await wire((library) =>
        library.executeTransaction({ type: 'deploy_and_invoke', invoke, deployment }, parameters),
      ),
    );
  });

  it('only deploy an account that has nothing to call', async () => {
    const alone = wallet.sponsorshipOf({ ...execution, calls: [] }, { deploy: true });
    expect(executeRequest(alone, CHAIN)).toEqual(
      await wire((library) => library.executeTransaction({ type: 'deploy', deployment }, parameters)),
    );
  });
});
