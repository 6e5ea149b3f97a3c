import { type Environment, environments } from '@svc/protocol';
import { type Database, type Db, sql } from '@svc/store';
import { enqueueMany, type JobContext, type JobLog } from '../jobs/job.ts';
import { laneOf, newId } from '../util/ids.ts';
import { type Letter, MAIL_LANES, type Mailers } from './mailers.ts';
import { fillTemplate, type TemplateContent, type TemplateName } from './templates/templates.ts';

export interface NewMail<T extends TemplateName = TemplateName> {
  readonly organizationId: string;
  readonly environment: Environment;
  readonly recipient: string;
  readonly template: T;
  readonly content: TemplateContent[T];
}

export const SEND_TASK = 'send-mail';
/** More than fit into the three days after which a mail is abandoned. */
const MAX_ATTEMPTS = 100;

/** In the caller's transaction. */
export async function queueMails(tx: Db, mails: readonly NewMail[]): Promise<void> {
  if (mails.length === 0) return;
  const rows = mails.map((mail) => ({ ...mail, id: newId('mail') }));
  await insertMails(tx, rows);
  await enqueueSending(tx, rows);
}

export async function enqueueSending(tx: Db, mails: readonly { id: string; environment: string }[]): Promise<void> {
  const jobs = mails.map(({ id, environment }) => ({
    task: SEND_TASK,
    key: id,
    payload: { id },
    queue: `mail-${environment}-${laneOf(id, MAIL_LANES)}`,
    maxAttempts: MAX_ATTEMPTS,
  }));
  await enqueueMany(tx, jobs);
}

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

/** Queued while no mailer was configured. Oldest first. */
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

export interface DeliverDeps {
  readonly db: Db;
  readonly mailers: Mailers;
  readonly now?: () => number;
}

/** A weekend and a day to fix a login. */
const ABANDON_AFTER_MS = 3 * 86_400_000;

/** A crash in between sends it again under the same Message-ID. Without a mailer it stays queued. */
export async function deliver(deps: DeliverDeps, id: string, { signal }: Pick<JobContext, 'signal'>): Promise<void> {
  const { db, mailers, now = Date.now } = deps;
  const mail = await findQueuedMail(db, id);
  const mailer = mail && mailers.of(mail.environment);
  if (!mail || !mailer) return;
  const delivery = await mailer.send(toLetter(mail), signal);
  if (delivery.outcome === 'SENT') return markSent(db, id);
  if (delivery.outcome === 'REFUSED') return markFailed(db, id, delivery.reason);
  if (!signal.aborted && now() - mail.createdAt.getTime() > ABANDON_AFTER_MS) {
    return markFailed(db, id, `Given up after three days. ${delivery.reason}`);
  }
  throw new Error(delivery.reason);
}

function toLetter({ id, createdAt, recipient, template, content }: MailRow): Letter {
  return { id, date: createdAt, recipient, ...fillTemplate(template, content) };
}

const MAX_AT_ONCE = 500;

const missing: Readonly<Record<Environment, string>> = {
  production: 'mails wait until SMTP_URL is set',
  development: 'mails wait until the sandbox is on',
};

/** Requeues mails that waited for a mailer; logs the rest. */
export async function requeueStalledMails(deps: { db: Database; mailers: Mailers; log: JobLog }): Promise<void> {
  const { db, mailers, log } = deps;
  const queued = await countQueued(db);
  for (const environment of environments) {
    const waiting = queued.find((counted) => counted.environment === environment)?.mails ?? 0;
    if (waiting === 0) continue;
    if (!mailers.of(environment)) {
      log.warn({ environment, mails: waiting }, missing[environment]);
      continue;
    }
    await db.tx(async (tx) => enqueueSending(tx, await mailsWithoutJob(tx, SEND_TASK, environment, MAX_AT_ONCE)));
  }
}
