import { Account, CallData, ETransactionStatus, hash, logger, num, RpcProvider, stark } from 'starknet';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type SandboxServer, startSandbox } from '../../testing/sandbox-server.ts';

const USDC = '0x33068f6539f8e6e6b131e6b2b814e6c34a5224bc66947c47dab9dfee93b35fb';
const STRK = '0x4718f5a0fc34cc1af16a1cdee98ffb20c31f5cd61d6ab07201858f4287c938d';
const UDC = '0x2ceed65a4bd731034c01113685c831b01c15d7d432f71afb1cf1634b53a2125';
const READY = '0x36078334509b514626504edc9fb252328d1a240e4e948bef8d0c08dff45927f';
const RECIPIENT = '0xb0b';
/** Blocks are instant; the library's default is five seconds. */
const WAIT = { retryInterval: 10 };

interface Shown {
  readonly accounts: readonly { readonly label: string; readonly address: string; readonly privateKey: string }[];
}

let server: SandboxServer;
let provider: RpcProvider;
let relayer: Account;

beforeAll(async () => {
  // Silences the library's warning that a new chain has too few transactions to estimate a tip.
  logger.setLogLevel('ERROR');
  server = await startSandbox();
  provider = new RpcProvider({ nodeUrl: server.rpcUrl });
  const { accounts } = (await (await fetch(`${server.url}/starknet`)).json()) as Shown;
  const { address, privateKey } = accounts.find(({ label }) => label === 'relayer 1') ?? accounts[0] ?? missing();
  relayer = new Account({ provider, address, signer: privateKey, cairoVersion: '1' });
});
afterAll(() => server.stop());

function missing(): never {
  throw new Error('The sandbox shows no accounts.');
}

async function faucet(address: string, token: string, amount: string): Promise<string> {
  const response = await fetch(`${server.url}/faucet`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ address, token, amount }),
  });
  const body = (await response.json()) as { transactionHash: string };
  expect(response.status, JSON.stringify(body)).toBe(200);
  return body.transactionHash;
}

async function balance(token: string, owner: string): Promise<bigint> {
  const [low = '0x0', high = '0x0'] = await provider.callContract({
    contractAddress: token,
    entrypoint: 'balance_of',
    calldata: [owner],
  });
  return BigInt(low) + (BigInt(high) << 128n);
}

const transfer = (token: string, to: string, amount: number) => ({
  contractAddress: token,
  entrypoint: 'transfer',
  calldata: [to, amount, 0],
});

