import { type Database, type Db, type Sql, sql } from '@svc/store';
import type { Attempt } from './attempt.ts';
import { disableFailing, disableGone } from './disable.ts';
import type { DueDelivery } from './due.ts';
import type { AttemptMade } from './verdict.ts';

/**
 * Stores an attempt and what follows from it. Where somebody else has stored the same one, which happens when a process was thought
 * dead, nothing changes. What an address says that the webhook has left meanwhile is not said of the new one, which has its own try.
 */
export async function keepAttempt(db: Database, delivery: DueDelivery, { made, verdict }: Attempt): Promise<void> {
  if (verdict.state === 'DELIVERED') {
    await store(db, delivery, made, ENDED('DELIVERED'), WELL);
    return;
  }
  if (verdict.state === 'WAITING') {
    const pauseSeconds = verdict.pauseMs / 1_000;
    const hasMoved = sql`${delivery.url} <> (select url from webhooks where id = webhook_id)`;
    const pause = sql`make_interval(secs => case when ${hasMoved} then 0 else ${pauseSeconds}::float8 end)`;
    await store(db, delivery, made, sql`next_attempt_at = clock_timestamp() + ${pause}`, FAILING(made));
    return;
  }
  await db.tx(async (tx) => {
    if (await lockMoved(tx, delivery)) {
      await store(tx, delivery, made, sql`next_attempt_at = clock_timestamp()`, FAILING(made));
      return;
    }
    if (!(await store(tx, delivery, made, ENDED('FAILED'), FAILING(made)))) return;
    if (verdict.because === 'GONE') await disableGone(tx, delivery);
    else await disableFailing(tx, delivery);
  });
}

/** Whether the webhook has another address by now. It keeps the one it has until the transaction ends. */
async function lockMoved(tx: Db, { id, webhookId, url }: DueDelivery): Promise<boolean> {
  await tx.run(sql`select from webhook_deliveries where id = ${id} for no key update`);
  const now = await tx.one<{ url: string }>(sql`select url from webhooks where id = ${webhookId} for no key update`);
  return now !== undefined && now.url !== url;
}

const ENDED = (state: 'DELIVERED' | 'FAILED') =>
  sql`state = ${state}, next_attempt_at = null, ended_at = clock_timestamp()`;

/** How the webhook's own record changes. Its row is left alone as a rule: it is the same for all of its deliveries. */
interface Health {
  readonly set: Sql;
  readonly where: Sql;
}
const WELL: Health = { set: sql`failing_since = null`, where: sql`failing_since is not null` };
const FAILING = ({ at }: AttemptMade): Health => ({
  set: sql`failing_since = ${at}`,
  where: sql`failing_since is null`,
});

/** False when the delivery has gone on without this attempt. Deliveries are locked before their webhook, here as everywhere. */
async function store(
  db: Db,
  { id, webhookId, attempts, url }: DueDelivery,
  made: AttemptMade,
  change: Sql,
  health: Health,
): Promise<boolean> {
  const stored = await db.rows(sql`
    with changed as (
      update webhook_deliveries set attempts = attempts + 1, ${change}
       where id = ${id} and state = 'WAITING' and attempts = ${attempts}
      returning id, attempts
    ), kept as (
      insert into webhook_attempts (delivery_id, number, at, duration_ms, status, error, response)
      select id, attempts, ${made.at}, ${made.durationMs}, ${made.status}, ${made.error}, ${made.response} from changed
    ), health as (
      update webhooks set ${health.set}
       where id = ${webhookId} and url = ${url} and ${health.where} and exists (select from changed)
    )
    select from changed`);
  return stored.length === 1;
}
