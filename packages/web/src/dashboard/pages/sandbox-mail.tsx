import { ExternalLink, Inbox } from 'lucide-react';
import { useState } from 'react';
import { Button, LinkButton } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Card, DescriptionList, EmptyState, ErrorNote, Section, Skeleton } from '../../ui/page.tsx';
import { type Column, DataTable } from '../../ui/table.tsx';
import { Time } from '../../ui/values.tsx';
import { sandboxUrl } from '../place.ts';
import { type Mail, type MailSummary, useSandbox } from '../sandbox.ts';
import { words } from '../words/sandbox.ts';
import { useWords } from '../words.ts';

export function MailTab() {
  const text = useWords(words);
  const { data, error, refetch } = useSandbox<{ mails: MailSummary[] }>('/mailbox?limit=50', true);
  const [opened, setOpened] = useState<MailSummary>();
  const columns: Column<MailSummary>[] = [
    {
      key: 'subject',
      label: text.subject,
      cell: (mail) => (
        <Button kind="link" onClick={() => setOpened(mail)}>
          {mail.subject || text.noSubject}
        </Button>
      ),
    },
    { key: 'to', label: text.to, cell: ({ to }) => to },
    { key: 'received', label: text.received, align: 'end', cell: ({ receivedAt }) => <Time value={receivedAt} /> },
  ];
  return (
    <Section title={text.tabs.mail} description={text.mailHint}>
      {error ? (
        <ErrorNote error={error} retry={() => void refetch()} />
      ) : (
        <Card flush>
          <DataTable
            label={text.tabs.mail}
            columns={columns}
            rows={data?.mails}
            rowKey={({ id }) => String(id)}
            empty={
              <EmptyState icon={Inbox} title={text.noMail}>
                {text.noMailHint}
              </EmptyState>
            }
          />
        </Card>
      )}
      {opened && <MailDialog summary={opened} onClose={() => setOpened(undefined)} />}
    </Section>
  );
}

/** As text: a mail's HTML stays on a page of its own, which runs and loads nothing. */
function MailDialog({ summary, onClose }: { summary: MailSummary; onClose: () => void }) {
  const text = useWords(words);
  const { data: mail, error } = useSandbox<Mail>(`/mailbox/${summary.id}`);
  const links = linksOf(mail?.text ?? '');
  return (
    <Dialog
      open
      onClose={onClose}
      size="l"
      title={summary.subject || text.noSubject}
      footer={
        mail?.html != null && (
          <LinkButton icon={ExternalLink} href={`${sandboxUrl}/mailbox/${summary.id}/html`}>
            {text.asHtml}
          </LinkButton>
        )
      }
    >
      <DescriptionList
        rows={[
          [text.from, summary.from],
          [text.to, summary.to],
          [text.received, <Time key="received" value={summary.receivedAt} exact />],
        ]}
      />
      <ErrorNote error={error} />
      {!mail && !error && <Skeleton lines={6} />}
      {links.length > 0 && (
        <Card title={text.links}>
          <ul className="mail-links">
            {links.map((link) => (
              <li key={link}>
                <a href={link}>{link}</a>
              </li>
            ))}
          </ul>
        </Card>
      )}
      {mail && <pre className="mail-text">{mail.text ?? text.noText}</pre>}
    </Dialog>
  );
}

const MAX_LINKS = 10;

/** Web addresses only: a mail may hold any text. */
export const linksOf = (text: string): string[] =>
  [...new Set([...text.matchAll(/\bhttps?:\/\/[^\s<>"')\]]+/g)].map(([link]) => link.replace(/[.,;:!?]+$/, '')))].slice(
    0,
    MAX_LINKS,
  );
