import { CircleCheck, CircleX, TriangleAlert } from 'lucide-react';
import { StatusBadge } from '../../ui/badge.tsx';
import { LinkButton } from '../../ui/button.tsx';
import { useLanguage } from '../../ui/language.ts';
import {
  Card,
  DescriptionList,
  EmptyState,
  ErrorNote,
  Note,
  PageHeader,
  Section,
  Skeleton,
  type Tone,
} from '../../ui/page.tsx';
import { DataTable, More } from '../../ui/table.tsx';
import { Hash, Time } from '../../ui/values.tsx';
import { type AnswerTo, useCursorList, useRead } from '../api.ts';
import { formatBytes, formatCount, formatSeconds, WATCH_MS } from '../measures.ts';
import { words } from '../words/operator.ts';
import { words as shell } from '../words/shell.ts';
import { useWords } from '../words.ts';

type Health = AnswerTo<'GET /operator/health'>;
type Texts = Readonly<Record<string, string>>;

export default function OperatorPage() {
  const { health: text } = useWords(words);
  const { pages } = useWords(shell);
  const { data, error, refetch } = useRead('GET /operator/health', {}, { every: WATCH_MS });
  const badge = data && (
    <StatusBadge
      status={data.status}
      label={data.status === 'ok' ? text.ready : text.notReady}
      tone={data.status === 'ok' ? 'good' : 'bad'}
    />
  );
  return (
    <>
      <PageHeader title={pages.operator} description={text.intro} badge={badge} />
      <ErrorNote error={error} retry={() => void refetch()} />
      {data && (
        <>
          <Attention health={data} />
          <Checks checks={data.checks} />
          <Process health={data} />
        </>
      )}
      {!data && !error && <Skeleton lines={8} />}
      <OperatorLog />
    </>
  );
}

/** Longer than a transaction takes in a busy hour. */
const LONG_UNDER_WAY_SECONDS = 600;

function Attention({ health: { attention, checks } }: { health: Health }) {
  const { health: text } = useWords(words);
  const language = useLanguage();
  const count = (value: number) => formatCount(value, language);
  const names: Texts = text.names;
  const meanings: Texts = text.words;
  const items: readonly (readonly [isShown: boolean, tone: Tone, message: string, to?: string])[] = [
    ...checks
      .filter(({ level }) => level === 'failing')
      .map(({ name, word }) => [true, 'bad', text.failing(names[name] ?? name, meanings[word] ?? word)] as const),
    [attention.unreconciled > 0, 'bad', text.unreconciled(count(attention.unreconciled)), '/operator/accounts'],
    [attention.stuckRedeems > 0, 'bad', text.stuckRedeems(count(attention.stuckRedeems)), '/operator/stuck'],
    [
      attention.stuckSolanaTransfers > 0,
      'bad',
      text.stuckTransfers(count(attention.stuckSolanaTransfers)),
      '/operator/stuck',
    ],
    [attention.stuckPurchases > 0, 'warn', text.stuckPurchases(count(attention.stuckPurchases)), '/operator/stuck'],
    [attention.lowAccounts > 0, 'warn', text.lowAccounts(count(attention.lowAccounts)), '/operator/accounts'],
    [attention.failedJobs > 0, 'warn', text.failedJobs(count(attention.failedJobs)), '/operator/jobs'],
    [
      attention.oldestRelaySeconds > LONG_UNDER_WAY_SECONDS,
      'warn',
      text.oldRelays(formatSeconds(attention.oldestRelaySeconds, language)),
      '/operator/accounts',
    ],
  ];
  const shown = items.filter(([isShown]) => isShown);
  return (
    <Section title={text.attention}>
      {shown.length === 0 ? (
        <Card>
          <EmptyState icon={CircleCheck} title={text.fine}>
            {text.fineBody}
          </EmptyState>
        </Card>
      ) : (
        <div className="stack">
          {shown.map(([, tone, message, to]) => (
            <Note key={message} tone={tone} icon={tone === 'bad' ? CircleX : TriangleAlert}>
              <div className="row">
                <p className="grow">{message}</p>
                {to !== undefined && (
                  <LinkButton to={to} size="s">
                    {text.open}
                  </LinkButton>
                )}
              </div>
            </Note>
          ))}
        </div>
      )}
    </Section>
  );
}

const levelTones = { ok: 'good', warning: 'warn', failing: 'bad' } as const;

function Checks({ checks }: Pick<Health, 'checks'>) {
  const { health: text } = useWords(words);
  const names: Texts = text.names;
  const meanings: Texts = text.words;
  return (
    <Section title={text.checks}>
      <Card flush>
        <DataTable
          label={text.checks}
          rows={checks}
          rowKey={({ name }) => name}
          columns={[
            { key: 'name', label: text.check, cell: ({ name }) => names[name] ?? name },
            {
              key: 'result',
              label: text.result,
              cell: ({ level, word }) => (
                <div className="row">
                  <StatusBadge status={level} label={text.levels[level]} tone={levelTones[level]} />
                  {level !== 'ok' && <span>{meanings[word] ?? word}</span>}
                </div>
              ),
            },
          ]}
          empty={null}
        />
      </Card>
    </Section>
  );
}

function Process({ health }: { health: Health }) {
  const { health: text } = useWords(words);
  const language = useLanguage();
  const { database, disk, attention } = health;
  const { busy, idle, waiting } = database.connections;
  return (
    <Section title={text.process}>
      <Card>
        <DescriptionList
          columns={2}
          rows={[
            [text.version, health.version],
            [text.role, text.roles[health.role]],
            [text.running, <Time key="started" value={health.startedAt} exact />],
            [text.relays, formatCount(attention.openRelays, language)],
            [text.database, text.databaseFacts(database.version, formatBytes(database.sizeBytes, language))],
            [text.connections, text.connectionFacts(String(busy), String(idle), String(waiting))],
            ...disk.map(
              ({ folder, freeBytes, totalBytes }) =>
                [
                  text.disk(folder),
                  text.diskFacts(formatBytes(freeBytes, language), formatBytes(totalBytes, language)),
                ] as const,
            ),
          ]}
        />
      </Card>
    </Section>
  );
}

function OperatorLog() {
  const { health: text } = useWords(words);
  const { rows, error, hasMore, isLoadingMore, loadMore, refetch } = useCursorList('GET /operator/audit-log');
  return (
    <Section title={text.log} description={text.logBody}>
      <ErrorNote error={error} retry={refetch} />
      {!error && (
        <Card flush>
          <DataTable
            label={text.log}
            rows={rows}
            rowKey={({ id }) => id}
            columns={[
              { key: 'action', label: text.action, cell: ({ action }) => action },
              { key: 'who', label: text.who, cell: ({ actor }) => actor.replace('operator:', '') },
              { key: 'target', label: text.target, cell: ({ target }) => (target ? <Hash value={target} /> : '–') },
              {
                key: 'changes',
                label: text.reason,
                wideOnly: true,
                cell: ({ changes }) => <Changes changes={changes} />,
              },
              { key: 'when', label: text.when, align: 'end', cell: ({ createdAt }) => <Time value={createdAt} /> },
            ]}
            empty={<EmptyState icon={CircleCheck} title={text.noLog} />}
          />
          <More hasMore={hasMore} pending={isLoadingMore} onMore={loadMore} />
        </Card>
      )}
    </Section>
  );
}

function Changes({ changes }: { changes: Readonly<Record<string, unknown>> }) {
  const shown = Object.entries(changes).filter(([, value]) => value !== null);
  return <span className="soft">{shown.map(([name, value]) => `${name}: ${String(value)}`).join(', ')}</span>;
}
