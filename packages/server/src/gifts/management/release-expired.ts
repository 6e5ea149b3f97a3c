import { type Db, sql } from '@svc/store';
import type { GiftRecord } from '../gift.ts';
import { releaseRest } from '../shares.ts';

/** In one transaction: the money operations of their organisations wait meanwhile. */
const BATCH = 100;
/** Whatever is left is for the next run. */
const MAX_BATCHES = 100;

/** Gives back what expired gifts still hold. Gifts that somebody is changing or redeeming now are left for the next run. */
export async function releaseExpired(db: Db, nowMs: number, signal?: AbortSignal): Promise<void> {
  for (let batch = 0; batch < MAX_BATCHES && !signal?.aborted; batch++) {
    if ((await releaseBatch(db, new Date(nowMs))) < BATCH) return;
  }
}

function releaseBatch(db: Db, now: Date): Promise<number> {
  return db.tx(async (tx) => {
    const gifts = await tx.rows<Pick<GiftRecord, 'id' | 'holdId' | 'organizationId' | 'environment'>>(sql`
      select id, hold_id as "holdId", organization_id as "organizationId", environment
        from gifts
       where hold_id is not null and expires_at <= ${now}
       order by expires_at
       limit ${BATCH}
         for no key update skip locked`);
    // Ledgers are locked in one order, so that two runs never wait for each other in a circle.
    const ledgerOf = ({ organizationId, environment }: (typeof gifts)[number]) => `${organizationId} ${environment}`;
    const sorted = gifts.toSorted((a, b) => (ledgerOf(a) < ledgerOf(b) ? -1 : 1));
    for (const gift of sorted) await releaseRest(tx, gift);
    return gifts.length;
  });
}
