import { hash } from 'starknet';
import { describe, expect, it } from 'vitest';
import { TestChain, USDC } from '../../testing/test-chain.ts';
import { erc20Storage } from './erc20.ts';
import { predeployed } from './predeployed.ts';
import { readyOwner } from './ready-account.ts';

const { manager } = predeployed;

describe('storage', () => {
  it('stands where the Cairo compiler puts it', async () => {
    const base = hash.starknetKeccak('ERC20_balances');
    const key = BigInt(hash.computePedersenHash(base, manager.address));
    const chain = new TestChain();
    expect(await chain.storageAt(USDC, key)).toBe(await chain.balance(USDC, manager.address));
    const pair = BigInt(
      hash.computePedersenHash(hash.computePedersenHash(hash.starknetKeccak('ERC20_allowances'), 1n), 2n),
    );
    expect(erc20Storage.allowances.key(1n, 2n)).toBe(pair);
  });

  it('keeps the owner of a READY account in its own slot', () => {
    expect(readyOwner.key).toBe(0x1ccc09c8a19948e048de7add6929589945e25f22059c7345aaf7837188d8d05n);
  });
});
