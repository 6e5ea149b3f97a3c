import type { Environment } from '@svc/protocol';
import { type Db, sql } from '@svc/store';

export interface MailRow {
  readonly id: string;
  readonly environment: Environment;
  readonly recipient: string;
  readonly template: string;
  readonly content: unknown;
  readonly createdAt: Date;
}

interface NewMailRow extends Omit<MailRow, 'createdAt'> {
  readonly organizationId: string;
}

export async function insertMails(tx: Db, mails: readonly NewMailRow[]): Promise<void> {
  await tx.run(sql`
    insert into mails (id, organization_id, environment, recipient, template, content)
    select id, "organizationId", environment, recipient, template, content
      from jsonb_to_recordset(${JSON.stringify(mails)}::jsonb) as mail (
        id text, "organizationId" text, environment text, recipient text, template text, content jsonb)`);
}

/** undefined when it has ended, one way or the other. */
export function findQueuedMail(db: Db, id: string): Promise<MailRow | undefined> {
  return db.one<MailRow>(sql`
    select id, environment, recipient, template, content, created_at as "createdAt"
      from mails where id = ${id} and state = 'QUEUED'`);
}

export async function markSent(db: Db, id: string): Promise<void> {
  await db.run(sql`update mails set state = 'SENT', sent_at = now() where id = ${id} and state = 'QUEUED'`);
}

export async function markFailed(db: Db, id: string, reason: string): Promise<void> {
  await db.run(sql`update mails set state = 'FAILED', reason = ${reason} where id = ${id} and state = 'QUEUED'`);
}

/** Queued mails that no job will send: they were taken while nobody could send them. The oldest first. */
export function mailsWithoutJob(
  db: Db,
  task: string,
  environment: Environment,
  limit: number,
): Promise<{ id: string; environment: Environment }[]> {
  return db.rows(sql`
    select id, environment from mails
     where state = 'QUEUED' and environment = ${environment}
       and not exists (select from jobs where task = ${task} and key = mails.id and failed_at is null)
     order by created_at, id
     limit ${limit}`);
}

export function countQueued(db: Pick<Db, 'rows'>): Promise<{ environment: Environment; mails: number }[]> {
  return db.rows(sql`
    select environment, count(*)::integer as mails from mails where state = 'QUEUED' group by environment`);
}
