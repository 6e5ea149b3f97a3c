import { type Db, sql } from '@svc/store';

/** Whoever asks too often waits this long, as with the live service. */
export const BLOCK_SECONDS = 300;

/**
 * Counts a request and says whether it may be answered. All processes count together. A block that lies further ahead than
 * a block lasts was made before the clock was set back, and is over.
 */
export async function admit(db: Db, requestsPerSecond: number, nowSeconds: number): Promise<boolean> {
  const row = await db.one<{ blocked: boolean }>(sql`
    update sandbox.bridge_limit set
      second = ${nowSeconds}::bigint,
      requests = case when second = ${nowSeconds}::bigint then requests + 1 else 1 end,
      blocked_until = case
        when blocked_until > ${nowSeconds}::bigint and blocked_until <= ${nowSeconds + BLOCK_SECONDS}::bigint
          then blocked_until
        when second = ${nowSeconds}::bigint and requests >= ${requestsPerSecond}::integer
          then ${nowSeconds + BLOCK_SECONDS}::bigint
        else 0 end
    returning blocked_until > 0 as blocked`);
  return row?.blocked === false;
}
