import { parseIsoDay } from '../calendar-day.ts';
import { type MxnPerUsd, parseRate } from '../rate.ts';
import { RateSourceError } from '../rate-source.ts';

/** For the fields of an answer: what cannot be read is the source's failure. */
export function readRate(text: string | undefined): MxnPerUsd {
  if (text === undefined) throw new RateSourceError('unreadable', 'The answer has no rate where it should be.');
  const rate = parseRate(text);
  if (!rate.ok) throw new RateSourceError('unreadable', `The rate ${rate.reason}.`);
  return rate.value;
}

export function readIsoDay(text: string | undefined): string {
  return requireDay(text === undefined ? undefined : parseIsoDay(text));
}

export function requireDay(day: string | undefined): string {
  if (day === undefined) throw new RateSourceError('unreadable', 'The answer has no date where it should be.');
  return day;
}
