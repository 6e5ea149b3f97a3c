import { type Db, sql } from '@svc/store';

/** For a transaction that somebody else makes: its hash is known only after its records were stored. */
export async function setHashOfRelay(db: Db, relayId: string, hash: string): Promise<void> {
  await db.run(sql`
    update transactions set transaction_hash = ${hash}, updated_at = greatest(created_at, now())
     where relay_id = ${relayId} and transaction_hash is null`);
}
