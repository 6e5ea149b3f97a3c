import { ApiError, type Brand, type Environment, environments } from '@svc/protocol';
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
  /** It is cancelled with this gift. */
  readonly giftId?: string | undefined;
}

export const SEND_TASK = 'send-mail';
/** More than fit into the three days after which a mail is abandoned. */
const MAX_ATTEMPTS = 100;
const DAY_MS = 86_400_000;

export async function queueMails(tx: Db, mails: readonly NewMail[]): Promise<void> {
  if (mails.length === 0) return;
  const rows = mails.map((mail) => ({ ...mail, id: newId('mail') }));
  await insertMails(tx, rows);
  await enqueueSending(tx, rows);
}

/** Of one environment. Throws `mail_limit_reached`, all or none: recipients of gifts did not ask for mail. */
export async function queueGiftMails(
  tx: Db,
  mails: readonly NewMail<'gift'>[],
  dailyMails: number | undefined,
  at: Date,
): Promise<void> {
  const [first] = mails;
  if (!first) return;
  const counted = await countMails(tx, first, mails.length, at);
  if (dailyMails !== undefined && counted > dailyMails) {
    const left = Math.max(0, dailyMails - (counted - mails.length));
    const message = `${mails.length} mails are too many: ${left} of ${dailyMails} a day are left. The limit resets at ${dayAfter(at)}.`;
    throw new ApiError('mail_limit_reached', message);
  }
  await queueMails(tx, mails);
}

type Notification = NewMail<Exclude<TemplateName, 'gift' | 'mails-paused'>>;

/** To an organisation's own address. Counts on the day as well; what is over its number is dropped when its turn to be sent comes. */
export async function queueNotification(tx: Db, mail: Notification, at = new Date()): Promise<void> {
  const placeOfDay = await countMails(tx, mail, 1, at);
  const row = { ...mail, id: newId('mail'), day: dayOf(at), placeOfDay };
  await insertMails(tx, [row]);
  await enqueueSending(tx, [row]);
}

const dayOf = (at: Date) => at.toISOString().slice(0, 10);
const dayAfter = (at: Date) => new Date(Date.parse(`${dayOf(at)}T00:00:00Z`) + DAY_MS).toISOString();

/** The number of the environment's mails on that day, with these. */
async function countMails(
  tx: Db,
  { organizationId, environment }: Pick<NewMail, 'organizationId' | 'environment'>,
  count: number,
  at: Date,
): Promise<number> {
  const row = await tx.one<{ mails: number }>(sql`
    insert into mail_days as known (organization_id, environment, day, mails)
    values (${organizationId}, ${environment}, ${dayOf(at)}::date, ${count})
    on conflict (organization_id, environment, day) do update set mails = known.mails + excluded.mails
    returning mails`);
  if (!row) throw new Error('The mails were not counted.');
  return row.mails;
}

