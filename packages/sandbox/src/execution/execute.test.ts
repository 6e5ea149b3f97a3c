import { declareHash, decodeCalls, selector, sign, starkKey } from '@svc/starknet';
import { beforeEach, describe, expect, it } from 'vitest';
import { call, STRK, signature, TestChain, transfer, USDC } from '../../testing/test-chain.ts';
import { plainAccount } from '../contracts/plain-account.ts';
import { predeployed } from '../contracts/predeployed.ts';
import { executeTransaction } from './execute.ts';
import type { DeclareTransaction, Executed, Refused } from './types.ts';

const ALICE = 0xa11cen;
const [relayer, other] = predeployed.relayers;
const { manager, sequencer } = predeployed;

function executed(outcome: Executed | Refused): Executed {
  if (!('status' in outcome)) throw new Error(`refused: ${outcome.refused} ${outcome.reason}`);
  return outcome;
}

describe('executeTransaction', () => {
  let chain: TestChain;
  beforeEach(() => {
    chain = new TestChain();
  });

  it('transfers, takes the fee from the sender to the sequencer, and shows both events in order', async () => {
    const before = await chain.balance(STRK, manager.address);
    const outcome = await chain.must(manager, [transfer(USDC, ALICE, 5_000_000n)]);
    const transferred = selector('Transfer');
    expect(outcome.events).toEqual([
      { from: USDC, keys: [transferred, manager.address, ALICE], data: [5_000_000n, 0n] },
      { from: STRK, keys: [transferred, manager.address, sequencer.address], data: [outcome.fee, 0n] },
    ]);
    expect(await chain.balance(USDC, ALICE)).toBe(5_000_000n);
    expect(await chain.balance(STRK, manager.address)).toBe(before - outcome.fee);
    expect(await chain.balance(STRK, sequencer.address)).toBe(outcome.fee);
    expect(await chain.nonceAt(manager.address)).toBe(1n);
  });

  it('leaves the state that it reads from alone', async () => {
    const tx = await chain.invocation(manager, [transfer(USDC, ALICE, 1n)]);
    await executeTransaction(chain, chain.block, tx);
    expect(await chain.balance(USDC, ALICE)).toBe(0n);
    expect(await chain.nonceAt(manager.address)).toBe(0n);
  });

  it('reverts a multicall as a whole, keeping nonce and fee, and says where and why', async () => {
    const outcome = executed(
      await chain.send(relayer, [transfer(STRK, ALICE, 1n), transfer(USDC, ALICE, 1n), transfer(STRK, ALICE, 2n)]),
    );
    expect(outcome.status).toBe('REVERTED');
    expect(outcome.revertReason).toBe(
      `Transaction execution has failed:\n0: Error in the called contract (contract address: ${hex64(relayer.address)}, class hash: ${hex64(plainAccount.classHash)}, selector: ${hex64(selector('__execute__'))}):\n` +
        'Execution failed. Failure reason:\n' +
        `Error in contract (contract address: ${hex64(relayer.address)}, class hash: ${hex64(plainAccount.classHash)}, selector: ${hex64(selector('__execute__'))}):\n` +
        `Error in contract (contract address: ${hex64(USDC)}, class hash: ${hex64(await chain.classHashAt(USDC))}, selector: ${hex64(selector('transfer'))}):\n` +
        "0x45524332303a20696e73756666696369656e742062616c616e6365 ('ERC20: insufficient balance').\n",
    );
    expect(outcome.revertError).toMatchObject({
      contract_address: `0x${relayer.address.toString(16)}`,
      error: {
        contract_address: `0x${USDC.toString(16)}`,
        error: "0x45524332303a20696e73756666696369656e742062616c616e6365 ('ERC20: insufficient balance')",
      },
    });
    expect(await chain.balance(STRK, ALICE)).toBe(0n);
    expect(await chain.nonceAt(relayer.address)).toBe(1n);
    expect(outcome.events.map((event) => event.keys[2])).toEqual([sequencer.address]);
    expect(await chain.balance(STRK, sequencer.address)).toBe(outcome.fee);
  });

  it('keeps only nonce and the two fee balances in the diff of a reverted transaction', async () => {
    const { diff } = executed(await chain.send(relayer, [transfer(USDC, ALICE, 1n)]));
    expect([...diff.storage.keys()]).toEqual([STRK]);
    expect(diff.storage.get(STRK)?.size).toBe(2);
    expect([...diff.nonces]).toEqual([[relayer.address, 1n]]);
    expect(diff.classHashes.size + diff.declared.size).toBe(0);
  });

  it.each([
    ['behind', -1n],
    ['ahead', 1n],
  ])('refuses a nonce that is %s', async (_name, step) => {
    await chain.must(relayer, [transfer(STRK, ALICE, 1n)]);
    const nonce = (await chain.nonceAt(relayer.address)) + step;
    const outcome = await chain.send(relayer, [transfer(STRK, ALICE, 1n)], { nonce });
    expect(outcome).toMatchObject({ refused: 'INVALID_NONCE' });
    expect(await chain.nonceAt(relayer.address)).toBe(1n);
  });

  it('refuses the signature of another key and takes neither nonce nor fee', async () => {
    const tx = await chain.invocation(relayer, [transfer(STRK, ALICE, 1n)]);
    const forged = { ...tx, signature: signature(tx.hash, other.privateKey) };
    const outcome = await chain.run(forged);
    expect(outcome).toMatchObject({ refused: 'VALIDATION_FAILURE' });
    expect((outcome as Refused).reason).toMatch(/^Transaction validation has failed:\n0: Error in the called contract/);
    expect((outcome as Refused).reason).toContain("('Account: invalid signature').");
    expect(await chain.nonceAt(relayer.address)).toBe(0n);
    expect(await chain.balance(STRK, sequencer.address)).toBe(0n);
  });

  it('refuses a signature for other calls', async () => {
    const tx = await chain.invocation(relayer, [transfer(STRK, ALICE, 1n)]);
    const changed = await chain.invocation(relayer, [transfer(STRK, ALICE, 2n)], { signature: tx.signature });
    expect(await chain.run(changed)).toMatchObject({ refused: 'VALIDATION_FAILURE' });
  });

  it('refuses a sender that is not there, and one that is no account', async () => {
    const send = (address: bigint) => chain.send({ address, privateKey: 1n }, []);
    expect(await send(0x123n)).toMatchObject({ refused: 'INSUFFICIENT_BALANCE' });
    expect(await send(USDC)).toMatchObject({ refused: 'INSUFFICIENT_BALANCE' });
    for (const address of [0x123n, USDC]) await chain.mint(STRK, address, 10n ** 20n);
    expect(await send(0x123n)).toMatchObject({ refused: 'CONTRACT_NOT_FOUND' });
    expect(await send(USDC)).toMatchObject({ refused: 'NON_ACCOUNT' });
  });

  it('refuses calldata and signatures of unreasonable length', async () => {
    const long = await chain.invocation(relayer, [call(STRK, 'transfer', new Array(5_000).fill(0n))]);
    expect(await chain.run(long)).toMatchObject({ refused: 'VALIDATION_FAILURE' });
    const signed = await chain.invocation(relayer, [], { signature: new Array(4_001).fill(1n) });
    expect(await chain.run(signed)).toMatchObject({ refused: 'VALIDATION_FAILURE' });
  });

  it('reverts calls to nothing with the address, and no contract can go on after it', async () => {
    const outcome = executed(await chain.send(relayer, [call(0x123n, 'transfer')]));
    expect(outcome.revertReason).toContain(`Requested contract address ${hex64(0x123n)} is not deployed.`);
    expect(outcome.revertReason).toContain('1: Error in the called contract');
  });

  it('reverts a call of a function that is not there', async () => {
    const outcome = executed(await chain.send(relayer, [call(STRK, 'no_such_function')]));
    expect(outcome.revertReason).toContain("('ENTRYPOINT_NOT_FOUND').");
  });

  it('reverts at more calls than a transaction may make, and still charges the fee', async () => {
    const calls = Array.from({ length: 1_000 }, () => call(STRK, 'decimals'));
    const outcome = executed(await chain.send(relayer, calls));
    expect(outcome.revertReason).toContain('A transaction makes at most 1000 calls here.');
    expect(await chain.balance(STRK, sequencer.address)).toBe(outcome.fee);
    expect(executed(await chain.send(relayer, calls.slice(1))).status).toBe('SUCCEEDED');
  });

  it('reverts with a text that was asked for', async () => {
    const tx = await chain.invocation(relayer, [transfer(STRK, ALICE, 1n)]);
    const outcome = executed(await chain.run(tx, { forceRevert: 'ordered' }));
    expect(outcome).toMatchObject({ status: 'REVERTED', revertReason: 'ordered' });
    expect(await chain.balance(STRK, ALICE)).toBe(0n);
    expect(await chain.nonceAt(relayer.address)).toBe(1n);
  });

  it('passes over validation, fee and nonce where an estimate asks for it', async () => {
    const tx = await chain.invocation(relayer, [transfer(STRK, ALICE, 1n)], {
      nonce: 77n,
      resourceBounds: { l1Gas: none, l1DataGas: none, l2Gas: none },
      signature: [],
    });
    const outcome = executed(await chain.run(tx, { skipValidate: true, skipFee: true, skipNonce: true }));
    expect(outcome.status).toBe('SUCCEEDED');
    expect(outcome.fee).toBeGreaterThan(0n);
    expect(await chain.balance(STRK, sequencer.address)).toBe(0n);
    expect(outcome.events).toHaveLength(1);
  });

  it('shows the calls of calls in its trace', async () => {
    const { trace } = await chain.must(relayer, [transfer(STRK, ALICE, 1n)]);
    expect(trace.validate).toMatchObject({ address: relayer.address, caller: 0n, failed: false });
    expect(trace.execute).toMatchObject({
      address: relayer.address,
      calls: [{ address: STRK, caller: relayer.address, result: [1n], failed: false, events: [{ order: 0 }] }],
    });
    expect(trace.feeTransfer).toMatchObject({ address: STRK, caller: relayer.address });
    expect(decodeCalls(trace.execute?.calldata ?? [])).toHaveLength(1);
  });
});

