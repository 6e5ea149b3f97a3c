import {
  chainIds,
  classes,
  contractAddress,
  deployAccountHash,
  selector,
  shortString,
  sign,
  starkKey,
  toHex,
} from '@svc/starknet';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { invoke, payment, relayer, startTestNode, type TestNode, transfer } from '../../testing/test-node.ts';
import { showTransaction } from '../chain/transaction.ts';
import { predeployed } from '../contracts/predeployed.ts';
import type { DeployAccountTransaction } from '../execution/types.ts';
import { starknetToken } from '../tokens.ts';

let test: TestNode;
beforeAll(async () => {
  test = await startTestNode();
});
afterAll(() => test.stop());

const STRK = toHex(starknetToken('STRK').address);
const USDC = toHex(starknetToken('USDC').address);
const { resourceBounds } = payment(0n);

function call(entrypoint: string, calldata: readonly string[] = [], contract_address = USDC) {
  const request = { contract_address, entry_point_selector: toHex(selector(entrypoint)), calldata };
  return { request, block_id: 'latest' };
}

/** What a node says about a transfer of relayer 2, changed. */
async function refusal(changes: object) {
  const transaction = { ...showTransaction(payment(0n, 1n, { from: relayer(2) })), ...changes };
  return test.fail('addInvokeTransaction', { invoke_transaction: transaction });
}

async function fund(address: bigint): Promise<void> {
  const { faucet } = predeployed;
  const nonce = BigInt(await test.call<string>('getNonce', ['latest', toHex(faucet.address)]));
  await test.send(invoke([transfer('STRK', address, 10n ** 19n)], { nonce, from: faucet }));
}

function deployment(privateKey: bigint, classHash: bigint = classes.svc): DeployAccountTransaction {
  const salt = starkKey(privateKey);
  const fields = {
    version: 3n,
    chainId: chainIds.SVC_SANDBOX,
    nonce: 0n,
    tip: 0n,
    resourceBounds,
    paymasterData: [],
    nonceDataAvailabilityMode: 0,
    feeDataAvailabilityMode: 0,
    classHash,
    salt,
    constructorCalldata: [salt],
    address: contractAddress({ salt, classHash, constructorCalldata: [salt], deployer: 0n }),
  } as const;
  const hash = deployAccountHash(fields);
  const { r, s } = sign(hash, privateKey);
  return { type: 'DEPLOY_ACCOUNT', ...fields, hash, signature: [r, s] };
}

const deploy = (tx: DeployAccountTransaction) => ({ deploy_account_transaction: showTransaction(tx) });

describe('requests', () => {
  const ask = async (request: object) => JSON.parse((await test.node.rpc(JSON.stringify(request), '0.10.0')).body);

  it('without an id are invalid', async () => {
    const request = { jsonrpc: '2.0', method: 'starknet_chainId', params: [] };
    expect(await ask(request)).toMatchObject({ id: null, error: { code: -32_600 } });
    expect(await ask([request, { ...request, id: 1 }])).toMatchObject([{ error: { code: -32_600 } }, { id: 1 }]);
  });

  it('with a parameter that the method does not have are refused', async () => {
    const params = { block_id: 'latest', contract_address: toHex(relayer(1).address) };
    expect(await test.call('getNonce', params)).toBe('0x0');
    expect((await test.fail('getNonce', { ...params, colour: 'red' })).code).toBe(-32_602);
    expect((await test.fail('chainId', { block_id: 'latest' })).code).toBe(-32_602);
  });

  it('for the block tag of older versions are refused', async () => {
    const contract_address = toHex(relayer(1).address);
    expect((await test.fail('getNonce', { block_id: 'pending', contract_address })).code).toBe(-32_602);
    expect((await test.fail('getBlockWithTxHashes', ['pending'])).code).toBe(-32_602);
  });

  it('for a page of no events answer one', async () => {
    expect(await test.call('getEvents', [{ chunk_size: 0 }])).toEqual({ events: [] });
  });

  it('for the messages of an unknown L1 transaction find no transaction', async () => {
    expect(await test.fail('getMessagesStatus', [`0x${'1'.repeat(64)}`])).toEqual({
      code: 29,
      message: 'Transaction hash not found',
    });
  });
});

