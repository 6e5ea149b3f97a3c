import { sql } from '@svc/store';
import type { TestDatabase } from '@svc/store/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { serverDatabase } from '../../testing/database.ts';
import { content } from '../../testing/mail.ts';
import { createOrganization } from '../organizations/api-keys.ts';
import { cancelMailsOfGift, deliver, type NewMail, queueGiftMails, queueMails, queueNotification } from './mail.ts';
import type { Letter, Mailers } from './mailers.ts';

const { signal } = new AbortController();
const at = new Date('2026-11-17T12:00:00Z');

let database: TestDatabase;
let [loud, quiet] = ['', ''];
beforeAll(async () => {
  database = await serverDatabase();
  loud = await createOrganization(database.db, 'Tienda Azul');
  quiet = await createOrganization(database.db, 'Tienda Verde');
});
beforeEach(async () => {
  for (const table of [sql`mails`, sql`jobs`, sql`mail_turns`, sql`mail_days`]) {
    await database.db.run(sql`delete from ${table}`);
  }
});
afterAll(() => database.drop());

const mailsOf = (organizationId: string, count: number, changes: Partial<NewMail<'gift'>> = {}) =>
  Array.from({ length: count }, (_, place): NewMail<'gift'> => {
    const recipient = `${organizationId}-${place}@example.com`;
    return { organizationId, environment: 'production', recipient, template: 'gift', content, ...changes };
  });
const queue = (mails: readonly NewMail[]) => database.db.tx((tx) => queueMails(tx, mails));

/** Runs the jobs in their order. */
async function runJobs(
  send: (letter: Letter) => Promise<void> = async () => {},
  dailyMails: number | undefined = undefined,
): Promise<string[]> {
  const recipients: string[] = [];
  const mailer = {
    send: async (letter: Letter) => {
      recipients.push(letter.recipient);
      await send(letter);
      return { outcome: 'SENT' as const };
    },
    close() {},
  };
  const mailers: Mailers = { of: () => mailer, close() {} };
  const jobs = await database.db.rows<{ id: bigint; key: string }>(sql`select id, key from jobs order by run_at, id`);
  for (const { id, key } of jobs) {
    await deliver({ db: database.db, mailers, dailyMails }, key, { signal, jobId: String(id) });
  }
  return recipients;
}

const states = async () =>
  (await database.db.rows<{ state: string }>(sql`select state from mails order by created_at, id`)).map(
    ({ state }) => state,
  );

describe('the mails of several organisations', () => {
  it('are sent in turn: many of one do not delay those of another', async () => {
    await queue(mailsOf(loud, 50));
    await queue(mailsOf(quiet, 2));
    const sent = await runJobs();
    expect(new Set(sent).size).toBe(52);
    const ofQuiet = sent.flatMap((recipient, place) => (recipient.startsWith(quiet) ? [place] : []));
    expect(ofQuiet).toHaveLength(2);
    for (const place of ofQuiet) expect(place).toBeLessThan(4);
    expect(new Set(await states())).toEqual(new Set(['SENT']));
  });

  it('are each sent once by many jobs at the same time', async () => {
    await queue([...mailsOf(loud, 4), ...mailsOf(quiet, 4)]);
    await database.db.run(sql`update jobs set worker = 1, started_at = now(), queue = null`);
    const jobs = await database.db.rows<{ id: bigint; key: string }>(sql`select id, key from jobs`);
    const sent: string[] = [];
    const all = Promise.withResolvers<void>();
    const send = async ({ recipient }: Letter) => {
      sent.push(recipient);
      if (sent.length === 8) all.resolve();
      await all.promise;
      return { outcome: 'SENT' as const };
    };
    const mailers: Mailers = { of: () => ({ send, close() {} }), close() {} };
    await Promise.all(
      jobs.map(({ id, key }) => deliver({ db: database.db, mailers }, key, { signal, jobId: String(id) })),
    );
    expect(new Set(sent).size).toBe(8);
    expect(sent).toHaveLength(8);
  });

  it('are sent by another job when the process of theirs has died', async () => {
    await queue(mailsOf(loud, 1));
    await expect(runJobs(() => Promise.reject(new Error('killed')))).rejects.toThrow('killed');
    expect(await states()).toEqual(['QUEUED']);
    expect(await runJobs()).toHaveLength(1);
    expect(await states()).toEqual(['SENT']);
  });

  it('are not held up by one that is delayed: only its own job tries it again', async () => {
    await queue(mailsOf(quiet, 1));
    await expect(runJobs(() => Promise.reject(new Error('try later')))).rejects.toThrow('try later');
    await database.db.run(sql`delete from jobs`);
    await queue(mailsOf(loud, 3));
    expect((await runJobs()).sort()).toEqual([0, 1, 2].map((place) => `${loud}-${place}@example.com`));
    expect(await states()).toEqual(['QUEUED', 'SENT', 'SENT', 'SENT']);
  });
});

