import { CircleCheck, RefreshCw } from 'lucide-react';
import { useState } from 'react';
import { StatusBadge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { ConfirmDialog } from '../../ui/dialog.tsx';
import { TextField } from '../../ui/fields.tsx';
import { useLanguage } from '../../ui/language.ts';
import { Card, EmptyState, ErrorNote, Note, PageHeader, Section, Skeleton, type Tone } from '../../ui/page.tsx';
import { DataTable, More } from '../../ui/table.tsx';
import { useToast } from '../../ui/toast.tsx';
import { Hash, Money, Time } from '../../ui/values.tsx';
import { type AnswerTo, type RowOf, useChange, useCursorList, useRead } from '../api.ts';
import { formatCount, WATCH_MS } from '../measures.ts';
import { words } from '../words/operator-money.ts';
import { words as shell } from '../words/shell.ts';
import { useWords } from '../words.ts';

type Account = AnswerTo<'GET /operator/accounts'>['data'][number];
type Unknown = AnswerTo<'GET /operator/reconcile'>['data'][number];

export default function OperatorAccountsPage() {
  const { accounts: text } = useWords(words);
  const { pages } = useWords(shell);
  const { data, error, refetch } = useRead('GET /operator/accounts', {}, { every: WATCH_MS });
  const environments = [...new Set(data?.data.map(({ environment }) => environment))];
  return (
    <>
      <PageHeader title={pages.operatorAccounts} description={text.intro} />
      <ErrorNote error={error} retry={() => void refetch()} />
      <UnknownTransactions />
      {environments.map((environment) => (
        <Accounts
          key={environment}
          environment={environment}
          rows={data?.data.filter((account) => account.environment === environment)}
        />
      ))}
      {!data && !error && <Skeleton lines={6} />}
      <OpenRelays />
    </>
  );
}

const stateTones: Readonly<Record<Account['state'], Tone>> = {
  OK: 'good',
  LOW: 'warn',
  EMPTY: 'bad',
  UNRECONCILED: 'bad',
  NOT_DEPLOYED: 'bad',
  UNREADABLE: 'warn',
};

interface AccountsProps {
  readonly environment: Account['environment'];
  readonly rows: readonly Account[] | undefined;
}

function Accounts({ environment, rows }: AccountsProps) {
  const { accounts: text, environments } = useWords(words);
  const title = text.list(environments[environment]);
  return (
    <Section title={title}>
      <Card flush>
        <DataTable
          label={title}
          rows={rows}
          rowKey={({ role, address }) => role + address}
          columns={[
            {
              key: 'role',
              label: text.role,
              cell: ({ role }) => (
                <span>
                  {text.roles[role]}
                  <br />
                  <span className="soft">{text.roleNotes[role]}</span>
                </span>
              ),
            },
            {
              key: 'address',
              label: text.address,
              cell: ({ address }) => <Hash value={address} label={text.address} />,
            },
            {
              key: 'state',
              label: text.state,
              cell: ({ state }) => <StatusBadge status={state} label={text.states[state]} tone={stateTones[state]} />,
            },
            { key: 'strk', label: text.strk, align: 'end', cell: ({ strk }) => <Amount amount={strk} unit="STRK" /> },
            { key: 'usdc', label: text.usdc, align: 'end', cell: ({ usdc }) => <Amount amount={usdc} unit="USDC" /> },
            {
              key: 'nonce',
              label: text.nonce,
              align: 'end',
              cell: ({ chainNonce, nextNonce }) => (
                <span className="number">
                  {chainNonce ?? '–'} / {nextNonce ?? '–'}
                </span>
              ),
            },
            {
              key: 'relays',
              label: text.relays,
              align: 'end',
              cell: ({ openRelays }) => <span className="number">{openRelays}</span>,
            },
          ]}
          empty={null}
        />
      </Card>
    </Section>
  );
}

const SHOWN_DECIMALS = 4;

/** Shortened by cutting digits, never by rounding up. */
function Amount({ amount, unit }: { amount: string | null; unit: string }) {
  if (amount === null) return <>–</>;
  const [whole = '0', fraction = ''] = amount.split('.');
  const shown = fraction === '' ? whole : `${whole}.${fraction.slice(0, SHOWN_DECIMALS)}`;
  return (
    <span title={amount}>
      <Money amount={shown} unit={unit} />
    </span>
  );
}

const refreshes = [
  'GET /operator/reconcile',
  'GET /operator/accounts',
  'GET /operator/health',
  'GET /operator/audit-log',
] as const;

function UnknownTransactions() {
  const { accounts: text } = useWords(words);
  const language = useLanguage();
  const toast = useToast();
  const { data, error, refetch } = useRead('GET /operator/reconcile', {}, { every: WATCH_MS });
  const [found, setFound] = useState<readonly Unknown[]>([]);
  const [chosen, choose] = useState<{ transaction: Unknown; action: 'match' | 'accept' }>();
  const reconcile = useChange('POST /operator/reconcile', {
    refreshes,
    onSuccess: ({ open, data: lines }) => {
      setFound(lines);
      toast.done(open === 0 ? text.reconciledAll : text.reconciled(formatCount(open, language)));
    },
  });
  // What a look at the chain found says more than what is stored.
  const rows = data?.data.map((row) => found.find((line) => isSame(line, row) && line.state === 'OPEN') ?? row);
  const actions =
    data && data.open > 0 ? (
      <Button icon={RefreshCw} pending={reconcile.isPending} onClick={() => reconcile.mutate({})}>
        {text.reconcile}
      </Button>
    ) : undefined;
  return (
    <Section title={text.unknown} actions={actions}>
      <ErrorNote error={error ?? reconcile.error} retry={() => void refetch()} />
      {data && data.open > 0 && <Note tone="bad">{text.unknownBody}</Note>}
      {!error && (
        <Card flush>
          <DataTable
            label={text.unknown}
            rows={rows}
            rowKey={({ account, nonce }) => `${account} ${nonce}`}
            columns={[
              { key: 'nonce', label: 'Nonce', cell: ({ nonce }) => <span className="number">{nonce}</span> },
              {
                key: 'account',
                label: text.account,
                cell: ({ account }) => <Hash value={account} label={text.account} />,
              },
              {
                key: 'hash',
                label: text.hash,
                cell: ({ hash }) =>
                  hash ? <Hash value={hash} label={text.hash} /> : <span className="soft">{text.notFound}</span>,
              },
              { key: 'reason', label: text.reason, cell: ({ reason }) => reason ?? '–' },
            ]}
            actions={(transaction) => (
              <div className="row">
                {transaction.hash && (
                  <Button size="s" onClick={() => choose({ transaction, action: 'match' })}>
                    {text.match}
                  </Button>
                )}
                <Button size="s" kind="danger" onClick={() => choose({ transaction, action: 'accept' })}>
                  {text.accept}
                </Button>
              </div>
            )}
            empty={
              <EmptyState icon={CircleCheck} title={text.allKnown}>
                {text.allKnownBody}
              </EmptyState>
            }
          />
        </Card>
      )}
      {chosen?.action === 'match' && <MatchDialog transaction={chosen.transaction} onClose={() => choose(undefined)} />}
      {chosen?.action === 'accept' && (
        <AcceptDialog transaction={chosen.transaction} onClose={() => choose(undefined)} />
      )}
    </Section>
  );
}

const isSame = (one: Unknown, other: Unknown) => one.account === other.account && one.nonce === other.nonce;

interface TransactionDialogProps {
  readonly transaction: Unknown;
  readonly onClose: () => void;
}

function MatchDialog({ transaction: { hash }, onClose }: TransactionDialogProps) {
  const { accounts: text } = useWords(words);
  const toast = useToast();
  const [value, setValue] = useState('');
  const match = useChange('POST /operator/reconcile/match', { refreshes });
  return (
    <ConfirmDialog
      open
      onClose={onClose}
      title={text.matchTitle}
      action={text.match}
      kind="primary"
      onConfirm={async () => {
        const ids = value.split(/[\s,]+/).filter((id) => id !== '');
        if (ids.length === 0 || !hash) throw new Error(text.idsMissing);
        const { state, reason } = await match.mutateAsync({ body: { hash, ids } });
        if (state === 'OPEN') throw new Error(reason ?? text.idsMissing);
        toast.done(text.matched);
      }}
    >
      <div className="stack">
        <p>{text.matchBody}</p>
        <TextField label={text.ids} hint={text.idsHint} value={value} onChange={setValue} mono autoComplete="off" />
      </div>
    </ConfirmDialog>
  );
}

function AcceptDialog({ transaction: { account, nonce }, onClose }: TransactionDialogProps) {
  const { accounts: text } = useWords(words);
  const toast = useToast();
  const [reason, setReason] = useState('');
  const accept = useChange('POST /operator/reconcile/accept', { refreshes });
  return (
    <ConfirmDialog
      open
      onClose={onClose}
      title={text.acceptTitle}
      action={text.accept}
      onConfirm={async () => {
        if (reason.trim() === '') throw new Error(text.reasonMissing);
        await accept.mutateAsync({ body: { account, nonce, reason: reason.trim() } });
        toast.done(text.accepted);
      }}
    >
      <div className="stack">
        <p>{text.acceptBody}</p>
        <TextField
          label={text.acceptReason}
          hint={text.acceptHint}
          value={reason}
          onChange={setReason}
          autoComplete="off"
          maxLength={500}
        />
      </div>
    </ConfirmDialog>
  );
}

type Relay = RowOf<'GET /operator/relays'>;

function OpenRelays() {
  const { accounts: text, environments } = useWords(words);
  const kinds: Readonly<Record<string, string>> = text.kinds;
  const { rows, error, hasMore, isLoadingMore, loadMore, refetch } = useCursorList(
    'GET /operator/relays',
    {},
    { every: WATCH_MS },
  );
  const stateOf = ({ state, refusedSince, missingSince }: Relay) => {
    if (missingSince) return <StatusBadge status={state} label={text.missing} tone="bad" />;
    if (refusedSince) return <StatusBadge status={state} label={text.refused} tone="warn" />;
    return <StatusBadge status={state} label={text.sent[state]} tone="info" />;
  };
  return (
    <Section title={text.open} description={text.openBody}>
      <ErrorNote error={error} retry={refetch} />
      {!error && (
        <Card flush>
          <DataTable
            label={text.open}
            rows={rows}
            rowKey={({ id }) => id}
            columns={[
              {
                key: 'kind',
                label: text.kind,
                cell: ({ kind, environment }) => (
                  <span>
                    {kinds[kind] ?? kind}
                    <br />
                    <span className="soft">{environments[environment]}</span>
                  </span>
                ),
              },
              { key: 'state', label: text.state, cell: stateOf },
              {
                key: 'hash',
                label: text.hash,
                cell: ({ hash }) => (hash ? <Hash value={hash} label={text.hash} /> : '–'),
              },
              {
                key: 'account',
                label: text.account,
                wideOnly: true,
                cell: ({ account }) => (account ? <Hash value={account} label={text.account} /> : '–'),
              },
              {
                key: 'nonce',
                label: 'Nonce',
                align: 'end',
                cell: ({ nonce }) => <span className="number">{nonce ?? '–'}</span>,
              },
              {
                key: 'attempts',
                label: text.attempts,
                align: 'end',
                cell: ({ attempts }) => <span className="number">{attempts.length}</span>,
              },
              { key: 'since', label: text.since, align: 'end', cell: ({ createdAt }) => <Time value={createdAt} /> },
            ]}
            empty={
              <EmptyState icon={CircleCheck} title={text.noneOpen}>
                {text.noneOpenBody}
              </EmptyState>
            }
          />
          <More hasMore={hasMore} pending={isLoadingMore} onMore={loadMore} />
        </Card>
      )}
    </Section>
  );
}
