import { TestDatabase } from '@svc/store/testing';
import { erc20Abi, getAddress, parseAbiItem, parseEther } from 'viem';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ask, migrations, type RunningApp, startApp, tokenOn, walletOn } from '../../testing/evm-server.ts';
import { type EvmChain, evmChains } from './tokens.ts';

const STRANGER = '0x2222222222222222222222222222222222222222';
const TRANSFER = parseAbiItem('event Transfer(address indexed from, address indexed to, uint256 value)');
const chainNames = Object.keys(evmChains) as EvmChain[];

let database: TestDatabase;
let app: RunningApp;
beforeAll(async () => {
  database = await TestDatabase.create([migrations]);
  app = await startApp(database.db);
});
afterAll(async () => {
  await app.close();
  await database.drop();
});

/** An account with coins for gas and USDC (on Rootstock, USDT). */
async function customer(chain: EvmChain) {
  const { native, tokens } = evmChains[chain];
  const token = tokens.some((item) => item.token === 'USDC') ? 'USDC' : 'USDT';
  const client = walletOn(app, chain);
  await app.chains.fund(chain, client.account.address, native, parseEther('1'));
  await app.chains.fund(chain, client.account.address, token, 50_000_000n);
  const address = tokenOn(chain, token);
  const balanceOf = (owner: `0x${string}`) =>
    client.reader.readContract({ address, abi: erc20Abi, functionName: 'balanceOf', args: [owner] });
  const transfer = (to: `0x${string}`, amount: bigint, extra: object = {}) =>
    client.wallet.writeContract({ address, abi: erc20Abi, functionName: 'transfer', args: [to, amount], ...extra });
  return { ...client, token: address, balanceOf, transfer };
}

describe.each(chainNames)('%s through viem', (chain) => {
  it('has its own id, and its tokens with the decimals of the table', async () => {
    const { reader } = walletOn(app, chain);
    expect(await reader.getChainId()).toBe(evmChains[chain].id);
    for (const { address, decimals, symbol } of evmChains[chain].tokens) {
      expect(await reader.readContract({ address, abi: erc20Abi, functionName: 'decimals' })).toBe(decimals);
      expect(await reader.readContract({ address, abi: erc20Abi, functionName: 'symbol' })).toBe(symbol);
    }
  });

  it('takes a signed transfer and shows it in balances, receipt, logs and block', async () => {
    const { account, reader, token, balanceOf, transfer } = await customer(chain);
    expect(await balanceOf(account.address)).toBe(50_000_000n);
    const before = await balanceOf(STRANGER);
    const hash = await transfer(STRANGER, 12_500_000n);
    const receipt = await reader.waitForTransactionReceipt({ hash });
    expect(receipt).toMatchObject({ status: 'success', from: account.address.toLowerCase(), to: token.toLowerCase() });
    const logs = await reader.getLogs({
      address: token,
      event: TRANSFER,
      args: { from: account.address },
      fromBlock: 0n,
    });
    expect(logs.map(({ args, transactionHash, blockNumber }) => ({ ...args, transactionHash, blockNumber }))).toEqual([
      {
        from: account.address,
        to: getAddress(STRANGER),
        value: 12_500_000n,
        transactionHash: hash,
        blockNumber: receipt.blockNumber,
      },
    ]);
    expect(receipt.logs).toHaveLength(1);
    expect(await balanceOf(account.address)).toBe(37_500_000n);
    expect(await balanceOf(STRANGER)).toBe(before + 12_500_000n);
    expect(await reader.getTransaction({ hash })).toMatchObject({ blockHash: receipt.blockHash, nonce: 0 });
    expect((await reader.getBlock({ blockNumber: receipt.blockNumber })).transactions).toEqual([hash]);
  });
});

