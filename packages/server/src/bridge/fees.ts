import { parseDecimal } from '@svc/protocol';
import { FAST_THRESHOLD, STANDARD_THRESHOLD } from './cctp.ts';

/** Fees are told in basis points, which may be decimal; ten decimals are finer than any of them. */
const DECIMALS = 10;
const PARTS_PER_UNIT = 10_000n * 10n ** BigInt(DECIMALS);
/** A tenth of the amount, or three dollars for the mint: more is a mistake or a spike, and must not become part of a gift. */
const MAX_BASIS_POINTS = 1_000;
const MAX_FORWARD_FEE = 3_000_000;
/** A gift that holds nothing at all for the bridge was made while there was none. */
const LEAST_CEILING = 1n;

/** What the bridge takes at present. */
export interface Fees {
  /** Of the amount, in 10^-14. */
  readonly parts: bigint;
  /** For minting on Solana, in USDC's smallest unit. */
  readonly forward: bigint;
}

/** Undefined where the answer is not a list of plausible fees for both speeds. */
export function readFees(answer: unknown): { readonly fast: Fees; readonly standard: Fees } | undefined {
  if (!Array.isArray(answer)) return undefined;
  const feesOf = (threshold: bigint) =>
    readEntry(answer.find((entry) => entry?.finalityThreshold === Number(threshold)));
  const [fast, standard] = [feesOf(FAST_THRESHOLD), feesOf(STANDARD_THRESHOLD)];
  return fast && standard && { fast, standard };
}

function readEntry(entry: unknown): Fees | undefined {
  const { minimumFee, forwardFee } = (entry ?? {}) as { minimumFee?: unknown; forwardFee?: { high?: unknown } | null };
  // The dearest of the three speeds, so that a busy Solana does not hold a mint up.
  const forward = forwardFee?.high;
  if (typeof minimumFee !== 'number' || !(minimumFee >= 0 && minimumFee <= MAX_BASIS_POINTS)) return undefined;
  if (typeof forward !== 'number' || !(Number.isSafeInteger(forward) && forward >= 0 && forward <= MAX_FORWARD_FEE)) {
    return undefined;
  }
  const parts = parseDecimal(minimumFee.toFixed(DECIMALS), DECIMALS);
  return parts.ok ? { parts: parts.value, forward: BigInt(forward) } : undefined;
}

/** What is taken of so much burned, rounded up. */
export function feeOf({ parts, forward }: Fees, burned: bigint): bigint {
  return (burned * parts + PARTS_PER_UNIT - 1n) / PARTS_PER_UNIT + forward;
}

/**
 * What has to be burned on top of an amount so that all of it arrives. Half as much again is added: a gift is paid for long before it
 * is redeemed, and fees change. What the bridge leaves of it reaches the recipient.
 */
export function ceilingOf(fees: Fees, amount: bigint): bigint {
  // The fee is taken of what is burned, so of its own ceiling, too.
  const ceiling = withMargin(feeOf(fees, amount + withMargin(feeOf(fees, amount))));
  return ceiling > LEAST_CEILING ? ceiling : LEAST_CEILING;
}

const withMargin = (fee: bigint): bigint => (fee * 3n + 1n) / 2n;
