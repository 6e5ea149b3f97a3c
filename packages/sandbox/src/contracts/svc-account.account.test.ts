import {
  ANY_CALLER,
  type Call,
  classes,
  encodeOutsideExecution,
  interfaceIds,
  type OutsideExecution,
  outsideExecutionTypedData,
  selector,
  starkKey,
  VALID,
} from '@svc/starknet';
import { ec, type TypedData, typedData } from 'starknet';
import { beforeEach, describe, expect, it } from 'vitest';
import { call, STRK, signature, TestChain, transfer, USDC } from '../../testing/test-chain.ts';
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
import type { Refused } from '../execution/types.ts';

const svcClasses = [
  ['current', classes.svc],
  ['earlier with policies', classes.svcPolicies],
  ['earlier with sessions', classes.svcSessions],
] as const;
const pay = (amount = 1n) => transfer(USDC, BOB, amount);

const hex = (felt: bigint) => `0x${felt.toString(16)}`;

/** Hashed and signed with starknet.js, independent of our own hashing. */
function signOutsideExecutionWithStarknetJs(wallet: TestWallet, calls: readonly Call[]) {
  const execution: OutsideExecution = outside(wallet.chain, calls);
  const message = outsideExecutionTypedData(execution, wallet.chain.block.chainId) as TypedData;
  const hash = typedData.getMessageHash(message, hex(wallet.address));
  const { r, s } = ec.starkCurve.sign(hash, hex(wallet.owner.privateKey));
  return { execution, signature: [r, s] };
}

