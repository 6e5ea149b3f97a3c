import type { LoggedRequest, StatusClass } from '@svc/protocol';
import { ScrollText } from 'lucide-react';
import { type ReactNode, useDeferredValue, useState } from 'react';
import { Badge, StatusBadge } from '../../ui/badge.tsx';
import { LinkButton } from '../../ui/button.tsx';
import { SearchField, SelectField, SwitchField } from '../../ui/fields.tsx';
import { localeOf, useLanguage } from '../../ui/language.ts';
import { Card, EmptyState, ErrorNote, PageHeader } from '../../ui/page.tsx';
import { DataTable, More } from '../../ui/table.tsx';
import { Hash, Time } from '../../ui/values.tsx';
import { givenOf, type InputOf, useCursorList, useEvery } from '../api.ts';
import { useSearchParam } from '../navigation.ts';
import { NoMatches } from '../no-matches.tsx';
import { words } from '../words/requests.ts';
import { useWords } from '../words.ts';
import './requests.css';

type Filters = NonNullable<InputOf<'GET /organization/requests'>['query']>;
type Method = NonNullable<Filters['method']>;

const METHODS = ['GET', 'POST', 'PATCH', 'DELETE'] as const satisfies readonly Method[];
const STATUSES = ['2xx', '4xx', '5xx'] as const satisfies readonly StatusClass[];
const TAIL_MS = 2_000;

export default function RequestsPage() {
  const text = useWords(words);
  const [isFollowing, setFollowing] = useState(false);
  const [requestId, setRequestId] = useSearchParam('id');
  const [method, setMethod] = useSearchParam('method');
  const [status, setStatus] = useSearchParam('status');
  const [path, setPath] = useSearchParam('path');
  const [errorCode, setErrorCode] = useSearchParam('error');
  const query = givenOf<Filters>({
    requestId: useDeferredValue(requestId.trim()),
    method: method as Method | '',
    status: status as StatusClass | '',
    path: useDeferredValue(path.trim()),
    errorCode: useDeferredValue(errorCode.trim()),
  });
  const list = useCursorList('GET /organization/requests', { query }, { keepPrevious: true });
  useEvery(TAIL_MS, list.refetch, isFollowing);
  const isFiltered = Object.keys(query).length > 0;
  return (
    <div className="stack">
      <PageHeader
        title={text.title}
        description={text.description}
        actions={<SwitchField label={text.tail} checked={isFollowing} onChange={setFollowing} />}
      />
      <div className="filters">
        <SearchField label={text.search} value={requestId} onChange={setRequestId} />
        <SearchField label={text.path} value={path} onChange={setPath} />
        <SearchField label={text.errorCode} value={errorCode} onChange={setErrorCode} />
        <SelectField
          label={text.method}
          hideLabel
          value={method}
          onChange={setMethod}
          options={[['', text.anyMethod], ...METHODS.map((each) => [each, each] as const)]}
        />
        <SelectField
          label={text.status}
          hideLabel
          value={status}
          onChange={setStatus}
          options={[['', text.anyStatus], ...STATUSES.map((each) => [each, text.statuses[each]] as const)]}
        />
      </div>
      <ErrorNote error={list.error} retry={list.refetch} />
      <Card flush>
        <RequestTable
          rows={list.rows}
          empty={
            isFiltered ? (
              <NoMatches icon={ScrollText} title={text.noMatch} hint={text.noMatchNote} to="/developers/requests" />
            ) : (
              <EmptyState
                icon={ScrollText}
                title={text.empty}
                action={<LinkButton to="/developers/keys">{text.toKeys}</LinkButton>}
              >
                {text.emptyNote}
              </EmptyState>
            )
          }
        />
        <More hasMore={list.hasMore} pending={list.isLoadingMore} onMore={list.loadMore} />
      </Card>
    </div>
  );
}

function RequestTable({ rows, empty }: { rows: readonly LoggedRequest[] | undefined; empty: ReactNode }) {
  const text = useWords(words);
  const number = new Intl.NumberFormat(localeOf(useLanguage()), { maximumFractionDigits: 1 });
  return (
    <DataTable
      label={text.title}
      rows={rows}
      rowKey={({ id }) => id}
      columns={[
        {
          key: 'request',
          label: text.request,
          cell: ({ method, path, ignoredFields }) => (
            <span>
              <span className="request">
                <Badge>{method}</Badge>
                <span className="mono">{path}</span>
              </span>
              {ignoredFields.length > 0 && <span className="soft">{text.ignored(ignoredFields.join(', '))}</span>}
            </span>
          ),
        },
        {
          key: 'status',
          label: text.status,
          cell: ({ status, errorCode }) => (
            <span className="row">
              <StatusBadge status={String(status)} tone={toneOf(status)} />
              {errorCode && <span className="mono soft">{errorCode}</span>}
            </span>
          ),
        },
        {
          key: 'duration',
          label: text.duration,
          align: 'end',
          cell: ({ durationMs }) => <span className="number duration">{text.ms(number.format(durationMs))}</span>,
        },
        {
          key: 'id',
          label: text.requestId,
          cell: ({ requestId }) => <Hash value={requestId} label={text.requestId} />,
        },
        { key: 'actor', label: text.actor, cell: ({ actor }) => <Hash value={actor} copy={false} />, wideOnly: true },
        { key: 'time', label: text.time, align: 'end', cell: ({ at }) => <Time value={at} /> },
      ]}
      empty={empty}
    />
  );
}

const toneOf = (status: number) => (status >= 500 ? 'bad' : status >= 400 ? 'warn' : 'good');
