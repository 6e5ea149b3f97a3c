import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectReverted, expectSucceeded, failure } from '../support/assertions.ts';
import type { Sandbox } from '../support/sandbox.ts';
import { startSandbox } from '../support/service.ts';
import {
  type Account,
  AMPLE,
  Client,
  deploy,
  kinds,
  libraries,
  type Receipt,
  STRK,
  transfer,
  USDC,
  WAIT,
} from '../support/starknet-client.ts';

let sandbox: Sandbox;
let stop: () => Promise<void>;
beforeAll(async () => {
  ({ sandbox, stop } = await startSandbox());
});
afterAll(() => stop());

describe.each(libraries)('with %s', (_name, library) => {
  let client: Client;
  let relayer: Account;
  beforeAll(async () => {
    client = new Client(library, sandbox);
    relayer = await client.funded('relayer 1');
  });
  const newAddress = () => library.stark.randomAddress();

  describe.each(kinds)('an account of the kind %s', (kind) => {
    it('is deployed at the address that was funded before it existed, and pays for it', async () => {
      const wallet = await client.newWallet(kind);
      await failure(client.provider.getClassHashAt(wallet.address), 'CONTRACT_NOT_FOUND');
      await client.fund(wallet);
      const before = await client.balance(STRK, wallet.address);
      const sent = await wallet.account.deployAccount(wallet.deployment);
      const waited = await client.provider.waitForTransaction(sent.transaction_hash, WAIT);
      const receipt = waited.value as unknown as Receipt;
      expect(waited.isSuccess()).toBe(true);
      expect(receipt).toMatchObject({ type: 'DEPLOY_ACCOUNT', finality_status: 'ACCEPTED_ON_L2' });
      expect(BigInt(receipt.contract_address ?? 0)).toBe(BigInt(wallet.address));
      expect(BigInt(sent.contract_address)).toBe(BigInt(wallet.address));
      expect(await client.provider.getClassHashAt(wallet.address)).toBe(wallet.deployment.classHash);
      expect(BigInt(await wallet.account.getNonce())).toBe(1n);
      expect(await client.balance(STRK, wallet.address)).toBe(before - BigInt(receipt.actual_fee.amount));
    });

    it('sends tokens with one call and with several', async () => {
      const wallet = await client.openWallet(kind);
      const [one, other] = [newAddress(), newAddress()];
      const sent = await wallet.account.execute(transfer(USDC, one, 250));
      expectSucceeded(await client.receipt(sent.transaction_hash));
      const both = await wallet.account.execute([transfer(USDC, one, 1), transfer(USDC, other, 2n ** 20n)]);
      expectSucceeded(await client.receipt(both.transaction_hash));
      expect(await client.balance(USDC, one)).toBe(251n);
      expect(await client.balance(USDC, other)).toBe(2n ** 20n);
      expect(await client.balance(USDC, wallet.address)).toBe(1_000_000_000n - 251n - 2n ** 20n);
    });

    it('is not deployed by a key that is not its own', async () => {
      const wallet = await client.newWallet(kind);
      await client.fund(wallet);
      const stranger = client.account(wallet.address, newAddress());
      const { data } = await failure(stranger.deployAccount(wallet.deployment, AMPLE), 'VALIDATION_FAILURE');
      expect(data).toMatch(/Account: invalid signature|argent\/invalid-owner-sig/);
      await failure(client.provider.getClassHashAt(wallet.address), 'CONTRACT_NOT_FOUND');
    });
  });

  describe('a multicall with one failing call', () => {
    it.each(['SVC', 'READY', 'plain'] as const)('of the kind %s has no effect at all', async (kind) => {
      const { account } = await client.openWallet(kind);
      const receiver = newAddress();
      const calls = [transfer(USDC, receiver, 5), transfer(USDC, receiver, 10n ** 30n), transfer(USDC, receiver, 6)];
      const receipt = await client.send(account, calls);
      expectReverted(receipt, 'ERC20: insufficient balance');
      expect(await client.balance(USDC, receiver)).toBe(0n);
      expect(receipt.events.map((event) => BigInt(event.from_address))).toEqual([BigInt(STRK)]);
      expect(BigInt(await account.getNonce())).toBe(2n);
      await failure(account.estimateInvokeFee(calls), 'TRANSACTION_EXECUTION_ERROR');
    });

    it.each(['SVC with policies', 'SVC with sessions'] as const)('of the earlier %s skips it', async (kind) => {
      const { account } = await client.openWallet(kind);
      const receiver = newAddress();
      const calls = [transfer(USDC, receiver, 5), transfer(USDC, receiver, 10n ** 30n), transfer(USDC, receiver, 6)];
      expectSucceeded(await client.send(account, calls));
      expect(await client.balance(USDC, receiver)).toBe(11n);
    });
  });

  it('deploys through the universal deployer, for itself and for others', async () => {
    const classHash = await client.classHashOf('plain');
    const salt = newAddress();
    // deployContract would sleep for seconds before it reads the receipt.
    const deployed = await relayer.deploy({ classHash, salt, constructorCalldata: ['0x5'] }, AMPLE);
    expectSucceeded(await client.receipt(deployed.transaction_hash));
    expect(await client.provider.getClassHashAt(deployed.contract_address[0] ?? '')).toBe(classHash);
    const { deployment, address } = await client.newWallet('READY');
    expectSucceeded(await client.send(relayer, deploy(deployment)));
    expect(await client.provider.getClassHashAt(address)).toBe(deployment.classHash);
    expect((await client.send(relayer, deploy(deployment))).execution_status).toBe('REVERTED');
  });

  it('declares a class once', async () => {
    const contract = {
      sierra_program: ['0x1', '0x6', '0x0', '0x2', '0x8', newAddress()],
      contract_class_version: '0.1.0',
      entry_points_by_type: { CONSTRUCTOR: [], EXTERNAL: [], L1_HANDLER: [] },
      abi: [],
      sierra_program_debug_info: { type_names: [], libfunc_names: [], user_func_names: [] },
    };
    const declared = await relayer.declare({ contract, compiledClassHash: '0x123' });
    expect(BigInt(declared.class_hash)).toBe(BigInt(library.hash.computeContractClassHash(contract)));
    expect(await client.receipt(declared.transaction_hash)).toMatchObject({ type: 'DECLARE' });
    const shown = await client.provider.getClassByHash(declared.class_hash);
    expect(shown).toMatchObject({ sierra_program: contract.sierra_program });
    await failure(relayer.declare({ contract, compiledClassHash: '0x123' }, AMPLE), 'CLASS_ALREADY_DECLARED');
  });
});
