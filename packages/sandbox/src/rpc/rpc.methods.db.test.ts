import { selector, toHex } from '@svc/starknet';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { invoke, payment, relayer, startTestNode, type TestNode, transfer } from '../../testing/test-node.ts';
import { showTransaction } from '../chain/transaction.ts';
import { predeployed } from '../contracts/predeployed.ts';
import { starknetToken } from '../tokens.ts';

let test: TestNode;
let hash: string;
beforeAll(async () => {
  test = await startTestNode();
  hash = await test.send(payment(0n));
});
afterAll(() => test.stop());

const account = toHex(relayer(1).address);
const STRK = toHex(starknetToken('STRK').address);
const read = (entrypoint: string, contract_address = STRK, calldata: string[] = []) => ({
  request: { contract_address, entry_point_selector: toHex(selector(entrypoint)), calldata },
  block_id: 'latest',
});

describe('blocks', () => {
  it('are found by tag, number and hash alike', async () => {
    const latest = await test.call<{ block_hash: string; block_number: number }>('getBlockWithTxHashes', ['latest']);
    for (const id of [{ block_number: latest.block_number }, { block_hash: latest.block_hash }]) {
      expect(await test.call('getBlockWithTxHashes', [id])).toEqual(latest);
    }
    const { block_hash, block_number } = latest;
    expect(await test.call('blockHashAndNumber')).toEqual({ block_hash, block_number });
  });

  it.each([
    ['an unknown number', { block_number: 999 }, 24],
    ['an unknown hash', { block_hash: '0x404' }, 24],
    ['a number beyond all blocks', { block_number: Number.MAX_SAFE_INTEGER }, 24],
    ['an unknown tag', 'newest', -32_602],
    ['both number and hash', { block_number: 1, block_hash: '0x1' }, -32_602],
    ['a fraction', { block_number: 1.5 }, -32_602],
    ['nothing', undefined, -32_602],
  ])('answer %s with its error', async (_name, block_id, code) => {
    expect((await test.fail('getBlockWithTxHashes', { block_id })).code).toBe(code);
  });

  it('show transactions with receipts, counts and single places', async () => {
    const block = await test.call<{ transactions: unknown[] }>('getBlockWithReceipts', ['latest']);
    expect(block.transactions).toMatchObject([
      { transaction: { type: 'INVOKE' }, receipt: { transaction_hash: hash } },
    ]);
    expect(await test.call('getBlockTransactionCount', ['latest'])).toBe(1);
    expect((await test.fail('getTransactionByBlockIdAndIndex', ['latest', 1])).code).toBe(27);
  });

  it('say what they changed', async () => {
    const { state_diff } = await test.call<{ state_diff: { nonces: unknown; storage_diffs: { address: string }[] } }>(
      'getStateUpdate',
      ['latest'],
    );
    expect(state_diff.nonces).toEqual([{ contract_address: account, nonce: '0x1' }]);
    expect(state_diff.storage_diffs.map((diff) => diff.address)).toEqual([STRK]);
    const genesis = await test.call<{ state_diff: { deployed_contracts: { address: string }[] } }>('getStateUpdate', [
      { block_number: 0 },
    ]);
    expect(genesis.state_diff.deployed_contracts.map((one) => one.address)).toContain(STRK);
  });
});

describe('state', () => {
  it('answers 20 for a contract that is not there', async () => {
    const contract_address = '0x404';
    const block_id = 'latest';
    for (const method of ['getNonce', 'getClassHashAt', 'getClassAt']) {
      expect((await test.fail(method, { contract_address, block_id })).code).toBe(20);
    }
    expect((await test.fail('getStorageAt', { contract_address, key: '0x1', block_id })).code).toBe(20);
    expect((await test.fail('call', read('name', contract_address))).code).toBe(20);
  });

  it('answers 21 for an entry point that is not there', async () => {
    expect((await test.fail('call', read('get_session_data'))).code).toBe(21);
  });

  it('answers 40 with the nested reason where a contract refuses', async () => {
    const failure = await test.fail('call', read('transfer', STRK, ['0x1', '0x1', '0x0']));
    expect(failure).toMatchObject({ code: 40, data: { revert_error: expect.anything() } });
  });

  it('shows native classes with an ABI that clients take for Cairo 1', async () => {
    const shown = await test.call<{ abi: string; sierra_program: string[] }>('getClassAt', ['latest', account]);
    expect(shown.sierra_program.length).toBeGreaterThan(0);
    expect(JSON.parse(shown.abi)).toContainEqual(expect.objectContaining({ type: 'interface' }));
    const class_hash = await test.call<string>('getClassHashAt', ['latest', account]);
    expect(await test.call('getClass', { block_id: 'latest', class_hash })).toEqual(shown);
    expect((await test.fail('getClass', { block_id: 'latest', class_hash: '0x404' })).code).toBe(28);
  });
});

