import { selector } from '@svc/starknet';
import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { call, panicOf, TestChain, transfer, USDC } from '../../testing/test-chain.ts';
import { starknetTokens } from '../tokens.ts';
import { byteArray, Reader, u256 } from './codec.ts';
import { predeployed } from './predeployed.ts';

const { manager, faucet } = predeployed;
const [alice, bob] = predeployed.relayers.map(({ address }) => address) as [bigint, bigint];
const MAX = 2n ** 256n - 1n;

describe('ERC-20', () => {
  let chain: TestChain;
  beforeEach(async () => {
    chain = new TestChain();
    await chain.mint(USDC, alice, 100n);
  });

  const run = (who: bigint, name: string, ...args: bigint[]) => chain.simulate(who, [call(USDC, name, args)]);
  const amount = (value: bigint) => u256.write(value);
  const allowance = async () => u256.read(new Reader(await chain.read(USDC, 'allowance', [alice, bob])));

  it.each(starknetTokens)('$token tells its name, symbol and decimals', async ({ address, name, symbol, decimals }) => {
    const text = async (of: string) =>
      new TextDecoder().decode(byteArray.read(new Reader(await chain.read(address, of))));
    expect(await text('name')).toBe(name);
    expect(await text('symbol')).toBe(symbol);
    expect(await chain.read(address, 'decimals')).toEqual([BigInt(decimals)]);
  });

  it('transfers up to the whole balance and not one more', async () => {
    const over = await run(alice, 'transfer', bob, ...amount(101n));
    expect(over.revertReason).toContain("('ERC20: insufficient balance')");
    const all = await run(alice, 'transfer', bob, ...amount(100n));
    expect(all.trace.execute?.calls[0]?.result).toEqual([1n]);
    expect(all.events).toEqual([{ from: USDC, keys: [selector('Transfer'), alice, bob], data: [100n, 0n] }]);
    expect([await chain.balance(USDC, alice), await chain.balance(USDC, bob)]).toEqual([0n, 100n]);
  });

  it('lets a transfer to oneself change nothing', async () => {
    expect((await run(alice, 'transfer', alice, ...amount(100n))).status).toBe('SUCCEEDED');
    expect(await chain.balance(USDC, alice)).toBe(100n);
  });

  it('refuses the zero address on either side', async () => {
    expect((await run(alice, 'transfer', 0n, ...amount(1n))).revertReason).toContain("('ERC20: transfer to 0')");
    expect((await run(alice, 'approve', 0n, ...amount(1n))).revertReason).toContain("('ERC20: approve to 0')");
    expect(await chain.ask(USDC, 'transfer', [bob, 0n, 0n])).toMatchObject({
      error: { error: panicOf('ERC20: transfer from 0') },
    });
  });

  it('refuses amounts that are no u256 and arguments too many', async () => {
    const refused = await run(alice, 'transfer', bob, 2n ** 128n, 0n);
    expect(refused.revertReason).toContain("('Failed to deserialize param #2')");
    const long = await run(alice, 'transfer', bob, 1n, 0n, 0n);
    expect(long.revertReason).toContain("('Input too long for arguments')");
  });

  it.each(['transfer_from', 'transferFrom'])('lets %s move what was approved, and uses it up', async (name) => {
    const taken = () => run(bob, name, alice, bob, ...amount(60n));
    expect((await taken()).revertReason).toContain("('ERC20: insufficient allowance')");
    const approved = await run(alice, 'approve', bob, ...amount(60n));
    expect(approved.events).toEqual([{ from: USDC, keys: [selector('Approval'), alice, bob], data: [60n, 0n] }]);
    expect((await taken()).status).toBe('SUCCEEDED');
    expect(await allowance()).toBe(0n);
    expect(await chain.balance(USDC, bob)).toBe(60n);
  });

  it('never uses up an unlimited allowance', async () => {
    await run(alice, 'approve', bob, ...amount(MAX));
    await run(bob, 'transfer_from', alice, bob, ...amount(60n));
    expect(await allowance()).toBe(MAX);
  });

  it('raises and lowers an allowance in either spelling, within its bounds', async () => {
    await run(alice, 'increase_allowance', bob, ...amount(5n));
    await run(alice, 'increaseAllowance', bob, ...amount(5n));
    await run(alice, 'decrease_allowance', bob, ...amount(3n));
    await run(alice, 'decreaseAllowance', bob, ...amount(3n));
    expect(await allowance()).toBe(4n);
    expect((await run(alice, 'decrease_allowance', bob, ...amount(5n))).revertReason).toContain('u256_sub Overflow');
    expect((await run(alice, 'increase_allowance', bob, ...amount(MAX))).revertReason).toContain('u256_add Overflow');
    expect(await allowance()).toBe(4n);
  });

  it('is minted and burned by minters alone', async () => {
    const before = await chain.read(USDC, 'totalSupply');
    expect((await run(alice, 'mint', alice, ...amount(1n))).revertReason).toContain('ERC20: caller is not a minter');
    expect((await run(alice, 'burn', ...amount(1n))).revertReason).toContain('ERC20: caller is not a minter');
    await run(faucet.address, 'mint', faucet.address, ...amount(9n));
    await run(faucet.address, 'burn', ...amount(9n));
    expect(await chain.read(USDC, 'total_supply')).toEqual(before);
    expect((await run(faucet.address, 'mint', alice, ...amount(MAX))).revertReason).toContain('u256_add Overflow');
  });

  it('keeps its supply over any transfers', async () => {
    const accounts = [...predeployed.relayers, manager, faucet].map(({ address }) => address);
    const supply = u256.read(new Reader(await chain.read(USDC, 'total_supply')));
    const who = fc.constantFrom(...accounts);
    const step = fc.record({ from: who, to: who, amount: fc.bigInt({ min: 0n, max: 200n }) });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 20 }), async (steps) => {
        for (const { from, to, amount } of steps) {
          const before = await chain.balance(USDC, from);
          const { status } = await chain.simulate(from, [transfer(USDC, to, amount)]);
          expect(status).toBe(before >= amount ? 'SUCCEEDED' : 'REVERTED');
        }
        const balances = await Promise.all(accounts.map((account) => chain.balance(USDC, account)));
        expect(balances.reduce((sum, balance) => sum + balance, 0n)).toBe(supply);
      }),
      { numRuns: 30 },
    );
  });
});
