/** About what a mint takes on Solana. */
const FIRST_LOOK_MS = 2_000;
/** Fast ones take seconds; standard ones hours, and nobody waits in front of a page. */
const SLOWEST_MS = { fast: 15_000, standard: 180_000 };
/** The longer it takes already, the less a few seconds matter. */
const SHARE_OF_AGE = 4;

const HOUR_MS = 3_600_000;
/** Circle says 20 seconds and 8 hours. Beyond these somebody has to look. */
const ATTESTED_WITHIN_MS = { fast: HOUR_MS, standard: 24 * HOUR_MS };
/** Forwarding takes seconds; an attestation that was not used for so long may have expired. */
export const FORWARDED_WITHIN_MS = HOUR_MS;
/** While nothing is burned the redeem can still be given back, and somebody waits for its place. */
export const BURNED_WITHIN_MS = HOUR_MS;
/** After each renewal of an attestation, how long the bridge gets before it is looked at again; so many renewals there are. */
export const RENEWAL_PAUSES_MS: readonly number[] = [5_000, 30_000, 180_000, 900_000, HOUR_MS];

/** When to look again at something that has been waited for so long. */
export function nextLookMs(fast: boolean, ageMs: number): number {
  const slowest = fast ? SLOWEST_MS.fast : SLOWEST_MS.standard;
  return Math.min(Math.max(ageMs / SHARE_OF_AGE, FIRST_LOOK_MS), slowest);
}

export const attestedWithinMs = (fast: boolean): number =>
  fast ? ATTESTED_WITHIN_MS.fast : ATTESTED_WITHIN_MS.standard;
