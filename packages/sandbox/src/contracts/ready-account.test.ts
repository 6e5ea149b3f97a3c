import {
  classes,
  constructorCalldata,
  interfaceIds,
  poseidon,
  selector,
  shortString,
  starkKey,
  VALID,
} from '@svc/starknet';
import { beforeEach, describe, expect, it } from 'vitest';
import { call, panicOf, STRK, signature, TestChain, transfer, USDC } from '../../testing/test-chain.ts';
import {
  BOB,
  OWNER_KEY,
  otherRelayer,
  outside,
  ownerSignature,
  relay,
  relayer,
  TestWallet,
} from '../../testing/test-wallet.ts';
import type { Executed, Refused } from '../execution/types.ts';
import type { Frame } from './contract.ts';
import { readyAccount } from './ready-account.ts';

const PUBLIC_KEY = starkKey(OWNER_KEY);
const GUARDIAN_KEY = 0x96a2dn;
const calldata = constructorCalldata('READY', PUBLIC_KEY);
const guarded = [0n, PUBLIC_KEY, 0n, 0n, starkKey(GUARDIAN_KEY)];
const pay = (amount = 1n) => transfer(USDC, BOB, amount);

describe('the READY account', () => {
  let wallet: TestWallet;
  beforeEach(async () => {
    wallet = await TestWallet.open(classes.ready, calldata);
  });

  it('is deployed with its mainnet constructor and keeps the owner in its mainnet slot', async () => {
    const chain = new TestChain();
    const tx = chain.deployment(OWNER_KEY, classes.ready, calldata);
    await chain.mint(STRK, tx.address, 10n ** 20n);
    const outcome = (await chain.run(tx)) as Executed;
    const guid = poseidon(shortString('Starknet Signer'), PUBLIC_KEY);
    expect(outcome.events.slice(0, 3)).toEqual([
      { from: tx.address, keys: [selector('SignerLinked'), guid], data: [0n, PUBLIC_KEY] },
      { from: tx.address, keys: [selector('AccountCreated'), PUBLIC_KEY], data: [0n] },
      { from: tx.address, keys: [selector('AccountCreatedGuid'), guid], data: [0n] },
    ]);
    expect(await chain.storageAt(tx.address, selector('_signer'))).toBe(PUBLIC_KEY);
    expect(await chain.read(tx.address, 'get_owner')).toEqual([PUBLIC_KEY]);
    expect(await chain.read(tx.address, 'get_version')).toEqual([0n, 4n, 0n]);
    expect(await chain.read(tx.address, 'getName')).toEqual([shortString('ArgentAccount')]);
  });

  it.each([[[1n, PUBLIC_KEY, 1n]], [[0n, 0n, 1n]], [[PUBLIC_KEY]]])('is not constructed from %s', async (felts) => {
    const chain = new TestChain();
    const outcome = await chain.run(chain.deployment(OWNER_KEY, classes.ready, felts), { skipFee: true });
    expect((outcome as Refused).reason).toContain('Failed to deserialize param #1');
  });

  it('takes the short and the long form of a signature', async () => {
    await wallet.chain.must(wallet.owner, [pay()]);
    const tx = await wallet.chain.invocation(wallet.owner, [pay()]);
    const long = [1n, 0n, PUBLIC_KEY, ...tx.signature];
    expect(await wallet.chain.run({ ...tx, signature: long })).toMatchObject({ status: 'SUCCEEDED' });
  });

  it.each([
    ['of another key', (hash: bigint) => signature(hash, 0xbadn), 'argent/invalid-owner-sig'],
    [
      'that names another signer',
      (hash: bigint) => [1n, 0n, starkKey(0xbadn), ...signature(hash, 0xbadn)],
      'argent/invalid-owner-sig',
    ],
    [
      'of four felts without a guardian',
      (hash: bigint) => [...signature(hash, OWNER_KEY), ...signature(hash, OWNER_KEY)],
      'argent/zero-pubkey',
    ],
    ['of one felt', () => [1n], 'argent/undeserializable'],
    [
      'with felts to spare',
      (hash: bigint) => [1n, 0n, PUBLIC_KEY, ...signature(hash, OWNER_KEY), 7n],
      'argent/invalid-signature-length',
    ],
    ['by no signer', () => [0n], 'argent/invalid-signature-length'],
  ] as const)('refuses a signature %s', async (_name, sign: (hash: bigint) => readonly bigint[], reason) => {
    const tx = await wallet.chain.invocation(wallet.owner, [pay()]);
    const outcome = (await wallet.chain.run({ ...tx, signature: sign(tx.hash) })) as Refused;
    expect(outcome.refused).toBe('VALIDATION_FAILURE');
    expect(outcome.reason).toContain(`('${reason}')`);
  });

  it('needs both signatures when it has a guardian', async () => {
    const guardedWallet = await TestWallet.open(classes.ready, guarded);
    const { chain, owner } = guardedWallet;
    const tx = await chain.invocation(owner, [pay()]);
    const byGuardian = signature(tx.hash, GUARDIAN_KEY);
    expect(((await chain.run(tx)) as Refused).reason).toContain('argent/invalid-signature-length');
    const wrong = { ...tx, signature: [...tx.signature, ...signature(tx.hash, 0xbadn)] };
    expect(((await chain.run(wrong)) as Refused).reason).toContain('argent/invalid-guardian-sig');
    expect(await chain.run({ ...tx, signature: [...tx.signature, ...byGuardian] })).toMatchObject({
      status: 'SUCCEEDED',
    });
  });

  it('answers for messages in both spellings, as the real one does', async () => {
    const good = signature(0x1234n, OWNER_KEY);
    const ask = (name: string, hash: bigint) => wallet.chain.ask(wallet.address, name, [hash, 2n, ...good]);
    expect(await ask('is_valid_signature', 0x1234n)).toEqual({ ok: true, result: [VALID] });
    expect(await ask('is_valid_signature', 0x1235n)).toEqual({ ok: true, result: [0n] });
    expect(await ask('isValidSignature', 0x1234n)).toEqual({ ok: true, result: [1n] });
    expect(await ask('isValidSignature', 0x1235n)).toMatchObject({
      error: { error: panicOf('argent/invalid-signature') },
    });
  });

  it('has no sessions, and says so as a node does', async () => {
    expect(await wallet.chain.ask(wallet.address, 'get_session_data', [1n])).toMatchObject({
      kind: 'ENTRYPOINT_NOT_FOUND',
      error: `Entry point 0x${selector('get_session_data').toString(16)} not found in contract`,
    });
  });

  it('supports both versions of outside execution', async () => {
    for (const id of Object.values(interfaceIds)) {
      expect(await wallet.chain.read(wallet.address, 'supports_interface', [id])).toEqual([1n]);
    }
    expect(await wallet.chain.read(wallet.address, 'supports_interface', [5n])).toEqual([0n]);
  });

  it('reverts a multicall with the index of the call that failed', async () => {
    const outcome = (await wallet.chain.send(wallet.owner, [pay(), pay(2_000_000n)])) as Executed;
    expect(outcome.revertReason).toContain(
      "(0x617267656e742f6d756c746963616c6c2d6661696c6564 ('argent/multicall-failed'), 0x1, 0x45524332303a20696e73756666696369656e742062616c616e6365 ('ERC20: insufficient balance'), 0x454e545259504f494e545f4641494c4544 ('ENTRYPOINT_FAILED')).",
    );
    expect(await wallet.chain.balance(USDC, BOB)).toBe(0n);
  });

  it('tells what it executed', async () => {
    const tx = await wallet.chain.invocation(wallet.owner, [pay()]);
    const { events } = (await wallet.chain.run(tx)) as Executed;
    const executed = { from: wallet.address, keys: [selector('TransactionExecuted'), tx.hash], data: [1n, 1n, 1n] };
    expect(events[1]).toEqual(executed);
  });

  it('is called alone or not at all, and never asked to perform an upgrade', async () => {
    const own = call(wallet.address, 'get_owner');
    expect((await wallet.chain.must(wallet.owner, [own])).status).toBe('SUCCEEDED');
    const mixed = (await wallet.chain.send(wallet.owner, [own, pay()])) as Refused;
    expect(mixed.reason).toContain("('argent/no-multicall-to-self')");
    const direct = call(wallet.address, 'perform_upgrade', [classes.svc, 0n]);
    expect(((await wallet.chain.send(wallet.owner, [direct])) as Refused).reason).toContain(
      "('argent/forbidden-call')",
    );
    expect((await wallet.asOwner([direct])).revertReason).toContain("('argent/forbidden-call')");
    expect((await wallet.asOwner([own, pay()])).revertReason).toContain("('argent/no-multicall-to-self')");
  });

  it('is upgraded by itself alone', async () => {
    const upgrade = call(wallet.address, 'upgrade', [classes.svc, 0n]);
    expect((await wallet.chain.simulate(relayer.address, [upgrade])).revertReason).toContain("('argent/only-self')");
  });

  it('is not upgraded to a class that says it is no account', async () => {
    const asked: bigint[] = [];
    const frame = {
      address: 1n,
      caller: 1n,
      libraryCall: async (_classHash: bigint, name: bigint) => {
        asked.push(name);
        return [0n];
      },
    } as unknown as Frame;
    const upgrade = readyAccount.entrypoints.get(selector('upgrade'));
    await expect(upgrade?.run(frame, [0x99n, 0n])).rejects.toMatchObject({
      felts: [shortString('argent/invalid-implementation')],
    });
    expect(asked).toEqual([selector('supports_interface')]);
  });

  it('can be estimated before it is signed', async () => {
    const version = 3n + (1n << 128n);
    const tx = await wallet.chain.invocation(wallet.owner, [pay()], { version, signature: [1n, 1n] });
    expect(await wallet.chain.run(tx, { skipFee: true })).toMatchObject({ status: 'SUCCEEDED' });
  });

  describe.each([1, 2] as const)('outside execution version %s', (version) => {
    const run = (changes: Parameters<typeof outside>[2] = {}) => {
      const execution = outside(wallet.chain, [pay()], changes);
      const signed = ownerSignature(wallet.chain, wallet.owner, execution, version);
      return { execution, signed, send: () => relay(wallet.chain, wallet.address, execution, signed, version) };
    };

    it('runs once', async () => {
      const { send } = run();
      expect((await send()).status).toBe('SUCCEEDED');
      expect((await send()).revertReason).toContain("('argent/duplicated-outside-nonce')");
      expect(await wallet.chain.balance(USDC, BOB)).toBe(1n);
    });

    it('runs strictly within its window', async () => {
      const { now } = wallet;
      const refused = [run({ executeAfter: now }), run({ executeBefore: now })];
      for (const { send } of refused) expect((await send()).revertReason).toContain("('argent/invalid-timestamp')");
      expect((await run({ executeAfter: now - 1n, executeBefore: now + 1n }).send()).status).toBe('SUCCEEDED');
    });

    it('runs for the caller that it names', async () => {
      const { send } = run({ caller: otherRelayer.address });
      expect((await send()).revertReason).toContain("('argent/invalid-caller')");
      expect((await run({ caller: relayer.address }).send()).status).toBe('SUCCEEDED');
    });

    it('is not signed with the hash of the other version', async () => {
      const { execution } = run();
      const other = ownerSignature(wallet.chain, wallet.owner, execution, version === 1 ? 2 : 1);
      const outcome = await relay(wallet.chain, wallet.address, execution, other, version);
      expect(outcome.revertReason).toContain("('argent/invalid-owner-sig')");
    });
  });
});