describe('transactions', () => {
  it('are refused with the code that fits', async () => {
    const good = payment(0n, 1n, { from: relayer(3) });
    const wrong = async (changes: object) =>
      (await test.fail('addInvokeTransaction', { invoke_transaction: { ...showTransaction(good), ...changes } })).code;
    expect(await wrong({ signature: ['0x1', '0x2'] })).toBe(55);
    expect(await wrong({ version: '0x1' })).toBe(61);
    expect(await wrong({ version: '0x100000000000000000000000000000003' })).toBe(61);
    expect(await wrong({ type: 'DECLARE' })).toBe(-32_602);
    expect(await wrong({ calldata: ['12'] })).toBe(-32_602);
    expect(await wrong({ tip: '0x10000000000000000' })).toBe(-32_602);
    expect(await wrong({ sender_address: '0x404' })).toBe(54);
    expect(await wrong({ resource_bounds: undefined })).toBe(-32_602);
  });

  it('are shown as they were sent', async () => {
    expect(await test.call('getTransactionByHash', [hash])).toEqual({
      transaction_hash: hash,
      ...showTransaction(payment(0n)),
    });
  });

  it('are traced call by call', async () => {
    const trace = await test.call('traceTransaction', [hash]);
    expect(trace).toMatchObject({
      type: 'INVOKE',
      execute_invocation: { contract_address: account, calls: [{ contract_address: STRK }] },
      fee_transfer_invocation: { contract_address: STRK },
    });
    expect(await test.call('traceBlockTransactions', ['latest'])).toEqual([
      { transaction_hash: hash, trace_root: trace },
    ]);
  });
});

describe('estimation', () => {
  const estimate = (transactions: unknown[], simulation_flags: string[] = []) => ({
    request: transactions,
    simulation_flags,
    block_id: 'latest',
  });

  it('costs what the transaction then costs, and changes nothing', async () => {
    const tx = payment(1n, 0xe57n);
    const [fee] = await test.call<{ overall_fee: string }[]>('estimateFee', estimate([showTransaction(tx)]));
    expect(await test.balance('STRK', 0xe57n)).toBe(0n);
    const sent = await test.send(tx);
    const receipt = await test.call<{ actual_fee: { amount: string } }>('getTransactionReceipt', [sent]);
    expect(receipt.actual_fee.amount).toBe(fee?.overall_fee);
  });

  it('runs transactions on what the ones before them left', async () => {
    const { manager } = predeployed;
    const pair = [
      invoke([transfer('USDC', relayer(2).address, 5n)], { nonce: 0n, from: manager }),
      invoke([transfer('USDC', 0x1n, 5n)], { nonce: 0n, from: relayer(2) }),
    ].map(showTransaction);
    expect(await test.call('estimateFee', estimate(pair))).toHaveLength(2);
    const failure = await test.fail('estimateFee', estimate([...pair].reverse()));
    expect(failure).toMatchObject({ code: 41, data: { transaction_index: 0 } });
  });

  it('names the failing transaction, a wrong signature included', async () => {
    const unsigned = { ...showTransaction(payment(7n, 1n, { from: relayer(3) })), signature: [] };
    expect((await test.fail('estimateFee', estimate([unsigned]))).code).toBe(41);
    expect(await test.call('estimateFee', estimate([unsigned], ['SKIP_VALIDATE']))).toHaveLength(1);
  });

  it('simulates reverts without an error', async () => {
    const reverting = invoke([transfer('USDC', 1n, 1n)], { nonce: 0n, from: relayer(4) });
    const params = { block_id: 'latest', transactions: [showTransaction(reverting)], simulation_flags: [] };
    const [simulated] = await test.call<unknown[]>('simulateTransactions', params);
    expect(simulated).toMatchObject({
      transaction_trace: { type: 'INVOKE', execute_invocation: { revert_reason: expect.any(String) } },
      fee_estimation: { unit: 'FRI' },
    });
  });
});

describe('events', () => {
  const filter = { from_block: { block_number: 0 }, to_block: 'latest', chunk_size: 10 };

  it.each([
    ['a page that is too large', { chunk_size: 1_025 }, 31],
    ['a page of less than nothing', { chunk_size: -1 }, -32_602],
    ['a token that is not ours', { continuation_token: 'abc' }, 33],
    ['too many keys', { keys: [Array.from({ length: 257 }, (_, key) => toHex(BigInt(key)))] }, 34],
    ['a block that is not there', { to_block: { block_number: 99_999 } }, 24],
  ])('answer %s with its error', async (_name, changes, code) => {
    expect((await test.fail('getEvents', [{ ...filter, ...changes }])).code).toBe(code);
  });

  it('carry their place in the chain, without the indexes where the client speaks 0.9', async () => {
    const params = [{ ...filter, address: STRK, keys: [[], [account], ['0xb0b']] }];
    const { events } = await test.call<{ events: object[] }>('getEvents', params);
    expect(events).toMatchObject([{ transaction_hash: hash, block_number: 1, transaction_index: 0, event_index: 0 }]);
    const old = await test.call<{ events: object[] }>('getEvents', params, '0.9.0');
    expect(Object.keys(old.events[0] ?? {})).not.toContain('event_index');
  });
});

describe('what a chain for development does not have', () => {
  it('is refused with a sentence', async () => {
    expect((await test.fail('getCompiledCasm', ['0x1'])).code).toBe(100);
    expect((await test.fail('estimateMessageFee', [])).code).toBe(63);
    expect((await test.fail('getStorageProof', ['latest'])).code).toBe(42);
    expect((await test.fail('getMessagesStatus', ['0x1'])).code).toBe(29);
  });
});
