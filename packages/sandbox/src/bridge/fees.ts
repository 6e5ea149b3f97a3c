import type { BridgeSettings } from './settings.ts';

export const FAST_THRESHOLD = 1_000;
export const STANDARD_THRESHOLD = 2_000;
const MILLION = 1_000_000n;
const PER_BASIS_POINT = 100;

/** Up to this threshold an attestation does not wait for finality. */
export function isFast(minFinalityThreshold: bigint): boolean {
  return minFinalityThreshold <= BigInt(FAST_THRESHOLD);
}

export interface Charge {
  readonly amount: bigint;
  readonly maxFee: bigint;
  readonly fast: boolean;
  readonly forwarded: boolean;
}

/** Rounded up, and never more than was agreed to. */
export function feeOf({ amount, maxFee, fast, forwarded }: Charge, settings: BridgeSettings): bigint {
  const share = fast ? (amount * BigInt(settings.fastFeePerMillion) + MILLION - 1n) / MILLION : 0n;
  const fee = share + (forwarded ? BigInt(settings.forwardFee) : 0n);
  return fee < maxFee ? fee : maxFee;
}

/** What the service shows: fees in basis points, which may be decimal. Here forwarding costs the same at any time. */
export function showFees({ fastFeePerMillion, forwardFee }: BridgeSettings, forward: boolean) {
  const forwarding = forward ? { forwardFee: { low: forwardFee, med: forwardFee, high: forwardFee } } : {};
  return [
    { finalityThreshold: FAST_THRESHOLD, minimumFee: fastFeePerMillion / PER_BASIS_POINT, ...forwarding },
    { finalityThreshold: STANDARD_THRESHOLD, minimumFee: 0, ...forwarding },
  ];
}
