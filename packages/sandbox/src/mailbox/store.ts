import { type Db, sql } from '@svc/store';

export interface MailSummary {
  readonly id: number;
  readonly from: string;
  readonly to: string;
  readonly subject: string;
  readonly receivedAt: Date;
}

export interface NewMail {
  readonly messageId: string;
  readonly from: string;
  readonly to: string;
  readonly subject: string;
  readonly raw: Uint8Array;
}

/** Older ones go: a mailbox of development is for looking, not for keeping. */
export const MAX_MAILS = 1_000;

const summary = sql`id, sender as "from", recipient as "to", subject, received_at as "receivedAt"`;

/** Answers its number, and whether it is new here. */
export async function keepMail(db: Db, mail: NewMail): Promise<{ id: number; isNew: boolean }> {
  return db.tx(async (tx) => {
    const added = await tx.one<{ id: number }>(sql`
      insert into sandbox.mails (message_id, sender, recipient, subject, raw)
      values (${mail.messageId}, ${mail.from}, ${mail.to}, ${mail.subject}, ${Buffer.from(mail.raw)})
      on conflict (message_id) do nothing
      returning id`);
    if (!added) {
      const known = await tx.one<{ id: number }>(
        sql`select id from sandbox.mails where message_id = ${mail.messageId}`,
      );
      return { id: known?.id ?? 0, isNew: false };
    }
    await tx.run(sql`
      delete from sandbox.mails
       where id <= (select id from sandbox.mails order by id desc offset ${MAX_MAILS} limit 1)`);
    return { id: added.id, isNew: true };
  });
}

/** The newest first, of one recipient or of all. */
export function listMails(db: Db, to: string | undefined, limit: number): Promise<MailSummary[]> {
  const which = to === undefined ? sql`true` : sql`lower(recipient) = lower(${to})`;
  return db.rows<MailSummary>(sql`
    select ${summary} from sandbox.mails where ${which} order by id desc limit ${limit}`);
}

export function findMail(db: Db, id: number): Promise<(MailSummary & { raw: Buffer }) | undefined> {
  return db.one(sql`select ${summary}, raw from sandbox.mails where id = ${id}`);
}
