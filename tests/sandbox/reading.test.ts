import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectReverted } from '../support/assertions.ts';
import type { Sandbox } from '../support/sandbox.ts';
import { startSandbox } from '../support/service.ts';
import { type Account, AMPLE, Client, libraries, STRK, transfer, USDC, WAIT } from '../support/starknet-client.ts';

const SANDBOX_CHAIN_ID = '0x5356435f53414e44424f58';

let sandbox: Sandbox;
let stop: () => Promise<void>;
beforeAll(async () => {
  ({ sandbox, stop } = await startSandbox());
});
afterAll(() => stop());

describe.each(libraries)('with %s', (_name, library) => {
  const { num, hash, RpcProvider } = library;
  let client: Client;
  let relayer: Account;
  beforeAll(async () => {
    client = new Client(library, sandbox);
    relayer = await client.funded('relayer 1');
  });
  const newAddress = () => num.toHex(library.stark.randomAddress());

  it('a provider finds out the version of the specification and the chain', async () => {
    const { rpcUrl } = sandbox;
    const provider = await RpcProvider.create({ nodeUrl: rpcUrl });
    expect(await provider.getSpecVersion()).toBe('0.10.0');
    expect(await provider.getChainId()).toBe(SANDBOX_CHAIN_ID);
    const older = await RpcProvider.create({ nodeUrl: `${rpcUrl}/v0_9` });
    expect(await older.getSpecVersion()).toBe('0.9.0');
    expect((await older.getBlock('latest')).block_number).toBe(await provider.getBlockNumber());
  });

  it('calls that are made together go in one batch', async () => {
    const provider = new RpcProvider({ nodeUrl: sandbox.rpcUrl, batch: 0 });
    const [chainId, number, nonce, missing] = await Promise.all([
      provider.getChainId(),
      provider.getBlockNumber(),
      provider.getNonceForAddress(relayer.address),
      provider.getClassHashAt('0x404').catch((error: unknown) => error),
    ]);
    expect([chainId, typeof number]).toEqual([SANDBOX_CHAIN_ID, 'number']);
    expect(BigInt(nonce)).toBe(BigInt(await relayer.getNonce()));
    expect(missing).toMatchObject({ baseError: { code: 20 } });
  });

  it('an estimate of the signed transaction is what it then costs', async () => {
    // Without the library's margin.
    const provider = new RpcProvider({ nodeUrl: sandbox.rpcUrl, resourceBoundsOverhead: false });
    const { privateKey } = await sandbox.account('relayer 1');
    const account = new library.Account({ provider, address: relayer.address, signer: privateKey });
    const payment = transfer(STRK, newAddress(), 7);
    const estimate = await account.estimateInvokeFee(payment, { tip: 0n, skipValidate: false });
    const sent = await account.execute(payment, { tip: 0n, resourceBounds: estimate.resourceBounds });
    const { actual_fee } = await client.receipt(sent.transaction_hash);
    expect(actual_fee).toEqual({ amount: num.toHex(estimate.overall_fee), unit: 'FRI' });
  });

  it('a simulation shows what would happen, and nothing happens', async () => {
    const receiver = newAddress();
    const answer = await relayer.simulateTransaction(
      [
        { type: 'INVOKE', ...transfer(STRK, receiver, 5) },
        { type: 'INVOKE', ...transfer(USDC, receiver, 5) },
      ],
      { skipValidate: false, tip: 0n },
    );
    // The older version returns the list alone.
    const simulated = Array.isArray(answer)
      ? (answer as typeof answer.simulated_transactions)
      : answer.simulated_transactions;
    expect(simulated.map(({ transaction_trace: trace }) => trace)).toMatchObject([
      { type: 'INVOKE', execute_invocation: { calls: [{}] } },
      { type: 'INVOKE', execute_invocation: { revert_reason: expect.stringContaining('insufficient balance') } },
    ]);
    expect(simulated[0]?.overall_fee).toBeGreaterThan(0n);
    expect(await client.balance(STRK, receiver)).toBe(0n);
  });

  it('events come page by page, by contract, key and block, each once and in order', async () => {
    const receiver = newAddress();
    const from = (await client.provider.getBlockNumber()) + 1;
    for (const amount of [1, 2, 3, 4, 5]) await client.send(relayer, transfer(STRK, receiver, amount));
    const filter = {
      address: STRK,
      keys: [[hash.getSelectorFromName('Transfer')], [], [receiver]],
      from_block: { block_number: from },
      to_block: 'latest' as const,
      chunk_size: 2,
    };
    const pages: string[][] = [];
    let token: string | undefined;
    do {
      const page = await client.provider.getEvents({ ...filter, ...(token && { continuation_token: token }) });
      pages.push(page.events.map((event) => event.data[0] ?? ''));
      token = page.continuation_token;
    } while (token && pages.length < 9);
    expect(pages).toEqual([['0x1', '0x2'], ['0x3', '0x4'], ['0x5']]);
    const earlier = { ...filter, from_block: { block_number: 0 }, to_block: { block_number: from - 1 } };
    expect((await client.provider.getEvents(earlier)).events).toEqual([]);
  });

  it('a reverted transaction is waited for, and says how deep and why it failed', async () => {
    const sent = await relayer.execute(transfer(USDC, newAddress(), 1), AMPLE);
    const waited = await client.provider.waitForTransaction(sent.transaction_hash, WAIT);
    expect([waited.isReverted(), waited.isSuccess()]).toEqual([true, false]);
    const receipt = await client.receipt(sent.transaction_hash);
    expectReverted(receipt, 'ERC20: insufficient balance');
    const places = [relayer.address, USDC].map(
      (address) => `contract address: 0x${BigInt(address).toString(16).padStart(64, '0')}`,
    );
    expect(receipt.revert_reason).toMatch(new RegExp(places.join('[\\s\\S]*')));
    const status = await client.provider.getTransactionStatus(sent.transaction_hash);
    expect(status).toMatchObject({ finality_status: 'ACCEPTED_ON_L2', execution_status: 'REVERTED' });
    expect(status).toHaveProperty('failure_reason', receipt.revert_reason);
  });

  it('a transaction is the same in its answer, by hash, by index, in its block and in its trace', async () => {
    const sent = await relayer.execute(transfer(STRK, newAddress(), 9), AMPLE);
    const { block_number: number = -1, block_hash: blockHash } = await client.receipt(sent.transaction_hash);
    const { provider } = client;
    const byHash = await provider.getTransaction(sent.transaction_hash);
    expect(byHash).toMatchObject({ type: 'INVOKE', version: '0x3', sender_address: num.toHex(relayer.address) });
    const byIndex = await provider.getTransactionByBlockIdAndIndex(number, 0);
    expect(byIndex).toMatchObject({ transaction_hash: sent.transaction_hash });
    expect((await provider.getBlockWithTxHashes(number)).transactions).toEqual([sent.transaction_hash]);
    const full = await provider.getBlockWithReceipts(blockHash);
    expect(full).toMatchObject({
      block_number: number,
      transactions: [{ receipt: { execution_status: 'SUCCEEDED' } }],
    });
    expect(await provider.getTransactionTrace(sent.transaction_hash)).toMatchObject({ type: 'INVOKE' });
    const update = await provider.getStateUpdate(number);
    expect(update).toMatchObject({ block_hash: blockHash, state_diff: { nonces: [{}] } });
  });

  it('the past stays readable: balances and nonces at an earlier block', async () => {
    const receiver = newAddress();
    const { block_number: number = 0 } = await client.send(relayer, transfer(STRK, receiver, 3));
    const nonce = BigInt(await client.provider.getNonceForAddress(relayer.address, number));
    await client.send(relayer, transfer(STRK, receiver, 4));
    const query = { contractAddress: STRK, entrypoint: 'balanceOf', calldata: [receiver] };
    expect(await client.provider.callContract(query, number)).toEqual(['0x3', '0x0']);
    expect(await client.provider.callContract(query)).toEqual(['0x7', '0x0']);
    expect(BigInt(await client.provider.getNonceForAddress(relayer.address, number - 1))).toBe(nonce - 1n);
  });

  it('a contract is used through the interface that the node gives', async () => {
    const { abi } = await client.provider.getClassAt(STRK);
    const token = new library.Contract({ abi, address: STRK, providerOrAccount: relayer });
    const receiver = newAddress();
    expect(await token.call('decimals')).toBe(18n);
    expect(await token.call('symbol')).toBe('STRK');
    const sent = await token.invoke('transfer', [receiver, 11n]);
    const waited = await client.provider.waitForTransaction(sent.transaction_hash, WAIT);
    expect(await token.call('balanceOf', [receiver])).toBe(11n);
    expect(await token.call('balance_of', [receiver])).toBe(11n);
    const events = token.parseEvents(waited).flatMap((event) => Object.values(event));
    const payment = { from: BigInt(relayer.address), to: BigInt(receiver), value: 11n };
    expect(events).toContainEqual(expect.objectContaining(payment));
  });

  it('blocks follow one another in number, parent and time', async () => {
    await client.send(relayer, transfer(STRK, newAddress(), 1));
    const { provider } = client;
    const latest = await provider.getBlockLatestAccepted();
    const block = await provider.getBlock(latest.block_number);
    const parent = await provider.getBlock(latest.block_number - 1);
    expect(block).toMatchObject({
      block_hash: latest.block_hash,
      parent_hash: parent.block_hash,
      status: 'ACCEPTED_ON_L2',
    });
    expect(block.timestamp).toBeGreaterThanOrEqual(parent.timestamp);
    const stored: unknown = await provider.getStorageAt(STRK, hash.getSelectorFromName('ERC20_decimals'));
    // The newer version returns more than the value.
    expect(['0x12', { value: '0x12' }]).toContainEqual(
      typeof stored === 'string' ? stored : expect.objectContaining({ value: '0x12' }),
    );
  });
});
