import { OutboundError } from '../outbound/outbound-error.ts';
import { daysSince } from './calendar-day.ts';
import { isPlausibleRate } from './rate.ts';
import { type Rate, type RateFailureKind, type RateSource, RateSourceError } from './rate-source.ts';

// Rates are published on working days; the longest gaps, around Easter, are five days.
const MAX_OBSERVED_AGE_DAYS = 5;
// East of Greenwich the next day has already begun.
const MAX_DAYS_AHEAD = 1;

export interface RateFailure {
  readonly source: string;
  readonly kind: RateFailureKind;
  readonly message: string;
}

export type RateAnswer =
  | { readonly ok: true; readonly rate: Rate }
  | { readonly ok: false; readonly failure: RateFailure };

/** What a source says, if it is a rate to take money by. A source that fails is an expected outcome. */
export async function askSource(source: RateSource, now: number): Promise<RateAnswer> {
  try {
    const rate = await source.mxnPerUsd();
    refuseImplausible(rate, now);
    return { ok: true, rate };
  } catch (error) {
    return { ok: false, failure: { source: source.name, ...describe(error) } };
  }
}

function refuseImplausible({ mxnPerUsd, observedOn }: Rate, now: number): void {
  if (!isPlausibleRate(mxnPerUsd)) throw new RateSourceError('implausible', 'The rate is not within 1 to 1000.');
  if (observedOn === undefined) return;
  const age = daysSince(observedOn, now);
  if (age > MAX_OBSERVED_AGE_DAYS) throw new RateSourceError('outdated', `The rate is ${age} days old.`);
  if (age < -MAX_DAYS_AHEAD) throw new RateSourceError('implausible', 'The rate is of a day to come.');
}

// Only errors made for it are quoted: the message of any other may contain the address with its query.
function describe(error: unknown): Pick<RateFailure, 'kind' | 'message'> {
  if (error instanceof RateSourceError || error instanceof OutboundError) {
    return { kind: error.kind, message: error.message };
  }
  return { kind: 'unexpected', message: error instanceof Error ? error.name : typeof error };
}
