import { endpoints, type Transaction } from '@svc/protocol';
import {
  type Address,
  createWalletClient,
  defineChain,
  encodeFunctionData,
  erc20Abi,
  type Hex,
  http,
  parseEther,
} from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { App } from '../support/app.ts';
import { expectAnswer, expectError } from '../support/assertions.ts';
import { keyHeaders, userToken } from '../support/client.ts';
import { eventually } from '../support/eventually.ts';
import { Sandbox } from '../support/sandbox.ts';
import { type AnyService, TestService } from '../support/service.ts';

const ARBITRUM_USDC = '0xaf88d065e77c8cC2239327C5EDb3A432268e5831';
const TO = '0x00000000000000000000000000000000000B0b00';

let service: AnyService;
let app: App;
let sandbox: Sandbox;

beforeAll(async () => {
  service = await TestService.shared();
  app = new App(service.server);
  sandbox = new Sandbox(service.server);
});
afterAll(() => service.stop());

/** An account with ETH and USDC on ARBITRUM. */
async function holder() {
  const account = privateKeyToAccount(generatePrivateKey());
  for (const [token, amount] of [
    ['ETH', '2'],
    ['USDC', '50'],
  ]) {
    await sandbox.ask('/faucet', { chain: 'ARBITRUM', address: account.address, token, amount });
  }
  const url = `${sandbox.url}/evm/arbitrum/rpc`;
  const chain = defineChain({
    id: 42_161,
    name: 'ARBITRUM',
    nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
    rpcUrls: { default: { http: [url] } },
  });
  const wallet = createWalletClient({ account, chain, transport: http(url) });
  const send = (to: Address, value: bigint, data?: Hex) =>
    wallet.sendTransaction({ to, value, gas: 200_000n, ...(data && { data }) });
  return { address: account.address, send };
}

const usdcTransfer = (amount: bigint) =>
  encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [TO, amount] });

describe('balances on an EVM chain', () => {
  it('are told of tokens and of the own coin', async () => {
    const { address } = await holder();
    expect(await app.balance(address, 'USDC', 'ARBITRUM')).toBe(50_000_000n);
    expect(await app.balance(address.toLowerCase(), 'ETH', 'ARBITRUM')).toBe(parseEther('2'));
    const coin = await app.get(`/svc-wallets/token-balance?chainToken=ETH&chain=ARBITRUM&walletPublicKey=${address}`);
    expectAnswer(coin, endpoints.getTokenBalance);
    expect(coin.body).toMatchObject({ decimals: 18, chainTokenAddress: `0x${'0'.repeat(40)}` });
  });

  it('are refused for a token that the chain does not have, and for a user who has no address there', async () => {
    const query = (rest: string) => app.get(`/svc-wallets/token-balance?chain=ARBITRUM&${rest}`);
    expectError(await query(`chainToken=STRK&walletPublicKey=${TO}`), 400, 'token_not_supported');
    expectError(await query(`chainToken=OTHER&walletPublicKey=${TO}`), 400, 'token_not_supported');
    expectError(await query('chainToken=USDC&externalUserId=ana'), 400, 'unsupported_chain');
    expectError(await query('chainToken=USDC&walletPublicKey=0x123'), 400, 'invalid_request');
    expectError(await query('chainToken=USDC'), 400, 'invalid_request');
    expectError(await query(`chainToken=USDC&walletPublicKey=${TO}&externalUserId=ana`), 400, 'invalid_request');
  });
});

describe('a send on an EVM chain', () => {
  const expectation = (hash: string, sender: string, token: string, amount: string) => ({
    transactionHash: hash,
    expectedSender: sender,
    expectedRecipient: TO.toLowerCase(),
    expectedToken: token,
    expectedAmount: amount,
    chain: 'ARBITRUM',
  });

  it.each([
    ['tokens', 'USDC', '1.25', '1250000'],
    ['the own coin', 'ETH', '0.5', '500000000000000000'],
  ])('of %s is recorded, confirmed and listed', async (_, token, human, raw) => {
    const { address, send } = await holder();
    const hash =
      token === 'ETH' ? await send(TO, BigInt(raw)) : await send(ARBITRUM_USDC, 0n, usdcTransfer(BigInt(raw)));
    const reply = await app.post('/transactions/record-send', expectation(hash, address, token, human));
    expectAnswer(reply, endpoints.recordSend);
    expect(reply.body).toMatchObject({ chain: 'ARBITRUM', type: 'SEND', token, amount: raw, status: 'PENDING' });
    const again = await app.post('/transactions/record-send', expectation(hash, address.toLowerCase(), token, human));
    expect((again.body as Transaction).id).toBe((reply.body as Transaction).id);
    const done = await eventually(
      () => app.get(`/transactions/${hash}`),
      ({ body }) => (body as Transaction).status !== 'PENDING',
    );
    expect(done.body).toMatchObject({ status: 'SUCCESS', confirmedAt: expect.any(String) });
    const list = await app.get(`/transactions/transaction-list?walletAddress=${address}`);
    expect(list.body).toMatchObject({ total: 1, data: [{ id: (reply.body as Transaction).id }] });
  });

  it('that failed or does not match is refused', async () => {
    const { address, send } = await holder();
    const failed = await send(ARBITRUM_USDC, 0n, usdcTransfer(10n ** 12n));
    const recorded = (hash: string, amount: string) =>
      app.post('/transactions/record-send', expectation(hash, address, 'USDC', amount));
    expectError(await recorded(failed, '1000000'), 400, 'transaction_reverted');
    const hash = await send(ARBITRUM_USDC, 0n, usdcTransfer(5n));
    expectError(await recorded(hash, '0.000006'), 400, 'transaction_mismatch');
    expectError(await recorded(`0x${'ab'.repeat(32)}`, '1'), 400, 'transaction_not_found');
  });

  it('is recorded with the secret key only, because no user is known to own the address', async () => {
    const token = await userToken(service.server, 'ana');
    const user = new App(service.server, { ...keyHeaders(service.server), authorization: `Bearer ${token}` });
    const body = expectation(`0x${'ab'.repeat(32)}`, TO, 'USDC', '1');
    expectError(await user.post('/transactions/record-send', body), 401, 'secret_key_required');
  });
});
