import { classes } from '@svc/starknet';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { call, transfer, USDC } from '../../testing/test-chain.ts';
import { BOB, relayer, TestWallet } from '../../testing/test-wallet.ts';
import type { Executed } from '../execution/types.ts';
import { results } from './calls.ts';
import { Reader } from './codec.ts';

const pay = (amount = 1n) => transfer(USDC, BOB, amount);

describe('a multicall with a failing call', () => {
  const calls = [pay(1n), pay(2_000_000n), pay(2n)];

  it('fails as a whole in the current class', async () => {
    const wallet = await TestWallet.open(classes.svc);
    expect((await wallet.asOwner(calls)).revertReason).toContain("('ERC20: insufficient balance')");
    expect(((await wallet.chain.send(wallet.owner, calls)) as Executed).status).toBe('REVERTED');
    expect(await wallet.chain.balance(USDC, BOB)).toBe(0n);
  });

  it.each([
    ['policies', classes.svcPolicies],
    ['sessions', classes.svcSessions],
  ])(
    'skips it in the earlier class with %s, looks successful, and shows only the events of the others',
    async (_name, classHash) => {
      const wallet = await TestWallet.open(classHash);
      for (const outcome of [await wallet.mustAsOwner(calls), await wallet.chain.must(wallet.owner, calls)]) {
        const paid = outcome.events.filter((event) => event.from === USDC).map((event) => event.data[0]);
        expect(paid).toEqual([1n, 2n]);
      }
      expect(await wallet.chain.balance(USDC, BOB)).toBe(6n);
      const { trace } = await wallet.chain.must(wallet.owner, calls);
      expect(results.read(new Reader(trace.execute?.result ?? []))).toEqual([[1n], [], [1n]]);
      expect(trace.execute?.calls.map((one) => one.failed)).toEqual([false, true, false]);
    },
  );
});

describe('a call that fails halfway', () => {
  it('takes back what it had already done, and nothing of the calls around it', async () => {
    const wallet = await TestWallet.open(classes.svcSessions);
    const { chain, address } = wallet;
    await chain.simulate(relayer.address, [call(USDC, 'approve', [address, 500n, 0n])]);
    // The allowance is used before the balance proves too small.
    const failing = call(USDC, 'transfer_from', [relayer.address, BOB, 400n, 0n]);
    const { events } = await wallet.mustAsOwner([pay(1n), failing, pay(2n)]);
    expect(events.map((event) => event.data[0])).toEqual([1n, 2n]);
    expect(await chain.read(USDC, 'allowance', [relayer.address, address])).toEqual([500n, 0n]);
    expect(await chain.balance(USDC, BOB)).toBe(3n);
  });
});

describe('any multicall of transfers', () => {
  const amounts = fc.array(fc.bigInt({ min: 0n, max: 600_000n }), { maxLength: 8 });

  it.each([
    ['moves all or nothing in the current class', classes.svc, true],
    ['moves what the balance allows, one by one, in an earlier class', classes.svcPolicies, false],
  ])('%s', async (_name, classHash, atomic) => {
    const wallet = await TestWallet.open(classHash);
    await fc.assert(
      fc.asyncProperty(amounts, async (list) => {
        const before = await wallet.chain.balance(USDC, wallet.address);
        const bobs = await wallet.chain.balance(USDC, BOB);
        let left = before;
        const affordable = list.filter((amount) => {
          if (amount > left) return false;
          left -= amount;
          return true;
        });
        const reverts = atomic && affordable.length < list.length;
        const { status } = await wallet.chain.simulate(wallet.address, list.map(pay));
        const after = reverts ? before : left;
        expect(status).toBe(reverts ? 'REVERTED' : 'SUCCEEDED');
        expect(await wallet.chain.balance(USDC, wallet.address)).toBe(after);
        expect(await wallet.chain.balance(USDC, BOB)).toBe(bobs + before - after);
        await wallet.chain.mint(USDC, wallet.address, 100_000n);
      }),
      { numRuns: 50 },
    );
  });
});
