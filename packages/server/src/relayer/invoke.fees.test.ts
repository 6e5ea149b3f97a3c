import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { rawInvoke } from '../chains/starknet/chain.ts';
import { bumpedFee, type Fee, feeOf, firstFee, maxFeeOf, requireFee } from './invoke.ts';

const use = fc.record({ amount: fc.bigInt(0n, 2n ** 40n), price: fc.bigInt(0n, 2n ** 60n) });
const estimates = fc.record({
  ok: fc.constant(true as const),
  fee: fc.constant(1n),
  l1Gas: use,
  l1DataGas: use,
  l2Gas: use,
});
const resources = ['l1Gas', 'l1DataGas', 'l2Gas'] as const;

const asTransaction = ({ tip, bounds }: Fee) =>
  rawInvoke(
    {
      sender: 1n,
      nonce: 1n,
      calldata: [],
      tip,
      resourceBounds: bounds,
      paymasterData: [],
      accountDeploymentData: [],
      nonceDataAvailabilityMode: 0,
      feeDataAvailabilityMode: 0,
    },
    [],
  );

describe('the fee of a transaction', () => {
  it('has half as much room again as the estimate, in amounts and in prices', () => {
    const gas = { amount: 3n, price: 100n };
    const { tip, bounds } = firstFee({
      ok: true,
      fee: 1n,
      l1Gas: { amount: 0n, price: 7n },
      l1DataGas: gas,
      l2Gas: gas,
    });
    expect(tip).toBe(0n);
    expect(bounds.l1Gas).toEqual({ maxAmount: 0n, maxPricePerUnit: 11n });
    expect(bounds.l2Gas).toEqual({ maxAmount: 5n, maxPricePerUnit: 150n });
  });

  it('is never signed for more than the limit, and always covers the estimate', () => {
    let signed = 0;
    fc.assert(
      fc.property(estimates, fc.bigInt(0n, 2n ** 105n), (estimate, limit) => {
        let fee: Fee;
        try {
          fee = requireFee(estimate, limit);
        } catch (error) {
          expect(error).toMatchObject({ code: 'fee_too_high' });
          return;
        }
        signed += 1;
        expect(maxFeeOf(fee)).toBeLessThanOrEqual(limit);
        for (const resource of resources) {
          expect(fee.bounds[resource].maxAmount).toBe(firstFee(estimate).bounds[resource].maxAmount);
          expect(fee.bounds[resource].maxPricePerUnit).toBeGreaterThanOrEqual(estimate[resource].price);
        }
      }),
    );
    expect(signed).toBeGreaterThan(0);
  });

  it('is raised in tip and every price by three tenths or more, and covers what is asked now', () => {
    fc.assert(
      fc.property(estimates, fc.option(estimates, { nil: undefined }), (before, now) => {
        const first = firstFee(before);
        const next = bumpedFee(first, now);
        expect(next.tip > first.tip).toBe(true);
        for (const resource of resources) {
          const [old, bound] = [first.bounds[resource], next.bounds[resource]];
          expect(bound.maxPricePerUnit > old.maxPricePerUnit).toBe(true);
          expect(bound.maxPricePerUnit * 10n >= old.maxPricePerUnit * 13n).toBe(true);
          expect(bound.maxAmount).toBe(now ? firstFee(now).bounds[resource].maxAmount : old.maxAmount);
          if (now) expect(bound.maxPricePerUnit >= now[resource].price).toBe(true);
        }
      }),
    );
  });

  it('is read back from a stored transaction', () => {
    fc.assert(
      fc.property(estimates, (estimate) => {
        const fee = bumpedFee(firstFee(estimate), undefined);
        expect(feeOf(asTransaction(fee))).toEqual(fee);
      }),
    );
  });
});