describe('money', () => {
  it('of the chain itself can be sent, and gas is paid with it', async () => {
    const { account, reader, wallet } = await customer('OPTIMISM');
    const recipient = walletOn(app, 'OPTIMISM').account.address;
    const hash = await wallet.sendTransaction({ to: recipient, value: parseEther('0.25') });
    const { gasUsed, effectiveGasPrice } = await reader.waitForTransactionReceipt({ hash });
    expect(await reader.getBalance({ address: recipient })).toBe(parseEther('0.25'));
    expect(await reader.getBalance({ address: account.address })).toBe(
      parseEther('0.75') - gasUsed * effectiveGasPrice,
    );
    expect(await reader.getTransactionCount({ address: account.address })).toBe(1);
  });

  it('that is not there cannot be spent: the estimate says why, the receipt says reverted, nothing moves', async () => {
    const { reader, account, balanceOf, transfer } = await customer('BASE');
    await expect(transfer(STRANGER, 50_000_001n)).rejects.toThrow('ERC20: transfer amount exceeds balance');
    const hash = await transfer(STRANGER, 50_000_001n, { gas: 100_000n });
    const receipt = await reader.waitForTransactionReceipt({ hash });
    expect(receipt).toMatchObject({ status: 'reverted', logs: [] });
    expect(await balanceOf(account.address)).toBe(50_000_000n);
  });

  it('without coins for gas moves nothing, in the words by which libraries know it', async () => {
    const poor = walletOn(app, 'BASE');
    await app.chains.fund('BASE', poor.account.address, 'USDC', 5n);
    const attempt = poor.wallet.writeContract({
      address: tokenOn('BASE', 'USDC'),
      abi: erc20Abi,
      functionName: 'transfer',
      args: [STRANGER, 5n],
      gas: 100_000n,
    });
    await expect(attempt).rejects.toThrow(
      'The total cost (gas * gas fee + value) of executing this transaction exceeds',
    );
  });

  it('cannot be moved by a transaction for another chain', async () => {
    const { account, wallet, reader, token } = await customer('BASE');
    const before = await reader.getBlockNumber();
    const raw = await account.signTransaction({
      chainId: evmChains.OPTIMISM.id,
      to: token,
      gas: 100_000n,
      maxFeePerGas: 10n ** 10n,
      type: 'eip1559',
    });
    await expect(wallet.sendRawTransaction({ serializedTransaction: raw })).rejects.toThrow('invalid chain id');
    expect(await reader.getBlockNumber()).toBe(before);
  });

  it('moves once when the same signed transaction is sent twice', async () => {
    const { account, wallet, balanceOf, transfer, reader } = await customer('SCROLL');
    const hash = await transfer(STRANGER, 1_000_000n);
    const { input, gas, maxFeePerGas, to } = await reader.getTransaction({ hash });
    const raw = await wallet.signTransaction({ data: input, gas, maxFeePerGas: maxFeePerGas ?? 0n, to, nonce: 0 });
    await expect(wallet.sendRawTransaction({ serializedTransaction: raw })).rejects.toThrow('nonce too low');
    expect(await balanceOf(account.address)).toBe(49_000_000n);
  });
});

describe('the faucet', () => {
  it.each<[string, EvmChain, string, bigint, string]>([
    ['a token that the chain does not have', 'WORLDCHAIN', 'DAI', 1n, 'token_not_supported'],
    ['ETH on Rootstock, whose coin is another', 'ROOTSTOCK', 'ETH', 1n, 'token_not_supported'],
    ['nothing', 'BASE', 'USDC', 0n, 'invalid_request'],
    ['less than nothing', 'BASE', 'USDC', -1n, 'invalid_request'],
    ['more than there can be', 'BASE', 'USDC', 2n ** 255n, 'invalid_request'],
  ])('does not pay %s', async (_, chain, token, amount, code) => {
    await expect(app.chains.fund(chain, STRANGER, token as 'USDC', amount)).rejects.toMatchObject({ code });
  });

  it('pays to an address only', async () => {
    await expect(app.chains.fund('BASE', '0x12', 'USDC', 1n)).rejects.toMatchObject({ code: 'invalid_request' });
  });

  it('says so when the contract at the address does not take the money', async () => {
    const attempt = app.chains.fund('BASE', tokenOn('BASE', 'USDC'), 'ETH', 1n);
    await expect(attempt).rejects.toMatchObject({ code: 'invalid_request' });
  });

  it('answers the hash of a transaction that is in a block already', async () => {
    const hash = await app.chains.fund('BASE', STRANGER, 'DAI', 7n);
    expect(await ask(app.rpcUrl('base'), 'eth_getTransactionReceipt', [hash])).toMatchObject({ status: '0x1' });
  });
});
