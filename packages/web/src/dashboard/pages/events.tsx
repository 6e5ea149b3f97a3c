import type { EventType } from '@svc/protocol';
import { Zap } from 'lucide-react';
import { useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { CodeBlock } from '../../ui/code-block.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { SelectField } from '../../ui/fields.tsx';
import { Card, DescriptionList, EmptyState, ErrorNote, PageHeader } from '../../ui/page.tsx';
import { DataTable, Pager } from '../../ui/table.tsx';
import { Hash, Time } from '../../ui/values.tsx';
import { type RowOf, useRead } from '../api.ts';
import { useSearchParam } from '../navigation.ts';
import { words } from '../words/developers.ts';
import { words as shell } from '../words/shell.ts';
import { useWords } from '../words.ts';
import { eventTypes } from './webhooks.tsx';

const LIMIT = 25;
const LIST = 'GET /organization/events';
type SvcEvent = RowOf<typeof LIST>;

const choices: readonly EventType[] = [...eventTypes, 'webhook.test'];

export default function EventsPage() {
  const text = useWords(words);
  const [type, setType] = useSearchParam('type');
  const [page, setPage] = useState(1);
  const [shown, setShown] = useState<SvcEvent>();
  const chosen = choices.find((choice) => choice === type);
  const query = { page, limit: LIMIT, ...(chosen && { type: chosen }) };
  const { data, error, refetch } = useRead(LIST, { query }, { keepPrevious: true });
  return (
    <>
      <PageHeader title={useWords(shell).pages.events} description={text.events.intro} />
      <div className="filters">
        <SelectField
          label={text.events.type}
          hideLabel
          value={chosen ?? ''}
          onChange={(next) => {
            setPage(1);
            setType(next);
          }}
          options={[['', text.events.anyType], ...choices.map((choice) => [choice, choice] as const)]}
        />
      </div>
      <ErrorNote error={error} retry={() => void refetch()} />
      {!error && (
        <Card flush>
          <DataTable
            label={text.events.label}
            rows={data?.data}
            rowKey={({ id }) => id}
            columns={[
              { key: 'type', label: text.events.type, cell: (event) => <span className="mono">{event.type}</span> },
              { key: 'about', label: text.events.about, cell: ({ data: about }) => <Subject data={about} /> },
              { key: 'id', label: text.id, cell: ({ id }) => <Hash value={id} label={text.id} />, wideOnly: true },
              { key: 'when', label: text.when, cell: ({ timestamp }) => <Time value={timestamp} /> },
            ]}
            actions={(event) => (
              <Button size="s" onClick={() => setShown(event)}>
                {text.events.payload}
              </Button>
            )}
            empty={
              <EmptyState icon={Zap} title={chosen ? text.events.emptyFiltered : text.events.empty}>
                {!chosen && text.events.emptyHint}
              </EmptyState>
            }
          />
          {data && <Pager page={page} limit={LIMIT} total={data.total} onPage={setPage} />}
        </Card>
      )}
      {shown && (
        <Dialog open onClose={() => setShown(undefined)} title={text.events.title} size="l">
          <DescriptionList
            rows={[
              [
                text.events.type,
                <span key="type" className="mono">
                  {shown.type}
                </span>,
              ],
              [text.id, <Hash key="id" value={shown.id} label={text.id} full />],
              [text.when, <Time key="when" value={shown.timestamp} exact />],
            ]}
          />
          <CodeBlock value={shown.data} label={text.webhooks.payload} />
        </Dialog>
      )}
    </>
  );
}

const pathOf: readonly (readonly [start: string, path: string])[] = [
  ['txn_', '/transactions/'],
  ['wal_', '/wallets/'],
  ['rdm_', '/redeems/'],
  ['whk_', '/developers/webhooks/'],
];

/** The record that the event is about, with a link to its page. */
function Subject({ data }: { data: Readonly<Record<string, unknown>> }) {
  const id = [data.id, data.webhookId, data.ledgerEntryId].find((value) => typeof value === 'string');
  if (typeof id !== 'string') return '–';
  const path = pathOf.find(([start]) => id.startsWith(start))?.[1];
  return <Hash value={id} to={path && path + id} copy={false} />;
}
