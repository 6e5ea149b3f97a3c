import { accountAddress, classes, starkKey, toHex } from '@svc/starknet';
import { Account, logger, PaymasterRpc, RpcProvider } from 'starknet';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { tokenAddress } from '../../../testing/chain.ts';
import { API_KEY, PaymasterFixture } from '../../../testing/paymaster.ts';

// The library says at every call that a young chain has too few transactions to estimate a tip from.
logger.setLogLevel('ERROR');

let fixture: PaymasterFixture;

beforeAll(async () => {
  fixture = await PaymasterFixture.start();
});
afterAll(() => fixture.stop());

const sponsored = { feeMode: { mode: 'sponsored' } } as const;
const payment = (amount: number) => ({
  contractAddress: toHex(tokenAddress('USDC')),
  entrypoint: 'transfer',
  calldata: ['0xb0b', String(amount), '0x0'],
});

function paymaster(apiKey = API_KEY): PaymasterRpc {
  return new PaymasterRpc({ nodeUrl: fixture.server.url, headers: { 'x-paymaster-api-key': apiKey } });
}

/** An account of the library, and what deploys it. Every test has its own private keys. */
function accountOf(privateKey: bigint, { apiKey = API_KEY, signer = privateKey } = {}) {
  const publicKey = starkKey(privateKey);
  const address = toHex(accountAddress(classes.svc, publicKey));
  const provider = new RpcProvider({ nodeUrl: fixture.sandbox.rpcUrl });
  const account = new Account({ provider, address, signer: toHex(signer), paymaster: paymaster(apiKey) });
  const salt = toHex(publicKey);
  const deploymentData = { address, class_hash: toHex(classes.svc), salt, calldata: [salt], version: 1 as const };
  return { account, address: BigInt(address), deploymentData };
}

async function deployed(privateKey: bigint) {
  const { account, address, deploymentData } = accountOf(privateKey);
  await account.executePaymasterTransaction([], { ...sponsored, deploymentData });
  await fixture.sandbox.fund(address);
  return account;
}

describe('the local paymaster, as starknet.js sees it', () => {
  it('is available and names its tokens', async () => {
    expect(await paymaster().isAvailable()).toBe(true);
    expect(await paymaster().getSupportedTokens()).toMatchObject([{ decimals: 18, priceInStrk: 10n ** 18n }]);
  });

  it('executes what an account signs', async () => {
    const account = await deployed(0x29_01n);
    const before = await fixture.balance(0xb0bn);
    const { transaction_hash } = await account.executePaymasterTransaction([payment(7)], sponsored);
    expect((await fixture.chain.receipt(BigInt(transaction_hash)))?.status).toBe('ACCEPTED_ON_L2');
    expect(await fixture.balance(0xb0bn)).toBe(before + 7n);
  });

  it('deploys an account with its first calls, or alone', async () => {
    const [first, other] = [accountOf(0x29_02n), accountOf(0x29_03n)];
    await fixture.sandbox.fund(first.address);
    const before = await fixture.balance(0xb0bn);
    const { deploymentData } = first;
    await first.account.executePaymasterTransaction([payment(3)], { ...sponsored, deploymentData });
    expect(await fixture.balance(0xb0bn)).toBe(before + 3n);
    const alone = { ...sponsored, deploymentData: other.deploymentData };
    await other.account.executePaymasterTransaction([], alone);
    expect(await fixture.chain.classHashAt(other.address)).toBe(classes.svc);
  });

  it('says no in the words of SNIP-29', async () => {
    const account = await deployed(0x29_04n);
    const poor = account.executePaymasterTransaction([payment(5_000)], sponsored);
    await expect(poor).rejects.toMatchObject({ baseError: { code: 156 } });
    const stranger = accountOf(0x29_04n, { apiKey: 'wrong' }).account;
    await expect(stranger.executePaymasterTransaction([payment(1)], sponsored)).rejects.toMatchObject({
      baseError: { code: 163 },
    });
    const timeBounds = { executeBefore: 1_000 };
    const late = account.executePaymasterTransaction([payment(1)], { ...sponsored, timeBounds });
    await expect(late).rejects.toMatchObject({ baseError: { code: 157 } });
    const thief = accountOf(0x29_04n, { signer: 0x666n }).account;
    await expect(thief.executePaymasterTransaction([payment(1)], sponsored)).rejects.toMatchObject({
      baseError: { code: 153 },
    });
    const calls = [{ to: '0x1', selector: '0x2', calldata: [] }];
    await expect(build({ type: 'invoke', invoke: { user_address: '0xdead', calls } })).resolves.toBe(150);
    await expect(build({ type: 'invoke', invoke: { user_address: '0xdead', calls: [] } })).resolves.toBe(156);
    await expect(build({ type: 'invoke' })).resolves.toBe(-32602);
  });
});

/** The code of the error with which the paymaster refuses to build, without the library. */
async function build(transaction: object): Promise<number> {
  const parameters = { version: '0x1', fee_mode: { mode: 'sponsored' } };
  const method = 'paymaster_buildTransaction';
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { transaction, parameters } });
  const headers = { 'x-paymaster-api-key': API_KEY };
  const answer = await fetch(fixture.server.url, { method: 'POST', headers, body });
  return ((await answer.json()) as { error: { code: number } }).error.code;
}
