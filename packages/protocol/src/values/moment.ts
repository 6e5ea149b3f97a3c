import { type Parsed, parsed, unparsed } from './parsed.ts';

/** A date-time with its zone, or a date. Parsing checks the calendar. */
export const MOMENT_PATTERN =
  '^\\d{4}-\\d{2}-\\d{2}(T([01]\\d|2[0-3]):[0-5]\\d(:[0-5]\\d(\\.\\d{1,9})?)?(Z|[+-]([01]\\d|2[0-3]):[0-5]\\d))?$';

const form = new RegExp(MOMENT_PATTERN);
const DATE_LENGTH = 'YYYY-MM-DD'.length;
/** Range that JavaScript, JSON and PostgreSQL agree on. */
const FIRST_MS = Date.UTC(1970, 0, 1);
const AFTER_LAST_MS = Date.UTC(10_000, 0, 1);

/**
 * Reads a point in time from ISO 8601. A plain date is midnight UTC.
 *
 * @example parseMoment('2026-12-01') // { ok: true, value: new Date('2026-12-01T00:00:00.000Z') }
 */
export function parseMoment(text: string): Parsed<Date> {
  if (!form.test(text) || !isInCalendar(text.slice(0, DATE_LENGTH))) {
    return unparsed('must be a date-time with its zone, such as 2026-12-01T00:00:00Z, or a date');
  }
  const moment = new Date(text);
  const ms = moment.getTime();
  return ms >= FIRST_MS && ms < AFTER_LAST_MS ? parsed(moment) : unparsed('must lie in the years 1970 to 9999');
}

/** `Date` would turn February 30 into March 2. */
function isInCalendar(date: string): boolean {
  const midnight = new Date(`${date}T00:00:00Z`);
  return !Number.isNaN(midnight.getTime()) && midnight.toISOString().startsWith(date);
}
