import { chainIds } from '@svc/starknet';
import { afterEach, describe, expect, it } from 'vitest';
import { behave, type FaultyNode, type Request, startFaultyNode } from '../../testing/faulty-node.ts';
import { ChainUnavailableError } from '../chains/node-fetch.ts';
import { RpcStarknetChain } from '../chains/starknet/rpc-chain.ts';
import { estimateFee, requireEstimate } from './invoke.ts';

const transaction = { chainId: chainIds.SVC_SANDBOX, sender: 0xa11cen, nonce: 7n, calls: [] };
const ESTIMATE = {
  l1_gas_consumed: '0x0',
  l1_gas_price: '0x1',
  l1_data_gas_consumed: '0x80',
  l1_data_gas_price: '0x1',
  l2_gas_consumed: '0xbd4c0',
  l2_gas_price: '0x1',
  overall_fee: '0xbd540',
  unit: 'FRI',
};

const wrapped = (execution_error: string) =>
  behave.error(41, 'Transaction execution error', { transaction_index: 0, execution_error });
const ADDRESS = `0x${'a11ce'.padStart(64, '0')}`;

/** What nodes answer to an estimate with a nonce that is not the account's. */
const wordings = [
  [
    'a code of its own',
    behave.error(
      52,
      'Invalid transaction nonce',
      `Invalid transaction nonce of contract at address ${ADDRESS}. Account nonce: 0x5; got: 0x3ef.`,
    ),
  ],
  ['an execution error, as devnet does', wrapped('Account transaction nonce is invalid.')],
  [
    'an execution error, as Pathfinder does',
    wrapped(`Invalid transaction nonce of contract at address ${ADDRESS}. Account nonce: 0x5; got: 0x3ef.`),
  ],
] as const;

let node: FaultyNode | undefined;
afterEach(() => node?.stop());

function estimatedNonce({ params }: Request): bigint {
  const { request } = params as { request: readonly { nonce: string }[] };
  return BigInt(request[0]?.nonce ?? 0);
}

/** A node that estimates for the account's own nonce alone; `nonces` are what it says that this is, one after the other. */
async function strictNode(refuses: ReturnType<typeof wrapped>, nonces: readonly bigint[], own: bigint) {
  const left = [...nonces];
  node = await startFaultyNode((request, response, body) => {
    if (request.method === 'starknet_getNonce') {
      return behave.result(`0x${(left.shift() ?? own).toString(16)}`)(request, response, body);
    }
    const answer = estimatedNonce(request) === own ? behave.result([ESTIMATE]) : refuses;
    return answer(request, response, body);
  });
  return new RpcStarknetChain({ chainId: chainIds.SVC_SANDBOX, urls: [node.url] });
}

const estimatesOf = ({ requests }: FaultyNode) => requests.filter(({ method }) => method === 'starknet_estimateFee');

describe('an estimate', () => {
  it.each(wordings)('is made with the account’s own nonce where a node refuses another with %s', async (_name, no) => {
    const chain = await strictNode(no, [], 5n);
    expect(await estimateFee(chain, transaction)).toMatchObject({ ok: true, fee: 0xbd540n });
    expect(estimatesOf(node as FaultyNode).map(estimatedNonce)).toEqual([1_007n, 5n]);
  });

  it.each(wordings)('is repeated while others use the nonce first: %s', async (_name, no) => {
    const chain = await strictNode(no, [5n, 6n, 7n], 8n);
    expect(await estimateFee(chain, transaction)).toMatchObject({ ok: true });
    expect(estimatesOf(node as FaultyNode).map(estimatedNonce)).toEqual([1_007n, 5n, 6n, 7n, 8n]);
  });

  it.each(wordings)('ends as a chain that cannot be used, never as a revert: %s', async (_name, no) => {
    const chain = await strictNode(no, Array(1_000).fill(5n), 8n);
    await expect(requireEstimate(chain, transaction)).rejects.toThrow(ChainUnavailableError);
    expect(estimatesOf(node as FaultyNode)).toHaveLength(11);
  });

  it.each(['no', 'Invalid transaction nonce'])('refuses at once what a contract refuses with %s', async (words) => {
    const chain = await strictNode(wrapped(`0x6e6f ('${words}')`), [], -1n);
    await expect(requireEstimate(chain, transaction)).rejects.toMatchObject({
      code: 'transaction_reverted',
      message: expect.stringContaining(`('${words}')`),
    });
    expect(estimatesOf(node as FaultyNode)).toHaveLength(1);
  });
});
