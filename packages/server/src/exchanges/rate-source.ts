import type { OutboundErrorKind } from '../outbound/outbound-error.ts';
import type { MxnPerUsd } from './rate.ts';

export interface Rate {
  readonly mxnPerUsd: MxnPerUsd;
  /** The day that the source gives for its rate, as YYYY-MM-DD. */
  readonly observedOn?: string;
}

/** Somewhere that the price of a dollar is published. Asking again is always safe: it only reads. */
export interface RateSource {
  readonly name: string;
  /** Throws a `RateSourceError` or an `OutboundError` when there is no answer to be had. */
  mxnPerUsd(signal?: AbortSignal): Promise<Rate>;
}

/**
 * - `status`: another HTTP status than 200, a redirect included
 * - `unreadable`: the answer is not in the form of this source
 * - `no_rate`: the source says that it has none
 * - `implausible`, `outdated`: a rate, but not one to take money by
 * - `unexpected`: a fault of ours
 */
export type RateFailureKind =
  | OutboundErrorKind
  | 'status'
  | 'unreadable'
  | 'no_rate'
  | 'implausible'
  | 'outdated'
  | 'unexpected';

/** Its message goes to the log, so it never repeats an address, a header or the answer. */
export class RateSourceError extends Error {
  readonly kind: RateFailureKind;

  constructor(kind: RateFailureKind, message: string) {
    super(message);
    this.name = 'RateSourceError';
    this.kind = kind;
  }
}