describe('mails of gifts', () => {
  it('that have not left are cancelled with their gift, others stay', async () => {
    await queue([...mailsOf(loud, 2, { giftId: 'gift_1' }), ...mailsOf(loud, 1, { giftId: 'gift_2' })]);
    expect(await database.db.tx((tx) => cancelMailsOfGift(tx, 'gift_1'))).toBe(2);
    expect(await runJobs()).toHaveLength(1);
    expect((await states()).sort()).toEqual(['CANCELLED', 'CANCELLED', 'SENT']);
    expect(await database.db.tx((tx) => cancelMailsOfGift(tx, 'gift_2'))).toBe(0);
  });

  it('are bounded by day and environment, also for requests at the same time, all of a request or none', async () => {
    const request = (count: number, changes: Partial<NewMail<'gift'>> = {}, day = at) =>
      database.db.tx((tx) => queueGiftMails(tx, mailsOf(loud, count, changes), 10, day));
    const all = await Promise.allSettled(Array.from({ length: 10 }, () => request(3)));
    const refusals = all.flatMap((each) => (each.status === 'rejected' ? [each.reason as unknown] : []));
    expect(refusals).toHaveLength(7);
    for (const refusal of refusals) {
      expect(refusal).toMatchObject({
        code: 'mail_limit_reached',
        status: 400,
        message: expect.stringMatching(/ of 10 a day are left\. The limit resets at 2026-11-18T00:00:00\.000Z\.$/),
      });
    }
    expect(await states()).toHaveLength(9);
    await request(1);
    await request(10, { organizationId: quiet });
    await request(10, { environment: 'development' });
    await request(10, {}, new Date('2026-11-18T00:00:00Z'));
    await database.db.tx((tx) => queueGiftMails(tx, mailsOf(loud, 1), undefined, at));
  });
});

describe('mails to an organisation itself', () => {
  const about = { webhookId: 'whk_1', host: 'hooks.example', failingSince: '2026-11-16T10:02:03.000Z' };
  const notify = (count: number, changes: Partial<NewMail<'webhook-disabled'>> = {}, day = at) =>
    database.db.tx(async (tx) => {
      const mail = { organizationId: loud, environment: 'production', recipient: 'shop@example.com' } as const;
      for (let sent = 0; sent < count; sent += 1) {
        await queueNotification(tx, { ...mail, template: 'webhook-disabled', content: about, ...changes }, day);
      }
    });
  const subjectsOf = async (dailyMails: number) => {
    const subjects: string[] = [];
    await runJobs(async ({ subject }) => void subjects.push(subject), dailyMails);
    return subjects;
  };

  it('count on the daily number, together with those of gifts', async () => {
    await notify(4);
    const gifts = (count: number) => database.db.tx((tx) => queueGiftMails(tx, mailsOf(loud, count), 10, at));
    await expect(gifts(7)).rejects.toMatchObject({ code: 'mail_limit_reached' });
    await gifts(6);
    await notify(1);
    expect(await subjectsOf(10)).toHaveLength(11);
  });

  it('are not sent over it; one mail says so, on each day anew', async () => {
    await notify(6);
    const subjects = await subjectsOf(3);
    expect(subjects).toHaveLength(4);
    expect(subjects.filter((subject) => subject.includes('No more notifications by mail today'))).toHaveLength(1);
    const over = await database.db.rows(sql`select state, reason from mails where state <> 'SENT'`);
    expect(over).toEqual(Array(2).fill({ state: 'FAILED', reason: 'Over the daily number of mails.' }));
    await notify(4, {}, new Date('2026-11-18T00:00:00Z'));
    await database.db.run(sql`delete from mails where state <> 'QUEUED'`);
    expect((await subjectsOf(3)).at(-1)).toContain('No more notifications by mail today');
  });

  it('have no number in development, and one of another organisation does not count', async () => {
    await notify(5, { environment: 'development' });
    await notify(3, { organizationId: quiet });
    await notify(3);
    expect((await subjectsOf(3)).join()).not.toContain('No more');
  });
});
