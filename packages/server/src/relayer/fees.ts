import type { InvokeFields, ResourceBounds } from '@svc/starknet';
import type { Estimate, GasUse } from '../chains/starknet/chain.ts';
import type { RawInvoke } from '../chains/starknet/raw-invoke.ts';

/** What the sender of a transaction agrees to pay at most. */
export interface Fee {
  readonly tip: bigint;
  readonly bounds: InvokeFields['resourceBounds'];
}

type Bounds = Fee['bounds'];

const NOTHING: ResourceBounds = { maxAmount: 0n, maxPricePerUnit: 0n };
/** For a transaction that is only estimated. */
export const NO_FEE: Fee = { tip: 0n, bounds: { l1Gas: NOTHING, l2Gas: NOTHING, l1DataGas: NOTHING } };

/** Room for prices that rise and a state that changes before its turn comes. What is not used is not paid. */
const withRoom = (value: bigint): bigint => (value * 3n + 1n) / 2n;
/** Sequencers replace a waiting transaction only by one that pays clearly more; a tenth is what they usually ask for. */
const raised = (value: bigint): bigint => (value * 13n) / 10n + 1n;
/** A tip is paid whole, so the first raise starts at this part of the price. */
const PRICE_PER_TIP = 10n;

/** Without a tip: blocks are rarely full, and where one is, the fee is raised later. */
export function firstFee(estimate: Estimate): Fee {
  const bound = ({ amount, price }: GasUse) => ({ maxAmount: withRoom(amount), maxPricePerUnit: withRoom(price) });
  const { l1Gas, l2Gas, l1DataGas } = estimate;
  return { tip: 0n, bounds: { l1Gas: bound(l1Gas), l2Gas: bound(l2Gas), l1DataGas: bound(l1DataGas) } };
}

/** More than before in tip and in every price, and no less than what is asked now. Without an estimate the amounts stay. */
export function raisedFee(before: Fee, estimate: Estimate | undefined): Fee {
  const fresh = estimate && firstFee(estimate).bounds;
  const bound = (resource: keyof Bounds) => {
    const { maxAmount, maxPricePerUnit } = before.bounds[resource];
    return {
      maxAmount: fresh?.[resource].maxAmount ?? maxAmount,
      maxPricePerUnit: max(raised(maxPricePerUnit), fresh?.[resource].maxPricePerUnit ?? 0n),
    };
  };
  const bounds = { l1Gas: bound('l1Gas'), l2Gas: bound('l2Gas'), l1DataGas: bound('l1DataGas') };
  return { tip: max(raised(before.tip), bounds.l2Gas.maxPricePerUnit / PRICE_PER_TIP), bounds };
}

/** The most that it may cost, which the sender's balance has to cover. */
export function maxFeeOf({ tip, bounds: { l1Gas, l2Gas, l1DataGas } }: Fee): bigint {
  const most = ({ maxAmount, maxPricePerUnit }: ResourceBounds) => maxAmount * maxPricePerUnit;
  return most(l1Gas) + most(l2Gas) + most(l1DataGas) + l2Gas.maxAmount * tip;
}

/** Whether the bounds still allow what a transaction would use now. */
export function covers({ bounds }: Fee, estimate: Estimate): boolean {
  return (['l1Gas', 'l2Gas', 'l1DataGas'] as const).every(
    (resource) =>
      estimate[resource].amount <= bounds[resource].maxAmount &&
      estimate[resource].price <= bounds[resource].maxPricePerUnit,
  );
}

export function feeOf({ tip, resource_bounds }: RawInvoke): Fee {
  const bound = ({ max_amount, max_price_per_unit }: RawInvoke['resource_bounds']['l1_gas']) => ({
    maxAmount: BigInt(max_amount),
    maxPricePerUnit: BigInt(max_price_per_unit),
  });
  const { l1_gas, l2_gas, l1_data_gas } = resource_bounds;
  return { tip: BigInt(tip), bounds: { l1Gas: bound(l1_gas), l2Gas: bound(l2_gas), l1DataGas: bound(l1_data_gas) } };
}

const max = (a: bigint, b: bigint): bigint => (a > b ? a : b);
