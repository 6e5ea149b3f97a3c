import { RpcProvider } from 'starknet';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { expectSucceeded, failure } from '../support/assertions.ts';
import { send } from '../support/client.ts';
import type { Sandbox } from '../support/sandbox.ts';
import { startSandbox, TestService } from '../support/service.ts';
import { Client, libraries, STRK, transfer, USDC } from '../support/starknet-client.ts';

const [, library] = libraries[1] ?? libraries[0] ?? [];
if (!library) throw new Error('no library');
const BOB = '0xb0b';

let sandbox: Sandbox;
let client: Client;
let stop: () => Promise<void>;
beforeAll(async () => {
  ({ sandbox, stop } = await startSandbox());
  client = new Client(library, sandbox);
});
afterAll(() => stop());
afterEach(async () => {
  await sandbox.ask('/starknet/faults', undefined, 'DELETE');
  await sandbox.thaw();
});

describe('the faucet', () => {
  it('gives exactly what was asked for, and it is there when it answers', async () => {
    await sandbox.faucet('0xfa0ce7', 'USDC', '25.5');
    await sandbox.faucet('0xfa0ce7', 'USDC', '0.000001');
    expect(await client.balance(USDC, '0xfa0ce7')).toBe(25_500_001n);
  });

  it.each([
    { address: '0xfa0ce8', token: 'USDC', amount: '0.0000001' },
    { address: '0xfa0ce8', token: 'USDC', amount: '-1' },
    { address: '0xfa0ce8', token: 'USDC', amount: '1e3' },
    { address: '0xfa0ce8', token: 'USDC', amount: 5 },
    { address: '0xfa0ce8', token: 'USDC', amount: '9999999999999' },
    { address: 'nowhere', token: 'USDC', amount: '1' },
    { address: '0x0', token: 'USDC', amount: '1' },
    { address: '0xfa0ce8', token: 'OTHER', amount: '1' },
    { address: '0xfa0ce8', token: 'ARB', amount: '1' },
    {},
  ])('refuses %j with 400 and gives nothing', async (body) => {
    expect((await send(`${sandbox.url}/faucet`, { method: 'POST', body })).status).toBe(400);
    expect(await client.balance(USDC, '0xfa0ce8')).toBe(0n);
  });
});

describe('blocks at an interval', () => {
  it('confirm a transaction first, then accept it on L2 and later on L1', async () => {
    const { account } = await client.openWallet('SVC');
    await sandbox.ask('/starknet/block-time', { seconds: 3_600, l1AfterBlocks: 2 });
    const { transaction_hash } = await client.send(account, transfer(USDC, BOB, 1));
    const status = async () => (await client.provider.getTransactionStatus(transaction_hash)).finality_status;
    expect(await status()).toBe('PRE_CONFIRMED');
    await sandbox.ask('/starknet/mine', { blocks: 1 });
    expect(await status()).toBe('ACCEPTED_ON_L2');
    await sandbox.ask('/starknet/mine', { blocks: 2 });
    expect(await status()).toBe('ACCEPTED_ON_L1');
  });
});

describe('time', () => {
  it('can be moved ahead and back', async () => {
    const now = (await sandbox.show()).timestamp;
    await sandbox.ask('/starknet/time', { increaseSeconds: 86_400 });
    const block = await client.provider.getBlock('latest');
    expect(block.timestamp).toBeGreaterThanOrEqual(now + 86_400);
    await sandbox.ask('/starknet/time', { offsetSeconds: 0 });
    expect((await sandbox.show()).timestamp).toBeLessThan(now + 3_600);
  });
});

