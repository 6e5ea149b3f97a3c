import { type Db, sql } from '@svc/store';

/**
 * Frees the events of a relay's records before they get them anew: after a reorganisation one record's event can stand where
 * another's stood, and records are changed one by one.
 */
export async function freeEventsOfRelay(tx: Db, relayId: string): Promise<void> {
  await tx.run(sql`
    update transactions set event_index = null where relay_id = ${relayId} and event_index is not null`);
}
