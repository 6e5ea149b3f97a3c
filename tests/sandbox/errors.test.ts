import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { failure } from '../support/assertions.ts';
import type { Sandbox } from '../support/sandbox.ts';
import { startSandbox } from '../support/service.ts';
import { type Account, AMPLE, Client, call, libraries, STRK, transfer, USDC } from '../support/starknet-client.ts';

const RECEIVER = '0xb0b';

let sandbox: Sandbox;
let stop: () => Promise<void>;
beforeAll(async () => {
  ({ sandbox, stop } = await startSandbox());
});
afterAll(() => stop());

describe.each(libraries)('%s is told by type', (_name, library) => {
  let client: Client;
  let relayer: Account;
  beforeAll(async () => {
    client = new Client(library, sandbox);
    relayer = await client.funded('relayer 1');
  });
  const pay = (amount = 1) => transfer(STRK, RECEIVER, amount);

  it('that a contract is not there', async () => {
    const { provider } = client;
    await failure(provider.getNonceForAddress('0x404'), 'CONTRACT_NOT_FOUND');
    await failure(provider.getClassAt('0x404'), 'CONTRACT_NOT_FOUND');
    await failure(provider.getStorageAt('0x404', '0x0'), 'CONTRACT_NOT_FOUND');
    await failure(provider.callContract(call('0x404', 'balance_of', [1])), 'CONTRACT_NOT_FOUND');
  });

  it('that an entrypoint is not there', async () => {
    const asked = client.provider.callContract(call(USDC, 'no_such_entrypoint'));
    await failure(asked, 'ENTRYPOINT_NOT_FOUND');
    // A wallet without sessions can be told from a broken node by the code.
    const { address } = await client.openWallet('READY');
    const sessions = client.provider.callContract(call(address, 'get_session_data', [1]));
    expect(await failure(sessions, 'ENTRYPOINT_NOT_FOUND')).toEqual({
      code: 21,
      message: 'Requested entrypoint does not exist in the contract',
    });
  });

  it('that a call fails, with the reason', async () => {
    const asked = client.provider.callContract(call(USDC, 'transfer', [RECEIVER, 1, 0]));
    const felts = [library.shortString.encodeShortString('ERC20: transfer from 0')];
    expect((await failure(asked, 'CONTRACT_ERROR')).data).toMatchObject({
      revert_error: { error: JSON.stringify(felts) },
    });
  });

  it('that a transaction is not known', async () => {
    const { provider } = client;
    await failure(provider.getTransaction('0x404'), 'TXN_HASH_NOT_FOUND');
    await failure(provider.getTransactionReceipt('0x404'), 'TXN_HASH_NOT_FOUND');
    await failure(provider.getTransactionStatus('0x404'), 'TXN_HASH_NOT_FOUND');
  });

  it('that a class is not known', async () => {
    await failure(client.provider.getClassByHash('0x404'), 'CLASS_HASH_NOT_FOUND');
  });

  it('that a block is not there', async () => {
    await failure(client.provider.getBlock(1_000_000), 'BLOCK_NOT_FOUND');
    await failure(client.provider.getBlock('0x404'), 'BLOCK_NOT_FOUND');
    await failure(client.provider.getNonceForAddress(STRK, 1_000_000), 'BLOCK_NOT_FOUND');
  });

  it('that a nonce was used already, or is too far ahead', async () => {
    await client.send(relayer, pay());
    await failure(relayer.execute(pay(2), { ...AMPLE, nonce: 0 }), 'INVALID_TRANSACTION_NONCE');
    const nonce = BigInt(await relayer.getNonce()) + 201n;
    await failure(relayer.execute(pay(), { ...AMPLE, nonce }), 'INVALID_TRANSACTION_NONCE');
  });

  it('that the sender cannot pay the fee', async () => {
    const poor = await client.newWallet('SVC');
    await failure(poor.account.deployAccount(poor.deployment, AMPLE), 'INSUFFICIENT_ACCOUNT_BALANCE');
    const { resourceBounds } = AMPLE;
    const l2_gas = { ...resourceBounds.l2_gas, max_amount: 10n ** 17n };
    const sent = relayer.execute(pay(), { tip: 0n, resourceBounds: { ...resourceBounds, l2_gas } });
    await failure(sent, 'INSUFFICIENT_ACCOUNT_BALANCE');
  });

  it('that the bounds do not cover the fee', async () => {
    const { resourceBounds } = AMPLE;
    const l2_gas = { ...resourceBounds.l2_gas, max_price_per_unit: 1n };
    const sent = relayer.execute(pay(), { tip: 0n, resourceBounds: { ...resourceBounds, l2_gas } });
    await failure(sent, 'INSUFFICIENT_RESOURCES_FOR_VALIDATE');
  });

  it('that a resource has no price, used or not', async () => {
    const { resourceBounds } = AMPLE;
    const l1_gas = { max_amount: 0n, max_price_per_unit: 0n };
    const sent = relayer.execute(pay(), { tip: 0n, resourceBounds: { ...resourceBounds, l1_gas } });
    await failure(sent, 'INSUFFICIENT_RESOURCES_FOR_VALIDATE');
  });

  it.each([
    ['SVC', 'Account: invalid signature'],
    ['READY', 'argent/invalid-owner-sig'],
    ['plain', 'Account: invalid signature'],
  ] as const)('that an account of the kind %s did not sign, in its own words', async (kind, reason) => {
    const { address, account } = await client.openWallet(kind);
    const thief = client.account(address, library.stark.randomAddress());
    const { data } = await failure(thief.execute(pay(), AMPLE), 'VALIDATION_FAILURE');
    expect(data).toContain(`('${reason}')`);
    expect(BigInt(await account.getNonce())).toBe(1n);
    expect(await client.balance(STRK, address)).toBeGreaterThan(999n * 10n ** 18n);
  });

  it('that a transaction was sent before', async () => {
    const nonce = await relayer.getNonce();
    const first = await relayer.execute(pay(3), { ...AMPLE, nonce });
    await failure(relayer.execute(pay(3), { ...AMPLE, nonce }), 'DUPLICATE_TX');
    expect(await client.receipt(first.transaction_hash)).toMatchObject({ execution_status: 'SUCCEEDED' });
  });

  it('that a contract which is no account cannot send', async () => {
    await sandbox.faucet(USDC, 'STRK', '10');
    const attempt = client.account(USDC, '0x1').execute(pay(), { ...AMPLE, nonce: 0 });
    await failure(attempt, 'NON_ACCOUNT');
  });

  it('that a page is too large or a continuation is made up', async () => {
    const filter = { address: STRK, from_block: { block_number: 0 }, to_block: 'latest' as const };
    await failure(client.provider.getEvents({ ...filter, chunk_size: 1_025 }), 'PAGE_SIZE_TOO_BIG');
    const madeUp = client.provider.getEvents({ ...filter, chunk_size: 10, continuation_token: 'made-up' });
    await failure(madeUp, 'INVALID_CONTINUATION_TOKEN');
  });

  it('which of several estimated transactions fails, and why', async () => {
    const { data } = await failure(
      relayer.estimateFeeBulk([
        { type: 'INVOKE', ...pay() },
        { type: 'INVOKE', ...transfer(USDC, RECEIVER, 1) },
      ]),
      'TRANSACTION_EXECUTION_ERROR',
    );
    expect(data).toMatchObject({ transaction_index: 1 });
    expect(JSON.stringify(data)).toContain('ERC20: insufficient balance');
  });
});
