import { type Reads, sql } from '@svc/store';

/**
 * The database's clock, by which processes agree since when something is so. A clock of the caller's own counts by how far it is ahead of
 * the process's.
 */
export async function presentTime(reads: Reads, now: () => number = Date.now): Promise<Date> {
  const row = await reads.one<{ at: Date }>(sql`select now() as at`);
  if (!row) throw new Error('The database does not tell the time.');
  return new Date(row.at.getTime() + now() - Date.now());
}