describe.each(svcClasses)('the %s class', (_name, classHash) => {
  let wallet: TestWallet;
  beforeEach(async () => {
    wallet = await TestWallet.open(classHash);
  });

  it('is deployed by its owner, who alone may sign for it', async () => {
    const chain = new TestChain();
    const tx = chain.deployment(OWNER_KEY, classHash, [starkKey(OWNER_KEY)]);
    await chain.mint(STRK, tx.address, 10n ** 20n);
    expect(await chain.run({ ...tx, signature: signature(tx.hash, 0xbadn) })).toMatchObject({
      refused: 'VALIDATION_FAILURE',
    });
    expect(await chain.run(tx)).toMatchObject({ status: 'SUCCEEDED', contractAddress: tx.address });
    expect(await chain.read(tx.address, 'get_public_key')).toEqual([starkKey(OWNER_KEY)]);
  });

  it('does not come into being without a key', async () => {
    const chain = new TestChain();
    const outcome = await chain.run(chain.deployment(OWNER_KEY, classHash, [0n]), { skipFee: true });
    expect((outcome as Refused).reason).toContain("('Account: invalid public key')");
  });

  it('runs what its owner signs as a transaction', async () => {
    await wallet.chain.must(wallet.owner, [pay(5n)]);
    expect(await wallet.chain.balance(USDC, BOB)).toBe(5n);
  });

  it('starts for the protocol alone', async () => {
    const inner = call(wallet.address, '__execute__', [0n]);
    expect((await wallet.chain.simulate(relayer.address, [inner])).revertReason).toContain("('Invalid argument')");
  });

  it('says which interfaces it has, and does not know the old spelling', async () => {
    const asked = Object.values(interfaceIds).map(async (id) =>
      wallet.chain.read(wallet.address, 'supports_interface', [id]),
    );
    expect(await Promise.all(asked)).toEqual([[1n], [1n], [0n], [1n]]);
    expect(await wallet.chain.ask(wallet.address, 'isValidSignature')).toMatchObject({ kind: 'ENTRYPOINT_NOT_FOUND' });
  });

  it('answers for the owner signature of a message, and of no other', async () => {
    const good = signature(0x1234n, OWNER_KEY);
    const ask = (hash: bigint, felts: readonly bigint[]) =>
      wallet.chain.read(wallet.address, 'is_valid_signature', [hash, BigInt(felts.length), ...felts]);
    expect(await ask(0x1234n, good)).toEqual([VALID]);
    expect(await ask(0x1235n, good)).toEqual([0n]);
    expect(await ask(0x1234n, [...good, 0n])).toEqual([0n]);
    expect(await ask(0x1234n, [])).toEqual([0n]);
  });

  describe('outside execution', () => {
    it('runs what the owner signed, and costs the owner nothing', async () => {
      const before = await wallet.chain.balance(STRK, wallet.address);
      const execution = outside(wallet.chain, [pay(5n)]);
      const calldata = encodeOutsideExecution(execution, ownerSignature(wallet.chain, wallet.owner, execution));
      const paid = await wallet.chain.balance(STRK, relayer.address);
      await wallet.chain.must(relayer, [call(wallet.address, 'execute_from_outside_v2', calldata)]);
      expect(await wallet.chain.balance(USDC, BOB)).toBe(5n);
      expect(await wallet.chain.balance(STRK, wallet.address)).toBe(before);
      expect(await wallet.chain.balance(STRK, relayer.address)).toBeLessThan(paid);
    });

    it('accepts what starknet.js signs', async () => {
      const signed = signOutsideExecutionWithStarknetJs(wallet, [pay(5n)]);
      expect((await relay(wallet.chain, wallet.address, signed.execution, signed.signature)).status).toBe('SUCCEEDED');
    });

    it('runs once', async () => {
      const execution = outside(wallet.chain, [pay()]);
      const signed = ownerSignature(wallet.chain, wallet.owner, execution);
      const nonce = () => wallet.chain.read(wallet.address, 'is_valid_outside_execution_nonce', [execution.nonce]);
      expect(await nonce()).toEqual([1n]);
      expect((await relay(wallet.chain, wallet.address, execution, signed)).status).toBe('SUCCEEDED');
      expect(await nonce()).toEqual([0n]);
      const replayed = await relay(wallet.chain, wallet.address, execution, signed);
      expect(replayed.revertReason).toContain("('SRC9: duplicated nonce')");
      const [r = 0n, s = 0n] = signed;
      const order = 0x800000000000010ffffffffffffffffb781126dcae7b2321e66a241adc64d2fn;
      const malleated = await relay(wallet.chain, wallet.address, execution, [r, order - s]);
      expect(malleated.revertReason).toContain("('SRC9: duplicated nonce')");
      expect(await wallet.chain.balance(USDC, BOB)).toBe(1n);
    });

    it('runs strictly after its beginning and before its end', async () => {
      const { now } = wallet;
      const early = { executeAfter: now, executeBefore: now + 10n };
      expect((await wallet.asOwner([pay()], early)).revertReason).toContain("('SRC9: now <= execute_after')");
      const late = { executeAfter: now - 10n, executeBefore: now };
      expect((await wallet.asOwner([pay()], late)).revertReason).toContain("('SRC9: now >= execute_before')");
      const just = { executeAfter: now - 1n, executeBefore: now + 1n };
      expect((await wallet.asOwner([pay()], just)).status).toBe('SUCCEEDED');
    });

    it('runs for the caller that it names', async () => {
      const wrong = await wallet.asOwner([pay()], { caller: otherRelayer.address });
      expect(wrong.revertReason).toContain("('SRC9: invalid caller')");
      expect((await wallet.asOwner([pay()], { caller: relayer.address })).status).toBe('SUCCEEDED');
      expect((await wallet.asOwner([pay()], { caller: ANY_CALLER })).status).toBe('SUCCEEDED');
    });

    it('is worth nothing on another chain, for another account, or changed', async () => {
      const { chain } = wallet;
      const execution = outside(chain, [pay()]);
      const twin = await chain.account(OWNER_KEY, classHash === classes.svc ? classes.svcPolicies : classes.svc);
      const { block } = chain;
      chain.block = { ...block, chainId: block.chainId + 1n };
      const elsewhere = ownerSignature(chain, wallet.owner, execution);
      chain.block = block;
      const forTwin = ownerSignature(chain, twin, execution);
      const changed = ownerSignature(chain, wallet.owner, { ...execution, calls: [pay(2n)] });
      for (const signed of [elsewhere, forTwin, changed, [], [1n, 1n]]) {
        const outcome = await relay(chain, wallet.address, execution, signed);
        expect(outcome.revertReason).toContain("('Account: invalid signature')");
      }
      expect(await chain.read(wallet.address, 'is_valid_outside_execution_nonce', [execution.nonce])).toEqual([1n]);
    });

    it('may have no calls, as for a new wallet', async () => {
      expect((await wallet.asOwner([])).status).toBe('SUCCEEDED');
    });
  });

  describe('set_public_key', () => {
    const NEW_KEY = 0x9e44n;

    it('hands the account over, and the old key signs no more', async () => {
      const { events } = await wallet.mustAsOwner([call(wallet.address, 'set_public_key', [starkKey(NEW_KEY)])]);
      expect(events.slice(0, 2)).toEqual([
        { from: wallet.address, keys: [selector('OwnerRemoved'), starkKey(OWNER_KEY)], data: [] },
        { from: wallet.address, keys: [selector('OwnerAdded'), starkKey(NEW_KEY)], data: [] },
      ]);
      expect((await wallet.asOwner([pay()])).revertReason).toContain("('Account: invalid signature')");
      const heir = { address: wallet.address, privateKey: NEW_KEY };
      expect((await wallet.chain.must(heir, [pay()])).status).toBe('SUCCEEDED');
    });

    it('is for the account itself, and never without a key', async () => {
      await wallet.chain.simulate(relayer.address, [call(wallet.address, 'set_public_key', [starkKey(NEW_KEY)])]);
      await wallet.own('set_public_key', [0n]);
      expect(await wallet.chain.read(wallet.address, 'get_public_key')).toEqual([starkKey(OWNER_KEY)]);
    });
  });
});
