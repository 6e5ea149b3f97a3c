import type pg from 'pg';

/** Who may hold what: a lock belongs to the database of its connection and disappears with that connection. */
export type LockName = 'svc:migrate' | 'svc:embedded-owner' | 'svc:test-template';

/** Waits for the lock, at most for the connection's lock_timeout. */
export async function lock(client: pg.Client, name: LockName): Promise<void> {
  await client.query('select pg_advisory_lock(hashtextextended($1, 0))', [name]);
}

export async function tryLock(client: pg.Client, name: LockName): Promise<boolean> {
  const answer = await client.query('select pg_try_advisory_lock(hashtextextended($1, 0)) as locked', [name]);
  return answer.rows[0]?.locked === true;
}
