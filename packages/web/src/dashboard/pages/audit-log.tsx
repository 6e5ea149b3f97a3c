import { FileClock } from 'lucide-react';
import { useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { CodeBlock } from '../../ui/code-block.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Card, DescriptionList, EmptyState, ErrorNote, Note, PageHeader } from '../../ui/page.tsx';
import { DataTable, Pager } from '../../ui/table.tsx';
import { Hash, Time } from '../../ui/values.tsx';
import { type RowOf, useRead } from '../api.ts';
import { words } from '../words/settings.ts';
import { words as shell } from '../words/shell.ts';
import { useWords } from '../words.ts';

const LIMIT = 25;
const LIST = 'GET /organization/audit-log';
type Entry = RowOf<typeof LIST>;

export default function AuditLogPage() {
  const text = useWords(words);
  const [page, setPage] = useState(1);
  const [shown, setShown] = useState<Entry>();
  const { data, error, refetch } = useRead(LIST, { query: { page, limit: LIMIT } }, { keepPrevious: true });
  return (
    <>
      <PageHeader title={useWords(shell).pages.auditLog} description={text.audit.intro} />
      <ErrorNote error={error} retry={() => void refetch()} />
      {!error && (
        <Card flush>
          <DataTable
            label={text.audit.label}
            rows={data?.data}
            rowKey={({ id }) => id}
            columns={[
              { key: 'action', label: text.audit.action, cell: ({ action }) => <span className="mono">{action}</span> },
              { key: 'who', label: text.audit.who, cell: (entry) => <Actor entry={entry} /> },
              { key: 'target', label: text.audit.target, cell: ({ target }) => <Target target={target} /> },
              { key: 'when', label: text.audit.when, cell: ({ createdAt }) => <Time value={createdAt} /> },
            ]}
            actions={(entry) => (
              <Button size="s" onClick={() => setShown(entry)}>
                {text.audit.show}
              </Button>
            )}
            empty={
              <EmptyState icon={FileClock} title={text.audit.empty}>
                {text.audit.emptyHint}
              </EmptyState>
            }
          />
          {data && <Pager page={page} limit={LIMIT} total={data.total} onPage={setPage} />}
        </Card>
      )}
      {shown && (
        <Dialog open onClose={() => setShown(undefined)} title={shown.action} size="l">
          <DescriptionList
            rows={[
              [text.audit.who, <Actor key="who" entry={shown} />],
              [text.audit.when, <Time key="when" value={shown.createdAt} exact />],
              [text.audit.target, shown.target === null ? undefined : <Target key="target" target={shown.target} />],
            ]}
          />
          {Object.keys(shown.changes).length === 0 ? (
            <Note>{text.audit.none}</Note>
          ) : (
            <CodeBlock value={shown.changes} label={text.audit.changes} />
          )}
        </Dialog>
      )}
    </>
  );
}

/** A member by name; else the key, the operator or the service. */
function Actor({ entry: { actor, actorName } }: { entry: Entry }) {
  const text = useWords(words);
  if (actorName !== null) return <span className="breakable">{actorName}</span>;
  if (actor === 'operator') return text.audit.operator;
  if (actor === 'service') return text.audit.service;
  return (
    <span className="row">
      {text.audit.key} <Hash value={actor} label={text.audit.key} />
    </span>
  );
}

function Target({ target }: { target: string | null }) {
  const text = useWords(words);
  return target === null ? '–' : <Hash value={target} label={text.audit.target} />;
}