describe('a transaction is refused', () => {
  it.each(['l1_gas', 'l1_data_gas', 'l2_gas'])('when its price for %s is 0, used or not', async (resource) => {
    const shown = showTransaction(payment(0n)).resource_bounds as Record<string, object>;
    const resource_bounds = { ...shown, [resource]: { ...shown[resource], max_price_per_unit: '0x0' } };
    expect(await refusal({ resource_bounds })).toEqual({
      code: 53,
      message: "The transaction's resources don't cover validation or the minimal transaction fee",
    });
  });

  it('as not payable when its sender is unknown', async () => {
    expect(await refusal({ sender_address: '0x404' })).toEqual({
      code: 54,
      message:
        "Account balance is smaller than the transaction's maximal fee (calculated as the sum of each resource's limit x max price)",
    });
    expect((await refusal({ sender_address: '0x404', nonce: '0x2' })).code).toBe(54);
    expect((await refusal({ sender_address: USDC })).code).toBe(54);
  });

  it('by validation when its sender has money and no account', async () => {
    await fund(0x405n);
    expect((await refusal({ sender_address: '0x405' })).code).toBe(55);
    await fund(BigInt(USDC));
    expect((await refusal({ sender_address: USDC })).code).toBe(58);
  });

  it('as not payable when an account of an unknown class has no money, for the class when it has', async () => {
    const tx = deployment(0x1234n, 0x404n);
    expect((await test.fail('addDeployAccountTransaction', deploy(tx))).code).toBe(54);
    await fund(tx.address);
    expect((await test.fail('addDeployAccountTransaction', deploy(tx))).code).toBe(28);
  });

  it.each(['0x0', '0x1', '0x2', '0x100000000000000000000000000000001'])(
    'in an estimate of version %s',
    async (version) => {
      const transaction = { ...showTransaction(payment(0n, 1n, { from: relayer(2) })), version };
      const flags = { simulation_flags: ['SKIP_VALIDATE'], block_id: 'latest' };
      expect((await test.fail('estimateFee', { request: [transaction], ...flags })).code).toBe(-32_602);
      expect((await test.fail('simulateTransactions', { transactions: [transaction], ...flags })).code).toBe(-32_602);
    },
  );
});

describe('the trace of a deployed account', () => {
  it('shows its constructor', async () => {
    const tx = deployment(0x5678n);
    await fund(tx.address);
    const constructor_invocation = {
      contract_address: toHex(tx.address),
      entry_point_type: 'CONSTRUCTOR',
      entry_point_selector: toHex(selector('constructor')),
      calldata: [toHex(starkKey(0x5678n))],
      class_hash: toHex(classes.svc),
    };
    const params = { block_id: 'latest', transactions: [showTransaction(tx)], simulation_flags: [] };
    expect(await test.call('simulateTransactions', params)).toMatchObject([
      { transaction_trace: { type: 'DEPLOY_ACCOUNT', constructor_invocation } },
    ]);
    const { transaction_hash } = await test.call<{ transaction_hash: string }>(
      'addDeployAccountTransaction',
      deploy(tx),
    );
    expect(await test.call('traceTransaction', [transaction_hash])).toMatchObject({ constructor_invocation });
  });
});

describe('a call', () => {
  it('that panics tells the felts of the outermost call, inside the calls that led there', async () => {
    const error = JSON.stringify([toHex(shortString('ERC20: transfer from 0'))]);
    expect(await test.fail('call', call('transfer', ['0x1', '0x1', '0x0'], STRK))).toMatchObject({
      code: 40,
      data: { revert_error: { contract_address: STRK, selector: toHex(selector('transfer')), error } },
    });
  });

  it('of an entry point that is not there is refused without data', async () => {
    expect(await test.fail('call', call('get_session_data'))).toEqual({
      code: 21,
      message: 'Requested entrypoint does not exist in the contract',
    });
  });
});
