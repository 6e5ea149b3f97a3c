const HOUR_MS = 3_600_000;

/** Providers that answer later mostly do within a minute, and tell so by callback; looking is for those that do not. */
const FIRST_LOOK_MS = 30_000;
/** What failed may work in a moment. */
const FIRST_RETRY_MS = 2_000;
const LONGEST_MS = HOUR_MS;
/** The longer it takes already, the less it matters when the end is seen. */
const SHARE_OF_AGE = 2;

/** A payment that was seen so long ago is looked at again before its provider hears of it. */
export const LATE_MS = 300_000;

/** After a day somebody has to look. */
export const OVERDUE_MS = 24 * HOUR_MS;

/** When to ask again for an order that the provider accepted so long ago. */
export const nextLookMs = (ageMs: number): number => between(FIRST_LOOK_MS, ageMs);

/** When to ask a provider again that has not answered, for an order that is so old. */
export const nextRetryMs = (ageMs: number): number => between(FIRST_RETRY_MS, ageMs);

const between = (first: number, ageMs: number) => Math.min(Math.max(ageMs / SHARE_OF_AGE, first), LONGEST_MS);

/** A payment that was seen once and is not there any more may come back for so long. */
export const MISSED_FOR_MS = 24 * HOUR_MS;
const FIRST_CONFIRMATION_MS = 1_000;
/** About as long as a block takes. */
const SLOWEST_CONFIRMATION_MS = 30_000;
const SLOWEST_SEARCH_MS = 300_000;

/** When to look again for a payment that was looked for so often. */
export const nextConfirmationMs = (looks: number, missing: boolean): number =>
  Math.min(FIRST_CONFIRMATION_MS * 2 ** looks, missing ? SLOWEST_SEARCH_MS : SLOWEST_CONFIRMATION_MS);