describe('deploy account', () => {
  const KEY = 0x5eedn;
  let chain: TestChain;
  beforeEach(() => {
    chain = new TestChain();
  });
  const deployment = () => chain.deployment(KEY, plainAccount.classHash, [starkKey(KEY)]);

  it('deploys a funded account that pays for itself, and starts its nonce at one', async () => {
    const tx = deployment();
    await chain.mint(STRK, tx.address, 10n ** 20n);
    const outcome = executed(await chain.run(tx));
    expect(outcome).toMatchObject({ status: 'SUCCEEDED', contractAddress: tx.address });
    expect(await chain.classHashAt(tx.address)).toBe(plainAccount.classHash);
    expect(await chain.nonceAt(tx.address)).toBe(1n);
    expect(await chain.balance(STRK, tx.address)).toBe(10n ** 20n - outcome.fee);
    const events = outcome.events.map((event) => event.keys[0]);
    expect(events).toEqual([selector('OwnerAdded'), selector('Transfer')]);
    const account = { address: tx.address, privateKey: KEY };
    expect((await chain.must(account, [transfer(STRK, ALICE, 1n)])).status).toBe('SUCCEEDED');
  });

  it('refuses one without money', async () => {
    expect(await chain.run(deployment())).toMatchObject({ refused: 'INSUFFICIENT_BALANCE' });
  });

  it('refuses a foreign signature, and nothing stands there afterwards', async () => {
    const tx = deployment();
    await chain.mint(STRK, tx.address, 10n ** 20n);
    const { r, s } = sign(tx.hash, 0xbadn);
    expect(await chain.run({ ...tx, signature: [r, s] })).toMatchObject({ refused: 'VALIDATION_FAILURE' });
    expect(await chain.classHashAt(tx.address)).toBe(0n);
  });

  it('refuses a second deployment, whichever way the first came about', async () => {
    const account = await chain.account(KEY, plainAccount.classHash);
    expect(await chain.run(deployment())).toMatchObject({ refused: 'INVALID_NONCE' });
    chain.apply({
      storage: new Map(),
      nonces: new Map([[account.address, 0n]]),
      classHashes: new Map(),
      declared: new Set(),
    });
    expect(await chain.run(deployment())).toMatchObject({ refused: 'VALIDATION_FAILURE' });
  });

  it('refuses a class that nobody declared, and a constructor that fails', async () => {
    const undeclared = chain.deployment(KEY, 0x77n, [1n]);
    expect(await chain.run(undeclared)).toMatchObject({ refused: 'INSUFFICIENT_BALANCE' });
    await chain.mint(STRK, undeclared.address, 10n ** 20n);
    expect(await chain.run(undeclared)).toMatchObject({ refused: 'CLASS_NOT_FOUND' });
    const tx = chain.deployment(KEY, plainAccount.classHash, []);
    await chain.mint(STRK, tx.address, 10n ** 20n);
    const outcome = (await chain.run(tx)) as Refused;
    expect(outcome.refused).toBe('VALIDATION_FAILURE');
    expect(outcome.reason).toMatch(/^Contract constructor execution has failed:\n0: Error in the contract class/);
    expect(outcome.reason).toContain("('Failed to deserialize param #1').");
  });

  it('is refused where a revert was ordered', async () => {
    const tx = deployment();
    await chain.mint(STRK, tx.address, 10n ** 20n);
    expect(await chain.run(tx, { forceRevert: 'ordered' })).toEqual({
      refused: 'VALIDATION_FAILURE',
      reason: 'ordered',
    });
  });
});

