import { sql } from '@svc/store';
import { expect, it, onTestFinished, vi } from 'vitest';
import { headerOf, readMessage } from '../../packages/sandbox/src/mailbox/message.ts';
import { freePort } from '../../packages/sandbox/src/worker/node-thread.ts';
import { credit } from '../../packages/server/src/ledger/ledger.ts';
import { queueMails } from '../../packages/server/src/mail/mail.ts';
import { content, type SmtpTestServer, startSmtp } from '../../packages/server/testing/mail.ts';
import { caller, send } from '../support/client.ts';
import { errorLines } from '../support/server.ts';
import { TestService } from '../support/service.ts';

/** After a kill the mail's job is taken over within seconds. */
const POLL = { timeout: 60_000, interval: 50 };
const PROCESSES_TIMEOUT_MS = 120_000;
const PASSWORD = 's3cr%t/pw';

async function settingsFor(smtp: SmtpTestServer): Promise<Record<string, string>> {
  const port = await freePort();
  const login = `svc:${encodeURIComponent(PASSWORD)}`;
  return {
    PORT: String(port),
    PUBLIC_URL: `http://127.0.0.1:${port}`,
    SMTP_URL: `smtp://${login}@${smtp.host}:${smtp.port}`,
    MAIL_FROM: 'Tienda Azul <gifts@shop.example>',
    LOG_LEVEL: 'trace',
  };
}

/** As a bulk of production stores it, which needs a live Starknet. */
async function mailOfProduction(service: TestService, recipient: string): Promise<void> {
  const { id: organizationId } = await service.organization();
  const mail = { organizationId, environment: 'production', recipient, template: 'gift', content } as const;
  await service.db.tx((tx) => queueMails(tx, [mail]));
}

const states = ({ database: { db } }: TestService) =>
  db.rows<{ state: string }>(sql`select state from mails`).then((rows) => rows.map(({ state }) => state));

it(
  'links of a bulk in development are in the mailbox and nowhere else; mail of production goes out by SMTP',
  async () => {
    const smtp = await startSmtp({ allowInsecureAuth: true, authOptional: false });
    const service = await TestService.hosted(await settingsFor(smtp));
    onTestFinished(() => service.stop());
    const { server, database } = service;
    const owner = { organizationId: server.credentials.organizationId, environment: 'development' } as const;
    await credit(database.db, { ...owner, type: 'GRANT', amount: 100_000_000n, reference: 'for the test' });
    const recipients = [{ email: 'ana@example.com' }, { email: 'eva@example.com', code: 'PARA-EVA' }];
    const body = { name: 'Día <b>feliz</b> 🎁', amount: 2.5, token: 'USDC', chain: 'STARKNET', recipients };
    const created = await caller(server)('/gifts/bulk', { method: 'POST', body });
    expect([created.status, created.text]).toEqual([201, expect.any(String)]);
    const { gifts } = created.body as { gifts: { email: string; claimUrl: string; code: string }[] };

    const mailbox = `${server.origin}/sandbox/mailbox`;
    const listed = async () => ((await send(mailbox)).body as { mails: { id: number; to: string }[] }).mails;
    await vi.waitFor(async () => expect(await listed()).toHaveLength(2), POLL);
    for (const { id, to } of await listed()) {
      const claimUrl = gifts.find(({ email }) => email === to)?.claimUrl ?? 'none';
      const { text, html } = (await send(`${mailbox}/${id}`)).body as { text: string; html: string };
      expect(claimUrl.startsWith(`${server.origin}/claim/`)).toBe(true);
      expect(text).toContain(`\n${claimUrl}`);
      expect(html).toContain(`href="${claimUrl}"`);
      expect(html).toContain('Día &lt;b&gt;feliz&lt;/b&gt; 🎁');
    }
    const page = await send(mailbox, { headers: { accept: 'text/html' } });
    expect(page.text).toContain('ana@example.com');
    expect(smtp.mails).toEqual([]);

    await mailOfProduction(service, 'luz@example.com');
    await vi.waitFor(async () => expect(await states(service)).toEqual(['SENT', 'SENT', 'SENT']), POLL);
    expect(smtp.mails).toMatchObject([{ recipients: ['luz@example.com'], sender: 'gifts@shop.example', user: 'svc' }]);
    expect(readMessage(smtp.mails[0]?.raw ?? Buffer.alloc(0)).html).toContain(`href="${content.claimUrl}"`);
    expect(await listed()).toHaveLength(2);

    const secrets = ['ana@', 'eva@', 'luz@', PASSWORD, encodeURIComponent(PASSWORD), content.code, 'PARA-EVA', 'feliz'];
    for (const secret of secrets) expect(server.output()).not.toContain(secret);
    expect(errorLines(server.output())).toEqual([]);
  },
  PROCESSES_TIMEOUT_MS,
);

it(
  'a process that is killed before the mail server has answered leaves nothing unsent, and a repetition can be told',
  async () => {
    const answer = (count: number) => (count === 1 ? new Promise<undefined>(() => {}) : undefined);
    const smtp = await startSmtp({ allowInsecureAuth: true, answer });
    const service = await TestService.start(await settingsFor(smtp));
    onTestFinished(() => service.stop());
    await mailOfProduction(service, 'luz@example.com');
    await vi.waitFor(() => expect(smtp.mails).toHaveLength(1), POLL);
    await service.server.end('SIGKILL');
    expect(await states(service)).toEqual(['QUEUED']);
    await service.anotherHosted();
    await vi.waitFor(async () => expect(await states(service)).toEqual(['SENT']), POLL);
    const ids = smtp.mails.map(({ raw }) => headerOf(readMessage(raw).headers, 'message-id'));
    expect(ids).toHaveLength(2);
    expect(ids[0]).toMatch(/^<mail_[0-9a-z]{26}@shop\.example>$/);
    expect(ids[1]).toBe(ids[0]);
  },
  PROCESSES_TIMEOUT_MS,
);
