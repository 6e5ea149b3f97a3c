import { OutsideExecutionVersion, type TypedData } from 'starknet';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { expectReverted, expectSucceeded } from '../support/assertions.ts';
import type { Sandbox } from '../support/sandbox.ts';
import { startSandbox } from '../support/service.ts';
import { type Account, AMPLE, Client, deploy, libraries, STRK, transfer, USDC } from '../support/starknet-client.ts';

const { V1, V2 } = OutsideExecutionVersion;
const ANY_CALLER = '0x414e595f43414c4c4552';
const SANDBOX_CHAIN_ID = '0x5356435f53414e44424f58';

/** Revert reasons of each account class. */
const words = {
  SVC: {
    caller: 'SRC9: invalid caller',
    early: 'SRC9: now <= execute_after',
    late: 'SRC9: now >= execute_before',
    duplicate: 'SRC9: duplicated nonce',
    signature: 'Account: invalid signature',
  },
  READY: {
    caller: 'argent/invalid-caller',
    early: 'argent/invalid-timestamp',
    late: 'argent/invalid-timestamp',
    duplicate: 'argent/duplicated-outside-nonce',
    signature: 'argent/invalid-owner-sig',
  },
} as const;

const ways = [
  ['SVC', V2],
  ['READY', V2],
  ['READY', V1],
] as const;

const message: TypedData = {
  types: {
    StarknetDomain: [
      { name: 'name', type: 'shortstring' },
      { name: 'version', type: 'shortstring' },
      { name: 'chainId', type: 'shortstring' },
      { name: 'revision', type: 'shortstring' },
    ],
    Greeting: [
      { name: 'To', type: 'ContractAddress' },
      { name: 'Words', type: 'string' },
    ],
  },
  primaryType: 'Greeting',
  domain: { name: 'svc', version: '1', chainId: SANDBOX_CHAIN_ID, revision: '1' },
  message: { To: '0xb0b', Words: 'Good morning, whoever you are, and a happy new year to you' },
};

let sandbox: Sandbox;
let stop: () => Promise<void>;
beforeAll(async () => {
  ({ sandbox, stop } = await startSandbox());
});
afterAll(() => stop());
afterEach(() => sandbox.thaw());