describe('declare', () => {
  const CLASS = 0xc1a55n;

  async function declaration(chain: TestChain, classHash: bigint): Promise<DeclareTransaction> {
    const { type: _type, calldata: _calldata, ...fields } = await chain.invocation(relayer, []);
    const declared = { ...fields, classHash, compiledClassHash: 0x1n };
    const hash = declareHash(declared);
    return { type: 'DECLARE', ...declared, hash, signature: signature(hash, relayer.privateKey) };
  }

  it('remembers a class, refuses it again, and says that it cannot run it', async () => {
    const chain = new TestChain();
    const outcome = executed(await executeTransaction(chain, chain.block, await declaration(chain, CLASS)));
    expect(outcome.status).toBe('SUCCEEDED');
    expect([...outcome.diff.declared]).toEqual([CLASS]);
    chain.apply(outcome.diff);
    const again = await executeTransaction(chain, chain.block, await declaration(chain, CLASS));
    expect(again).toMatchObject({ refused: 'CLASS_ALREADY_DECLARED' });
    const native = await executeTransaction(chain, chain.block, await declaration(chain, plainAccount.classHash));
    expect(native).toMatchObject({ refused: 'CLASS_ALREADY_DECLARED' });
    const refused = (await chain.run(chain.deployment(1n, CLASS, []), { skipFee: true })) as Refused;
    expect(refused.reason).toContain('is declared, but the sandbox only runs contracts of its own.');
  });

  it('needs the account owner', async () => {
    const chain = new TestChain();
    const tx = await declaration(chain, CLASS);
    const forged = { ...tx, signature: signature(tx.hash, other.privateKey) };
    expect(await executeTransaction(chain, chain.block, forged)).toMatchObject({ refused: 'VALIDATION_FAILURE' });
  });
});

const none = { maxAmount: 0n, maxPricePerUnit: 0n };

function hex64(felt: bigint): string {
  return `0x${felt.toString(16).padStart(64, '0')}`;
}
