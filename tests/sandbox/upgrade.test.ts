import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectSucceeded } from '../support/assertions.ts';
import type { Sandbox } from '../support/sandbox.ts';
import { startSandbox } from '../support/service.ts';
import { Client, call, libraries, STRK, transfer, USDC } from '../support/starknet-client.ts';

let sandbox: Sandbox;
let stop: () => Promise<void>;
beforeAll(async () => {
  ({ sandbox, stop } = await startSandbox());
});
afterAll(() => stop());

const BOB = '0xb0b';

describe.each(libraries)('with %s', (_name, library) => {
  it.each(['SVC with policies', 'SVC with sessions', 'READY'] as const)(
    'a wallet of the kind %s becomes one of the current class and keeps address, owner, balance and history',
    async (kind) => {
      const client = new Client(library, sandbox);
      const { account, address, publicKey } = await client.openWallet(kind);
      const earlier = await client.send(account, transfer(USDC, BOB, 5));
      expectSucceeded(earlier);
      const before = await client.balance(USDC, address);
      const target = await client.classHashOf('SVC');
      // READY passes data to the new class; here it is empty.
      const data = kind === 'READY' ? [target, 0] : [target];
      expectSucceeded(await client.send(account, call(address, 'upgrade', data)));

      expect(await client.provider.getClassHashAt(address)).toBe(target);
      expect(await client.balance(USDC, address)).toBe(before);
      expect((await client.receipt(earlier.transaction_hash)).block_hash).toBe(earlier.block_hash);
      const owner = await client.provider.callContract({ contractAddress: address, entrypoint: 'get_public_key' });
      expect(owner.map(BigInt)).toEqual([BigInt(publicKey)]);
      expectSucceeded(await client.send(client.account(address, account.signer), transfer(USDC, BOB, 1)));
      expect(await client.balance(USDC, address)).toBe(before - 1n);
    },
  );

  it('an upgrade is for the account itself, and never to nothing', async () => {
    const client = new Client(library, sandbox);
    const { account, address } = await client.openWallet('SVC');
    const relayer = await client.funded('relayer 1');
    const attempts = [
      await client.send(relayer, call(address, 'upgrade', [await client.classHashOf('SVC with policies')])),
      await client.send(account, call(address, 'upgrade', [0])),
      await client.send(account, call(address, 'upgrade', [0xdead])),
    ];
    expect(attempts.map(({ execution_status }) => execution_status)).toEqual(['REVERTED', 'REVERTED', 'REVERTED']);
    expect(await client.provider.getClassHashAt(address)).toBe(await client.classHashOf('SVC'));
  });

  it('gasless is visible: the relayer pays the fee, and the user never does', async () => {
    const client = new Client(library, sandbox);
    const { account, address } = await client.openWallet('SVC');
    const relayer = await client.funded('relayer 2');
    const [user, payer] = [await client.balance(STRK, address), await client.balance(STRK, relayer.address)];
    const receipt = await client.sendFor(relayer, account, transfer(USDC, BOB, 5));
    expectSucceeded(receipt);
    expect(await client.balance(STRK, address)).toBe(user);
    expect(await client.balance(STRK, relayer.address)).toBe(payer - BigInt(receipt.actual_fee.amount));
    expect(BigInt(receipt.actual_fee.amount)).toBeGreaterThan(0n);
  });
});
