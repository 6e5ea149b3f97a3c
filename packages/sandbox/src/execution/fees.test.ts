import { beforeEach, describe, expect, it } from 'vitest';
import { bounds, STRK, TestChain, transfer, USDC } from '../../testing/test-chain.ts';
import { predeployed } from '../contracts/predeployed.ts';
import { feeOf, gasPrices, maxFee, minimalGas } from './fees.ts';
import type { Executed, InvokeTransaction, Refused } from './types.ts';

const ALICE = 0xa11cen;
const [relayer] = predeployed.relayers;
const prices = gasPrices();

describe('fees', () => {
  let chain: TestChain;
  beforeEach(() => {
    chain = new TestChain();
  });

  function bounded(l2Gas: bigint, l1DataGas = 10_000n): InvokeTransaction['resourceBounds'] {
    return {
      l1Gas: { maxAmount: 0n, maxPricePerUnit: prices.l1Gas.fri },
      l1DataGas: { maxAmount: l1DataGas, maxPricePerUnit: prices.l1DataGas.fri },
      l2Gas: { maxAmount: l2Gas, maxPricePerUnit: prices.l2Gas.fri },
    };
  }

  async function used(): Promise<Executed> {
    const tx = await chain.invocation(relayer, [transfer(STRK, ALICE, 1n)]);
    const outcome = await new TestChain().run(tx);
    if (!('status' in outcome)) throw new Error(outcome.reason);
    return outcome;
  }

  it('are gas times price, and the tip for every unit of L2 gas', async () => {
    const { gas, fee } = await used();
    expect(fee).toBe(gas.l1DataGas * prices.l1DataGas.fri + gas.l2Gas * prices.l2Gas.fri);
    const tipped = await chain.must(relayer, [transfer(STRK, ALICE, 1n)], { tip: 3n });
    expect(tipped.fee).toBe(feeOf(tipped.gas, 0n) + 3n * tipped.gas.l2Gas);
    expect(tipped.gas).toEqual(gas);
  });

  it('are the same for an estimate that skips validation', async () => {
    const { gas, fee } = await used();
    const tx = await chain.invocation(relayer, [transfer(STRK, ALICE, 1n)]);
    const estimate = await chain.run(tx, { skipValidate: true, skipFee: true });
    expect(estimate).toMatchObject({ gas, fee });
  });

  it('fit bounds that are exactly what is used, and revert one below, within the bounds', async () => {
    const { gas } = await used();
    const exact = { resourceBounds: bounded(gas.l2Gas, gas.l1DataGas) };
    expect((await chain.send(relayer, [transfer(STRK, ALICE, 1n)], exact)) as Executed).toMatchObject({
      status: 'SUCCEEDED',
    });
    for (const resourceBounds of [bounded(gas.l2Gas - 1n), bounded(gas.l2Gas, gas.l1DataGas - 1n)]) {
      // A first payment, as the one whose gas was measured.
      const tx = await chain.invocation(relayer, [transfer(STRK, ALICE + 1n, 1n)], { resourceBounds });
      const before = await chain.balance(STRK, relayer.address);
      const outcome = (await chain.run(tx)) as Executed;
      expect(outcome.status).toBe('REVERTED');
      expect(outcome.revertReason).toMatch(/^Insufficient max L(2|1Data)Gas: max amount: \d+, actual used: \d+\.$/);
      expect(outcome.fee).toBeLessThanOrEqual(maxFee(tx));
      expect(await chain.balance(STRK, relayer.address)).toBe(before - outcome.fee);
    }
    expect(await chain.balance(STRK, ALICE)).toBe(1n);
    expect(await chain.balance(STRK, ALICE + 1n)).toBe(0n);
  });

  it('refuse bounds below the least that any transaction of its size needs', async () => {
    const tx = await chain.invocation(relayer, []);
    const { l2Gas, l1DataGas } = minimalGas(tx);
    const short = await chain.send(relayer, [], { resourceBounds: bounded(l2Gas - 1n) });
    expect(short).toMatchObject({ refused: 'INSUFFICIENT_RESOURCES' });
    expect((short as Refused).reason).toContain(
      `Max L2Gas amount (${l2Gas - 1n}) is lower than the minimal gas amount`,
    );
    const data = await chain.send(relayer, [], { resourceBounds: bounded(l2Gas, l1DataGas - 1n) });
    expect(data).toMatchObject({ refused: 'INSUFFICIENT_RESOURCES' });
    expect(await chain.send(relayer, [], { resourceBounds: bounded(l2Gas, l1DataGas) })).toMatchObject({
      status: 'REVERTED',
    });
  });

  it('refuse a price below the current one', async () => {
    const l2Gas = { ...bounds.l2Gas, maxPricePerUnit: prices.l2Gas.fri - 1n };
    const outcome = await chain.send(relayer, [], { resourceBounds: { ...bounds, l2Gas } });
    expect(outcome).toMatchObject({ refused: 'INSUFFICIENT_RESOURCES' });
    expect((outcome as Refused).reason).toContain('is lower than the actual gas price');
  });

  it('must be covered by the balance at the most they may come to, to the last unit', async () => {
    const account = { address: relayer.address, privateKey: relayer.privateKey };
    const tx = await chain.invocation(account, []);
    const most = maxFee(tx);
    const balance = await chain.balance(STRK, account.address);
    await chain.simulate(account.address, [transfer(STRK, ALICE, balance - most + 1n)]);
    expect(await chain.send(account, [])).toMatchObject({ refused: 'INSUFFICIENT_BALANCE' });
    await chain.mint(STRK, account.address, 1n);
    expect(await chain.send(account, [])).toMatchObject({ status: 'SUCCEEDED' });
  });

  it('are taken back from a transaction that gives away what it owes them', async () => {
    const balance = await chain.balance(STRK, relayer.address);
    const outcome = (await chain.send(relayer, [transfer(STRK, ALICE, balance)])) as Executed;
    expect(outcome.status).toBe('REVERTED');
    expect(outcome.revertReason).toContain('Insufficient fee token balance.');
    expect(await chain.balance(STRK, ALICE)).toBe(0n);
    expect(await chain.balance(STRK, relayer.address)).toBe(balance - outcome.fee);
  });

  it('are not charged in any other token', async () => {
    const before = await chain.balance(USDC, predeployed.manager.address);
    await chain.must(predeployed.manager, []);
    expect(await chain.balance(USDC, predeployed.manager.address)).toBe(before);
  });

  it('of a deployment that its bounds do not cover refuse it', async () => {
    const KEY = 0x5eedn;
    const account = chain.deployment(KEY, await chain.classHashAt(relayer.address), [1n]);
    await chain.mint(STRK, account.address, 10n ** 20n);
    const { l2Gas } = minimalGas(account);
    const short = { ...account, resourceBounds: bounded(l2Gas) };
    expect(await chain.run(short, { skipValidate: true })).toMatchObject({ refused: 'INSUFFICIENT_RESOURCES' });
    expect(await chain.classHashAt(account.address)).toBe(0n);
  });
});