describe('a fault to order', () => {
  it('reverts the next transaction, with its reason and its fee, and only that one', async () => {
    const { account, address } = await client.openWallet('SVC');
    const before = await client.balance(STRK, address);
    await sandbox.orderFault({ kind: 'revert', reason: 'out of luck' });
    const receipt = await client.send(account, transfer(USDC, BOB, 1));
    expect(receipt.revert_reason).toContain('out of luck');
    expect(await client.balance(STRK, address)).toBeLessThan(before);
    expectSucceeded(await client.send(account, transfer(USDC, BOB, 1)));
  });

  it('rejects the next transaction, which takes no nonce', async () => {
    const { account, address } = await client.openWallet('SVC');
    const nonce = await client.provider.getNonceForAddress(address);
    await sandbox.orderFault({ kind: 'reject', reason: 'not today' });
    const { data } = await failure(client.send(account, transfer(USDC, BOB, 1)), 'VALIDATION_FAILURE');
    expect(data).toContain('not today');
    expect(await client.provider.getNonceForAddress(address)).toBe(nonce);
  });

  it('forgets a transaction that it acknowledged', async () => {
    const { account } = await client.openWallet('SVC');
    await sandbox.orderFault({ kind: 'forget' });
    const { transaction_hash } = await account.execute(transfer(USDC, BOB, 1));
    await failure(client.provider.getTransactionReceipt(transaction_hash), 'TXN_HASH_NOT_FOUND');
  });

  it('executes a transaction and loses the answer', async () => {
    const { account, address } = await client.openWallet('SVC');
    const before = await client.balance(USDC, address);
    await sandbox.orderFault({ kind: 'lose-answer' });
    await expect(account.execute(transfer(USDC, BOB, 4))).rejects.toThrow();
    expect(await client.balance(USDC, address)).toBe(before - 4n);
  });

  it('answers with errors, not at all, or late, for the method it names', async () => {
    await sandbox.orderFault({ kind: 'error', code: -32_603, message: 'sick', method: 'starknet_blockNumber' });
    await expect(client.provider.getBlockNumber()).rejects.toThrow('sick');
    await sandbox.orderFault({ kind: 'unavailable', method: 'starknet_blockNumber' });
    expect(await client.provider.getChainId()).toBeTruthy();
    await expect(client.provider.getBlockNumber()).rejects.toThrow();
    await sandbox.orderFault({ kind: 'slow', delayMs: 50, method: 'starknet_blockNumber' });
    expect(await client.provider.getBlockNumber()).toBeGreaterThan(0);
  });

  it('shows stale data', async () => {
    await sandbox.faucet('0x57a1e', 'USDC', '1');
    const number = await client.provider.getBlockNumber();
    // By method, because the service calls the node all the time.
    for (const method of ['starknet_blockNumber', 'starknet_call']) {
      await sandbox.orderFault({ kind: 'stale', blocks: 1, method });
    }
    expect(await client.provider.getBlockNumber()).toBe(number - 1);
    expect(await client.balance(USDC, '0x57a1e')).toBe(0n);
    expect(await client.balance(USDC, '0x57a1e')).toBe(1_000_000n);
  });
});

describe('a reorganisation', () => {
  it('drops the last blocks with their transactions, or brings those back in a new block', async () => {
    const { account, address } = await client.openWallet('SVC');
    const before = await client.balance(USDC, address);
    const lost = await client.send(account, transfer(USDC, BOB, 1));
    await sandbox.ask('/starknet/reorg', { blocks: 1, transactions: 'drop' });
    await failure(client.provider.getTransactionReceipt(lost.transaction_hash), 'TXN_HASH_NOT_FOUND');
    expect(await client.balance(USDC, address)).toBe(before);

    const kept = await client.send(account, transfer(USDC, BOB, 2));
    await sandbox.ask('/starknet/reorg', { blocks: 1, transactions: 'requeue' });
    expect((await client.receipt(kept.transaction_hash)).execution_status).toBe('SUCCEEDED');
    expect(await client.balance(USDC, address)).toBe(before - 2n);
  });
});

describe('with the sandbox off', () => {
  it('none of it is there', async () => {
    const service = await TestService.hosted({ SANDBOX: 'off' });
    try {
      const paths = [
        '/starknet/rpc',
        '/faucet',
        '/starknet/faults',
        '/starknet/reorg',
        '/evm/base/rpc',
        '/identity/token',
      ];
      for (const path of paths) {
        const reply = await send(`${service.server.origin}/sandbox${path}`, { method: 'POST', body: {} });
        expect([reply.status, reply.body], path).toMatchObject([404, { error: 'not_found' }]);
      }
      const provider = new RpcProvider({ nodeUrl: `${service.server.origin}/sandbox/starknet/rpc` });
      await expect(provider.getChainId()).rejects.toThrow();
    } finally {
      await service.stop();
    }
  });
});