describe('starknet.js without a change', () => {
  it('deploys an account that pays for itself, and sends tokens from it', async () => {
    const privateKey = stark.randomAddress();
    const publicKey = new Account({ provider, address: '0x1', signer: privateKey }).signer.getPubKey();
    const constructorCalldata = CallData.compile([0, await publicKey, 1]);
    const address = hash.calculateContractAddressFromHash(await publicKey, READY, constructorCalldata, 0);
    await faucet(address, 'STRK', '10');
    await faucet(address, 'USDC', '2.5');
    const account = new Account({ provider, address, signer: privateKey });

    const deployed = await account.deployAccount({
      classHash: READY,
      constructorCalldata,
      addressSalt: await publicKey,
    });
    expect(num.toHex(deployed.contract_address)).toBe(num.toHex(address));
    const sent = await account.execute(transfer(USDC, RECIPIENT, 1_500_000));
    const receipt = await provider.waitForTransaction(sent.transaction_hash, WAIT);

    expect(receipt.isSuccess()).toBe(true);
    expect(await balance(USDC, RECIPIENT)).toBe(1_500_000n);
    expect(await balance(USDC, address)).toBe(1_000_000n);
    expect(await balance(STRK, address)).toBeLessThan(10n ** 19n);
    expect(server.complaints).toEqual([]);
  });

  it('lets a relayer deploy an account through the universal deployer and pay for it', async () => {
    const publicKey = num.toHex(BigInt(stark.randomAddress()));
    const constructorCalldata = ['0x0', publicKey, '0x1'];
    const address = hash.calculateContractAddressFromHash(publicKey, READY, constructorCalldata, 0);
    const before = await balance(STRK, relayer.address);
    const sent = await relayer.execute({
      contractAddress: UDC,
      entrypoint: 'deploy_contract',
      calldata: [READY, publicKey, '0x0', constructorCalldata.length, ...constructorCalldata],
    });
    const receipt = await provider.waitForTransaction(sent.transaction_hash, WAIT);
    expect(receipt.isSuccess()).toBe(true);
    expect(num.toHex(await provider.getClassHashAt(address))).toBe(READY);
    const fee = BigInt((receipt.value as { actual_fee: { amount: string } }).actual_fee.amount);
    expect(await balance(STRK, relayer.address)).toBe(before - fee);
  });

  it('shows a multicall with one failing call as reverted, with its reason and without its effects', async () => {
    const { resourceBounds } = await relayer.estimateInvokeFee(transfer(STRK, '0xdead', 7));
    const calls = [transfer(STRK, '0xdead', 7), transfer(USDC, '0xdead', 1)];
    const sent = await relayer.execute(calls, { resourceBounds: moreGas(resourceBounds) });
    const receipt = await provider.waitForTransaction(sent.transaction_hash, WAIT);
    expect(receipt.isReverted()).toBe(true);
    expect(JSON.stringify(receipt.value)).toContain('ERC20: insufficient balance');
    expect(await balance(STRK, '0xdead')).toBe(0n);
    await expect(relayer.estimateInvokeFee(calls)).rejects.toMatchObject({ baseError: { code: 41 } });
  });

  it('finds events page by page', async () => {
    const sender = relayer.address;
    for (const amount of [1, 2, 3]) {
      const sent = await relayer.execute(transfer(STRK, '0xe4e47', amount));
      await provider.waitForTransaction(sent.transaction_hash, WAIT);
    }
    const filter = {
      address: STRK,
      keys: [[hash.getSelectorFromName('Transfer')], [num.toHex(sender)], ['0xe4e47']],
      from_block: { block_number: 0 },
      to_block: 'latest' as const,
      chunk_size: 2,
    };
    const first = await provider.getEvents(filter);
    const second = await provider.getEvents({ ...filter, continuation_token: first.continuation_token ?? '' });
    expect([...first.events, ...second.events].map((event) => event.data[0])).toEqual(['0x1', '0x2', '0x3']);
    expect(second.continuation_token).toBeUndefined();
  });

  it('declares a class once and shows it', async () => {
    const contract = {
      sierra_program: ['0x1', '0x6', '0x0', '0x2', '0x8', '0x2'],
      contract_class_version: '0.1.0',
      entry_points_by_type: { CONSTRUCTOR: [], EXTERNAL: [], L1_HANDLER: [] },
      abi: [],
      sierra_program_debug_info: { type_names: [], libfunc_names: [], user_func_names: [] },
    };
    const declared = await relayer.declare({ contract, compiledClassHash: '0x123' });
    expect(num.toHex(declared.class_hash)).toBe(hash.computeContractClassHash(contract));
    const shown = await provider.getClassByHash(declared.class_hash);
    expect(shown).toMatchObject({ contract_class_version: '0.1.0' });
    await expect(relayer.declare({ contract, compiledClassHash: '0x123' })).rejects.toThrow('already declared');
  });

  it('speaks of statuses, blocks, simulation and storage', async () => {
    const sent = await relayer.execute(transfer(STRK, '0x5', 5));
    const status = await provider.getTransactionStatus(sent.transaction_hash);
    expect(status).toEqual({ finality_status: ETransactionStatus.ACCEPTED_ON_L2, execution_status: 'SUCCEEDED' });
    const block = await provider.getBlockWithTxs('latest');
    expect(block.transactions.map((tx) => tx.transaction_hash)).toEqual([sent.transaction_hash]);
    const simulation = await relayer.simulateTransaction([{ type: 'INVOKE', ...transfer(STRK, '0x5', 5) }]);
    expect(simulation.simulated_transactions[0]?.transaction_trace).toMatchObject({ type: 'INVOKE' });
    await expect(provider.getStorageAt('0x404', '0x1')).rejects.toMatchObject({ baseError: { code: 20 } });
    await expect(provider.getTransactionReceipt('0x404')).rejects.toMatchObject({ baseError: { code: 29 } });
  });
});

/** An estimate for one call, enough for two. */
function moreGas<T extends { l2_gas: { max_amount: bigint } }>(bounds: T): T {
  return { ...bounds, l2_gas: { ...bounds.l2_gas, max_amount: bounds.l2_gas.max_amount * 4n } };
}
