import type { MxnPerUsd } from './rate.ts';

export interface RateInForce {
  readonly mxnPerUsd: MxnPerUsd;
  /** The source's name, or `fixed`. */
  readonly source: string;
}

/** Where an environment takes its rate from. Throws the `ApiError` rate_unavailable when there is none. */
export interface Rates {
  current(): Promise<RateInForce>;
  /** Every rate that was in force at some moment of the last minutes, newest first, the current one included. */
  ofLast(minutes: number): Promise<readonly RateInForce[]>;
}
