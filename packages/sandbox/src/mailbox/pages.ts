import { escapeText, page } from './html.ts';
import type { Message } from './read-message.ts';
import { MAX_MAILS, type MailSummary } from './store.ts';

/** Addresses are relative, so that the pages work below any path. */
export function listPage(mails: readonly MailSummary[]): ReturnType<typeof page> {
  const rows = mails.map(
    ({ id, to, subject, receivedAt }) =>
      `<tr><td>${time(receivedAt)}</td><td>${escapeText(to)}</td><td><a href="mailbox/${id}">${escapeText(subject || '(no subject)')}</a></td></tr>`,
  );
  const table = `<table>
<thead><tr><th scope="col">Received</th><th scope="col">To</th><th scope="col">Subject</th></tr></thead>
<tbody>
${rows.join('\n')}
</tbody>
</table>`;
  const note = `Mail of development comes here and goes nowhere else. The newest ${MAX_MAILS.toLocaleString('en')} are kept.`;
  return page(
    'Mailbox',
    `<h1>Mailbox</h1>\n<p>${note}</p>\n${mails.length > 0 ? table : '<p>There is no mail yet.</p>'}`,
  );
}

/** The HTML part stands in a frame in which nothing runs; its links open in a tab of their own. */
export function mailPage(mail: MailSummary, { headers, text, html }: Message): ReturnType<typeof page> {
  const subject = mail.subject || '(no subject)';
  const frame = `<h2>HTML</h2>
<iframe title="The mail's HTML part" sandbox="allow-popups allow-popups-to-escape-sandbox" referrerpolicy="no-referrer" src="${mail.id}/html"></iframe>`;
  const rows = headers.map(
    ({ name, value }) => `<tr><th scope="row">${escapeText(name)}</th><td>${escapeText(value)}</td></tr>`,
  );
  return page(
    subject,
    `<p><a href="../mailbox">Mailbox</a></p>
<h1>${escapeText(subject)}</h1>
<p>To ${escapeText(mail.to)}, ${time(mail.receivedAt)}</p>
${html === undefined ? '' : frame}
<h2>Text</h2>
<pre>${escapeText(text ?? '')}</pre>
<h2>Headers</h2>
<table><tbody>
${rows.join('\n')}
</tbody></table>`,
  );
}

const time = (date: Date) =>
  `<time datetime="${date.toISOString()}">${date.toISOString().slice(0, 19).replace('T', ' ')} UTC</time>`;
