import { type Call, classes, encodeOutsideExecution, shortString } from '@svc/starknet';
import { describe, expect, it } from 'vitest';
import { call, TestChain, transfer, USDC } from '../../testing/test-chain.ts';
import { outside, ownerSignature, relay, TestWallet } from '../../testing/test-wallet.ts';
import { predeployed } from '../contracts/predeployed.ts';
import { executeTransaction } from './execute.ts';
import { MAX_DEPTH } from './machine.ts';
import type { StateReader } from './types.ts';

/** Nested outside executions, each level signed; the innermost makes one call. */
function nested(wallet: TestWallet, levels: number): Call {
  let inner = call(USDC, 'decimals');
  for (let level = 0; level < levels; level += 1) {
    const execution = outside(wallet.chain, [inner]);
    const signed = ownerSignature(wallet.chain, wallet.owner, execution);
    inner = call(wallet.address, 'execute_from_outside_v2', encodeOutsideExecution(execution, signed));
  }
  return inner;
}

describe('the machine', () => {
  it('stops at a depth that no honest contract reaches', async () => {
    const wallet = await TestWallet.open();
    // The relayer's `__execute__` has depth 0, each outside execution one more, the last call one more again.
    expect((await wallet.chain.simulate(wallet.address, [nested(wallet, MAX_DEPTH - 1)])).status).toBe('SUCCEEDED');
    const { revertReason } = await wallet.chain.simulate(wallet.address, [nested(wallet, MAX_DEPTH)]);
    expect(revertReason).toContain('Recursion depth exceeded.');
  });

  it('ends a transaction that calls nothing, even under a contract that skips failing calls', async () => {
    const wallet = await TestWallet.open(classes.svcPolicies);
    const execution = outside(wallet.chain, [call(0x123n, 'x'), call(USDC, 'decimals')]);
    const signed = ownerSignature(wallet.chain, wallet.owner, execution);
    const outcome = await relay(wallet.chain, wallet.address, execution, signed);
    expect(outcome.status).toBe('REVERTED');
    expect(outcome.revertReason).toContain('is not deployed.');
    expect(outcome.revertReason).not.toContain(shortString('ENTRYPOINT_FAILED').toString(16));
  });

  it('takes a failing store for what it is, never for a revert', async () => {
    const chain = new TestChain();
    const broken: StateReader = Object.assign(Object.create(chain), {
      storageAt: () => Promise.reject(new Error('the store is gone')),
    });
    chain.ask = TestChain.prototype.ask.bind(broken);
    await expect(chain.ask(USDC, 'decimals')).rejects.toThrow('the store is gone');
  });

  it('loads the balances of a multicall together, and counts an account that is in it twice right', async () => {
    const { manager } = predeployed;
    const chain = new TestChain();
    const calls = [0xa1n, 0xa2n, 0xa1n].flatMap((to) => [transfer(USDC, to, 5n), call(USDC, 'balanceOf', [to + 16n])]);
    const tx = await chain.invocation(manager, calls);
    let most = 0;
    let open = 0;
    const slow: StateReader = Object.assign(Object.create(chain), {
      async storageAt(address: bigint, key: bigint) {
        open += 1;
        most = Math.max(most, open);
        await new Promise(setImmediate);
        open -= 1;
        return chain.storageAt(address, key);
      },
    });
    const outcome = await executeTransaction(slow, chain.block, tx);
    expect(most).toBeGreaterThanOrEqual(8);
    expect(outcome).toMatchObject({ status: 'SUCCEEDED' });
    if (!('status' in outcome)) return;
    chain.apply(outcome.diff);
    expect([await chain.balance(USDC, 0xa1n), await chain.balance(USDC, 0xa2n)]).toEqual([10n, 5n]);
  });
});