describe.each(libraries)('with %s', (_name, library) => {
  let client: Client;
  let relayer: Account;
  beforeAll(async () => {
    client = new Client(library, sandbox);
    relayer = await client.funded('relayer 1');
  });
  const newAddress = () => library.stark.randomAddress();

  it.each(['SVC', 'SVC with policies', 'SVC with sessions', 'READY', 'plain'] as const)(
    'typed data that an account of the kind %s signed is verified on the chain',
    async (kind) => {
      const { account, address } = await client.openWallet(kind);
      const signature = await account.signMessage(message);
      const verify = (data: TypedData, signed = signature, by = address) =>
        client.provider.verifyMessageInStarknet(data, signed, by);
      expect(await verify(message)).toBe(true);
      expect(await verify({ ...message, message: { ...message.message, To: '0xb0c' } })).toBe(false);
      const forged = await client.account(address, newAddress()).signMessage(message);
      expect(await verify(message, forged)).toBe(false);
    },
  );

  describe.each(ways)('an account of the kind %s, version %s of outside execution,', (kind, version) => {
    const says = words[kind];
    const open = async () => {
      const { account, address, privateKey } = await client.openWallet(kind);
      return { account, address, privateKey, receiver: newAddress() };
    };
    const relay = async (signed: Awaited<ReturnType<Account['getOutsideTransaction']>>, by = relayer) => {
      const nonce = await client.provider.getNonceForAddress(by.address, 'pre_confirmed');
      return client.receipt((await by.executeFromOutside(signed, { ...AMPLE, nonce })).transaction_hash);
    };

    it('lets a relayer send and pay: its STRK falls by the fee, the user keeps every unit', async () => {
      const { account, address, receiver } = await open();
      const [mine, theirs] = [await client.balance(STRK, relayer.address), await client.balance(STRK, address)];
      const calls = [transfer(USDC, receiver, 40), transfer(USDC, receiver, 2)];
      const signed = await account.getOutsideTransaction(await client.window(), calls, version);
      expect(signed.version).toBe(version);
      const receipt = await relay(signed);
      expectSucceeded(receipt);
      expect(await client.balance(USDC, receiver)).toBe(42n);
      const fee = BigInt(receipt.actual_fee.amount);
      expect(fee).toBeGreaterThan(0n);
      expect(await client.balance(STRK, relayer.address)).toBe(mine - fee);
      expect(await client.balance(STRK, address)).toBe(theirs);
      expect(BigInt(await account.getNonce())).toBe(1n);
    });

    it('executes what was signed once only', async () => {
      const { account, receiver } = await open();
      const signed = await account.getOutsideTransaction(await client.window(), transfer(USDC, receiver, 5), version);
      const { nonce } = signed.outsideExecution;
      expect(await account.isValidSnip9Nonce(nonce)).toBe(true);
      expectSucceeded(await relay(signed));
      expect(await account.isValidSnip9Nonce(nonce)).toBe(false);
      expectReverted(await relay(signed), says.duplicate);
      expect(await client.balance(USDC, receiver)).toBe(5n);
    });

    it('executes after one second and before another, and at neither', async () => {
      const { account, receiver } = await open();
      const now = await sandbox.freeze();
      const send = async (execute_after: number, execute_before: number) => {
        const window = { caller: 'ANY_CALLER', execute_after, execute_before };
        return relay(await account.getOutsideTransaction(window, transfer(USDC, receiver, 5), version));
      };
      expectReverted(await send(now, now + 10), says.early);
      expectReverted(await send(now - 10, now), says.late);
      expectSucceeded(await send(now - 1, now + 1));
      await sandbox.thaw();
      expect(await client.balance(USDC, receiver)).toBe(5n);
    });

    it('obeys the sender that it names, and no other', async () => {
      const { account, receiver } = await open();
      const other = await client.funded('relayer 2');
      const window = { ...(await client.window()), caller: other.address };
      const signed = await account.getOutsideTransaction(window, transfer(USDC, receiver, 5), version);
      expectReverted(await relay(signed), says.caller);
      expectSucceeded(await relay(signed, other));
    });

    it('obeys its owner alone, and exactly what was signed', async () => {
      const { account, address, receiver } = await open();
      const window = await client.window();
      const thief = client.account(address, newAddress());
      const stolen = await thief.getOutsideTransaction(window, transfer(USDC, receiver, 5), version);
      expectReverted(await relay(stolen), says.signature);
      const signed = await account.getOutsideTransaction(window, transfer(USDC, receiver, 5), version);
      const [only] = signed.outsideExecution.calls;
      const changed = { ...signed.outsideExecution, calls: [{ ...only, to: STRK }] };
      expectReverted(await relay({ ...signed, outsideExecution: changed } as typeof signed), says.signature);
      expect(await client.balance(USDC, receiver)).toBe(0n);
    });

    it('is deployed and used in one transaction of the relayer, without ever holding STRK', async () => {
      const { account, address, deployment } = await client.newWallet(kind);
      const receiver = newAddress();
      await sandbox.faucet(address, 'USDC', '7');
      const payment = transfer(USDC, receiver, 7_000_000);
      const { outsideExecution: outside } = library;
      // The library queries a deployed account for its interfaces, so this one is built by hand.
      const [execute_after, execute_before] = [1, (await sandbox.clock()) + 60];
      const window = { caller: ANY_CALLER, execute_after, execute_before };
      const nonce = newAddress();
      const typed = outside.getTypedData(SANDBOX_CHAIN_ID, window, nonce, [payment], version);
      const signed = {
        // In the order of the contract's struct.
        outsideExecution: {
          caller: window.caller,
          nonce,
          execute_after: window.execute_after,
          execute_before: window.execute_before,
          calls: [outside.getOutsideCall(payment)],
        },
        signature: await account.signMessage(typed),
        signerAddress: address,
        version,
      };
      expectSucceeded(await client.send(relayer, [deploy(deployment), ...outside.buildExecuteFromOutsideCall(signed)]));
      expect(await client.balance(USDC, receiver)).toBe(7_000_000n);
      expect(await client.balance(STRK, address)).toBe(0n);
    });
  });

  it('an account says which version it knows, and does not obey another', async () => {
    const { account, address } = await client.openWallet('SVC');
    expect(await account.getSnip9Version()).toBe(V2);
    expect(await (await client.openWallet('READY')).account.getSnip9Version()).toBe(V2);
    expect(await relayer.getSnip9Version()).toBe(OutsideExecutionVersion.UNSUPPORTED);
    const signed = await account.getOutsideTransaction(await client.window(), transfer(USDC, '0xb0b', 1), V1);
    await expect(relayer.executeFromOutside(signed)).rejects.toThrow('ENTRYPOINT_NOT_FOUND');
    expect(await client.balance(USDC, address)).toBe(1_000_000_000n);
  });
});