/** Those that have not left. */
export async function cancelMailsOfGift(tx: Db, giftId: string): Promise<number> {
  return tx.run(sql`update mails set state = 'CANCELLED' where gift_id = ${giftId} and state = 'QUEUED'`);
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

/** Of notifications. */
interface Counted {
  readonly day: string | null;
  readonly placeOfDay: number | null;
}

export interface MailRow extends Counted {
  readonly id: string;
  readonly organizationId: string;
  readonly environment: Environment;
  readonly recipient: string;
  readonly template: string;
  readonly content: unknown;
  readonly createdAt: Date;
}

interface NewMailRow extends Omit<MailRow, 'createdAt' | keyof Counted> {
  readonly giftId?: string | undefined;
  readonly day?: string;
  readonly placeOfDay?: number;
}

export async function insertMails(tx: Db, mails: readonly NewMailRow[]): Promise<void> {
  await tx.run(sql`
    with added as (
      insert into mails (id, organization_id, environment, recipient, template, content, gift_id, day, place_of_day)
      select id, "organizationId", environment, recipient, template, content, "giftId", day, "placeOfDay"
        from jsonb_to_recordset(${JSON.stringify(mails)}::jsonb) as mail (
          id text, "organizationId" text, environment text, recipient text, template text, content jsonb, "giftId" text,
          day date, "placeOfDay" integer)
      returning organization_id, environment)
    insert into mail_turns (organization_id, environment) select distinct organization_id, environment from added
    order by organization_id, environment
    on conflict do nothing`);
}

/** Jobs that take a mail at the same moment choose the same one; all but one choose again. */
const MAX_LOST_RACES = 20;

/**
 * Of the organisation that was served the longest time ago, the mail that waits the longest. A job that died has none any more. One that
 * was tried is left to its own job, which pauses longer after each failure: otherwise it would take the turns and the attempts of others.
 */
async function takeNextMail(
  db: Db,
  { id: queuedId, environment }: Pick<MailRow, 'id' | 'environment'>,
  jobId: string,
): Promise<MailRow | undefined> {
  const isFree = sql`
    organization_id = turn.organization_id and environment = turn.environment and state = 'QUEUED' and not exists (
      select from jobs where jobs.id = mails.taken_by and jobs.worker is not null and jobs.id <> ${jobId}::bigint)`;
  for (let race = 0; race < MAX_LOST_RACES; race += 1) {
    const row = await db.one<MailRow & { readonly taken: boolean }>(sql`
      with next as materialized (
        select found.id, found.tried_at
          from mail_turns as turn
         cross join lateral (
           (select id, tried_at from mails where ${isFree} and tried_at is null
             order by tried_at nulls first, created_at, id limit 1)
            union all
           (select id, tried_at from mails where ${isFree} and id = ${queuedId} and tried_at is not null)
            order by tried_at nulls first
            limit 1) as found
         where turn.environment = ${environment}
         order by turn.served_at
         limit 1
      ), taken as (
        update mails set taken_by = ${jobId}::bigint, tried_at = clock_timestamp()
          from next
         where mails.id = next.id and state = 'QUEUED' and mails.tried_at is not distinct from next.tried_at
        returning mails.id, organization_id, organization_id as "organizationId", environment, recipient, template, content,
                  created_at as "createdAt", day::text,
                  place_of_day as "placeOfDay"
      ), served as (
        update mail_turns set served_at = clock_timestamp() from taken
         where mail_turns.organization_id = taken.organization_id and mail_turns.environment = taken.environment
      )
      select taken.*, taken.id is not null as taken from next left join taken on true`);
    if (!row || row.taken) return row;
  }
  throw new Error('Other jobs took every mail first.');
}

export async function markSent(db: Db, id: string): Promise<void> {
  await db.run(sql`
    update mails set state = 'SENT', sent_at = now(), content = ${withoutLink} where id = ${id} and state = 'QUEUED'`);
}

export async function markFailed(db: Db, id: string, reason: string): Promise<void> {
  await db.run(sql`
    update mails set state = 'FAILED', reason = ${reason}, content = ${withoutLink} where id = ${id} and state = 'QUEUED'`);
}

/** A link that signs in is kept as a hash only, once its mail has left. */
const withoutLink = sql`
  case when template in ('sign-in', 'invitation') then content - 'url' else content end`;

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
  /** As it is when the mail leaves, so that its logo is there. */
  readonly brandOf?:
    | ((owner: Pick<MailRow, 'organizationId' | 'environment'>) => Promise<Brand | undefined>)
    | undefined;
  /** Of an environment of production. */
  readonly dailyMails?: number | undefined;
  readonly now?: () => number;
}

/** A weekend and a day to fix a login. */
const ABANDON_AFTER_MS = 3 * 86_400_000;

/**
 * There is a job for each mail, but a job sends the mail whose turn it is: many mails of one organisation do not delay those of others.
 * A crash in between sends it again under the same Message-ID. Without a mailer it stays queued.
 */
export async function deliver(
  deps: DeliverDeps,
  queuedId: string,
  { signal, jobId }: Pick<JobContext, 'signal' | 'jobId'>,
): Promise<void> {
  const { db, mailers, now = Date.now } = deps;
  const queued = await db.one<Pick<MailRow, 'environment'>>(sql`select environment from mails where id = ${queuedId}`);
  const mailer = queued && mailers.of(queued.environment);
  const mail = mailer && (await takeNextMail(db, { id: queuedId, ...queued }, jobId));
  if (!mail) return;
  const { id } = mail;
  const letter = await letterOf(deps, mail);
  if (!letter) return markFailed(db, id, 'Over the daily number of mails.');
  const delivery = await mailer.send(letter, signal);
  if (delivery.outcome === 'SENT') return markSent(db, id);
  if (delivery.outcome === 'REFUSED') return markFailed(db, id, delivery.reason);
  if (!signal.aborted && now() - mail.createdAt.getTime() > ABANDON_AFTER_MS) {
    return markFailed(db, id, `Given up after three days. ${delivery.reason}`);
  }
  throw new Error(delivery.reason);
}

/** Of a day's notifications over its number, one becomes a mail that says so, the others none. */
async function letterOf(deps: DeliverDeps, mail: MailRow): Promise<Letter | undefined> {
  const { db, dailyMails = Infinity } = deps;
  const { id, environment, createdAt, recipient, template, content, day, placeOfDay } = mail;
  const letter = { id, date: createdAt, recipient };
  const brand = await deps.brandOf?.(mail);
  if (environment !== 'production' || day === null || (placeOfDay ?? 0) <= dailyMails) {
    return { ...letter, ...fillTemplate(template, content, brand) };
  }
  const paused = await db.one<{ notice: string }>(sql`
    update mail_days set notice_mail = coalesce(notice_mail, ${id})
      from mails
     where mails.id = ${id} and mail_days.organization_id = mails.organization_id
       and mail_days.environment = mails.environment and mail_days.day = mails.day
    returning notice_mail as notice`);
  if (paused && paused.notice !== id) return undefined;
  return { ...letter, ...fillTemplate('mails-paused', { dailyMails, resetsAt: dayAfter(new Date(day)) }) };
}

const MAX_AT_ONCE = 500;

const missing: Readonly<Record<Environment, string>> = {
  production: 'mails wait until SMTP_URL is set',
  development: 'mails wait until the sandbox is on',
};

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
