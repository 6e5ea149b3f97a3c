import { describe, expect, it } from 'vitest';
import { testSettings } from '../../testing/bridge-fixtures.ts';
import { feeOf, isFast, showFees } from './cctp-message.ts';

const charge = { amount: 1_000_000n, maxFee: 500n, fast: true, forwarded: false };

describe("the bridge's fee", () => {
  it.each([
    ['its share of the amount', charge, 130n],
    ['rounded up', { ...charge, amount: 1_000_001n }, 131n],
    ['a unit of the smallest amount', { ...charge, amount: 1n }, 1n],
    ['at most what was agreed to', { ...charge, maxFee: 129n }, 129n],
    ['nothing where nothing was agreed to', { ...charge, maxFee: 0n }, 0n],
    ['nothing for a standard transfer', { ...charge, fast: false }, 0n],
    ['more where it is forwarded', { ...charge, forwarded: true }, 150n],
  ])('is %s', (_name, given, fee) => {
    expect(feeOf(given, { ...testSettings, forwardFee: 20 })).toBe(fee);
  });

  it('is shown in basis points, and what forwarding costs only to those who ask', () => {
    expect(showFees(testSettings, false)).toEqual([
      { finalityThreshold: 1_000, minimumFee: 1.3 },
      { finalityThreshold: 2_000, minimumFee: 0 },
    ]);
    const forwardFee = { low: 20, med: 20, high: 20 };
    expect(showFees({ ...testSettings, forwardFee: 20 }, true)).toMatchObject([{ forwardFee }, { forwardFee }]);
  });

  it('belongs to the fast way up to its threshold', () => {
    expect([isFast(0n), isFast(1_000n), isFast(1_001n), isFast(2_000n)]).toEqual([true, true, false, false]);
  });
});
