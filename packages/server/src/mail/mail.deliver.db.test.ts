import { sql } from '@svc/store';
import type { TestDatabase } from '@svc/store/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { serverDatabase } from '../../testing/database.ts';
import { content } from '../../testing/mail.ts';
import { createOrganization } from '../organizations/api-keys.ts';
import { deliver, type NewMail, queueMails, requeueStalledMails } from './mail.ts';
import type { Delivery, Letter, Mailers } from './mailers.ts';

const DAY_MS = 86_400_000;
const context = { signal: new AbortController().signal, jobId: '0' };

let database: TestDatabase;
let organizationId: string;
beforeAll(async () => {
  database = await serverDatabase();
  organizationId = await createOrganization(database.db, 'Tienda Azul');
});
beforeEach(async () => {
  await database.db.run(sql`delete from mails`);
  await database.db.run(sql`delete from jobs`);
});
afterAll(() => database.drop());

const mailTo = (recipient: string): NewMail => {
  return { organizationId, environment: 'production', recipient, template: 'gift', content };
};

async function queueOne(): Promise<string> {
  await database.db.tx((tx) => queueMails(tx, [mailTo('ana@example.com')]));
  const row = await database.db.one<{ id: string }>(sql`select id from mails`);
  return row?.id ?? '';
}

/** Sends nothing and answers as told. */
function mailing(...deliveries: Delivery[]): { mailers: Mailers; letters: Letter[] } {
  const letters: Letter[] = [];
  const send = async (letter: Letter) => {
    letters.push(letter);
    return deliveries[letters.length - 1] ?? { outcome: 'SENT' as const };
  };
  return { letters, mailers: { of: () => ({ send, close() {} }), close() {} } };
}
const nobody: Mailers = { of: () => undefined, close() {} };

const mails = () => database.db.rows(sql`select state, reason from mails`);
const jobs = () =>
  database.db.rows<{ key: string; queue: string }>(sql`select key, queue from jobs where task = 'send-mail'`);

describe('queueing', () => {
  it('stores each mail with the job that sends it, four at a time at most', async () => {
    const recipients = Array.from({ length: 100 }, (_, index) => mailTo(`user${index}@example.com`));
    await database.db.tx((tx) => queueMails(tx, recipients));
    const [queued, stored] = [await jobs(), await database.db.rows<{ id: string }>(sql`select id from mails`)];
    expect(queued.map(({ key }) => key).sort()).toEqual(stored.map(({ id }) => id).sort());
    expect(new Set(queued.map(({ queue }) => queue)).size).toBe(4);
  });

  it('leaves nothing when its transaction fails', async () => {
    const failing = database.db.tx(async (tx) => {
      await queueMails(tx, [mailTo('ana@example.com')]);
      throw new Error('changed my mind');
    });
    await expect(failing).rejects.toThrow('changed my mind');
    expect([await mails(), await jobs()]).toEqual([[], []]);
  });

  it('of no mails does nothing', async () => {
    await database.db.tx((tx) => queueMails(tx, []));
    expect(await mails()).toEqual([]);
  });
});

describe('a queued mail', () => {
  it('is sent, under its id and with its own date, and never again', async () => {
    const id = await queueOne();
    const { mailers, letters } = mailing();
    await deliver({ db: database.db, mailers }, id, context);
    await deliver({ db: database.db, mailers }, id, context);
    const row = await database.db.one<{ date: Date }>(sql`select created_at as date from mails`);
    expect(letters).toMatchObject([{ id, recipient: 'ana@example.com', date: row?.date }]);
    expect(letters[0]?.html).toContain(content.claimUrl);
    expect(await mails()).toEqual([{ state: 'SENT', reason: null }]);
  });

  it('that is refused has failed, with the reason, and is not sent again', async () => {
    const id = await queueOne();
    const { mailers, letters } = mailing({ outcome: 'REFUSED', reason: '550 No such user' });
    await deliver({ db: database.db, mailers }, id, context);
    await deliver({ db: database.db, mailers }, id, context);
    expect(letters).toHaveLength(1);
    expect(await mails()).toEqual([{ state: 'FAILED', reason: '550 No such user' }]);
  });

  it('that is delayed stays queued, and its job is tried again', async () => {
    const id = await queueOne();
    const { mailers, letters } = mailing({ outcome: 'DELAYED', reason: 'later' });
    await expect(deliver({ db: database.db, mailers }, id, context)).rejects.toThrow('later');
    expect(await mails()).toEqual([{ state: 'QUEUED', reason: null }]);
    await deliver({ db: database.db, mailers }, id, context);
    expect(letters.map((letter) => letter.id)).toEqual([id, id]);
    expect(await mails()).toEqual([{ state: 'SENT', reason: null }]);
  });

  it('that is still delayed after three days has failed, unless the process was only stopping', async () => {
    const id = await queueOne();
    const delayed = { outcome: 'DELAYED', reason: 'later' } as const;
    const { mailers } = mailing(delayed, delayed, delayed);
    const deps = (days: number) => ({ db: database.db, mailers, now: () => Date.now() + days * DAY_MS });
    await expect(deliver(deps(2.9), id, context)).rejects.toThrow('later');
    await expect(deliver(deps(3.1), id, { ...context, signal: AbortSignal.abort() })).rejects.toThrow('later');
    await deliver(deps(3.1), id, context);
    expect(await mails()).toEqual([{ state: 'FAILED', reason: 'Given up after three days. later' }]);
  });
});

describe('a mail without a mailer', () => {
  const log = () => {
    const lines: string[] = [];
    const write = (fields: object, message: string) => void lines.push(`${JSON.stringify(fields)} ${message}`);
    return { lines, info: write, warn: write, error: write };
  };

  it('stays queued, and the log says what is missing and how many wait', async () => {
    const id = await queueOne();
    await deliver({ db: database.db, mailers: nobody }, id, context);
    const said = log();
    await requeueStalledMails({ db: database.db, mailers: nobody, log: said });
    expect(await mails()).toEqual([{ state: 'QUEUED', reason: null }]);
    expect(said.lines).toEqual(['{"environment":"production","mails":1} mails wait until SMTP_URL is set']);
  });

  it('is sent once there is a mailer', async () => {
    const id = await queueOne();
    await database.db.run(sql`delete from jobs`);
    const said = log();
    await requeueStalledMails({ db: database.db, mailers: mailing().mailers, log: said });
    expect(await jobs()).toMatchObject([{ key: id }]);
    expect(said.lines).toEqual([]);
  });

  it('does not lose the pauses of those whose jobs are under way', async () => {
    await queueOne();
    await database.db.run(sql`update jobs set attempt = 7, run_at = now() + interval '1 hour'`);
    await requeueStalledMails({ db: database.db, mailers: mailing().mailers, log: log() });
    expect(await database.db.rows(sql`select attempt from jobs where run_at > now()`)).toEqual([{ attempt: 7 }]);
  });
});
