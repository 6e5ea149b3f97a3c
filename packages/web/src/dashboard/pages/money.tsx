import type { LedgerEntry } from '@svc/protocol';
import { toCsv } from '@svc/protocol/values';
import { Download, Landmark, Wallet } from 'lucide-react';
import { useState } from 'react';
import { StatusBadge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { TextField } from '../../ui/fields.tsx';
import { localeOf, useLanguage } from '../../ui/language.ts';
import { Link } from '../../ui/link.tsx';
import { Card, EmptyState, ErrorNote, Figure, PageHeader, Section, Skeleton } from '../../ui/page.tsx';
import { QrCode } from '../../ui/qr-code.tsx';
import { type Column, DataTable, More, Pager } from '../../ui/table.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { useToast } from '../../ui/toast.tsx';
import { formatMoney, Hash, Money, Time } from '../../ui/values.tsx';
import { request, useChange, useCursorList, useRead } from '../api.ts';
import { download } from '../download.ts';
import { useForm } from '../form.ts';
import { useSearchParam } from '../navigation.ts';
import { useSession } from '../session.tsx';
import { words } from '../words/money.ts';
import { words as shellWords } from '../words/shell.ts';
import { useWords } from '../words.ts';
import { Sponsorship } from './sponsorship.tsx';
import './gifts.css';

/** Six digits in every row, so that the points stand below each other. */
const MICROS = [6, 6] as const;
const LIMIT = 25;
const REFRESH_MS = 5_000;

export default function MoneyPage() {
  const text = useWords(words);
  const { pages } = useWords(shellWords);
  const [tab, setTab] = useSearchParam('tab', 'ledger');
  return (
    <div className="stack">
      <PageHeader title={pages.money} description={text.description} />
      <Balance />
      <Tabs
        label={text.view}
        value={tab}
        onChange={setTab}
        tabs={[
          { value: 'ledger', label: text.tabs.ledger, content: <Ledger toDeposit={() => setTab('deposit')} /> },
          { value: 'deposit', label: text.tabs.deposit, content: <Deposit /> },
          { value: 'holds', label: text.tabs.holds, content: <Holds /> },
          { value: 'sponsorship', label: text.tabs.sponsorship, content: <Sponsorship /> },
        ]}
      />
    </div>
  );
}

/** A deposit arrives without a click, so the balance is read again and again. */
function Balance() {
  const text = useWords(words);
  const { data } = useRead('GET /organization', undefined, { every: REFRESH_MS });
  const show = (amount: number | undefined) => (amount === undefined ? '–' : <Money amount={amount} places={[2, 2]} />);
  return (
    <div className="figures">
      <Figure label={text.available} value={show(data?.balance.availableUsd)} />
      <Figure label={text.held} value={show(data?.balance.heldUsd)} />
      <Figure label={text.total} value={show(data?.balance.totalUsd)} />
    </div>
  );
}

const tones = {
  DEPOSIT: 'good',
  GRANT: 'good',
  HOLD: 'info',
  SETTLE: 'plain',
  RELEASE: 'plain',
  REVERSAL: 'bad',
} as const;

function Ledger({ toDeposit }: { toDeposit: () => void }) {
  const text = useWords(words);
  const [page, setPage] = useSearchParam('page', '1');
  const query = { page: Number(page) || 1, limit: LIMIT };
  const { data, error, refetch } = useRead(
    'GET /organization/ledger',
    { query },
    { keepPrevious: true, every: REFRESH_MS },
  );
  const columns: Column<LedgerEntry>[] = [
    {
      key: 'type',
      label: text.type,
      main: true,
      cell: ({ type }) => <StatusBadge status={type} label={text.types[type]} tone={tones[type]} />,
    },
    {
      key: 'amount',
      label: text.amount,
      align: 'end',
      cell: ({ amountUsd }) => <Money amount={amountUsd} places={MICROS} />,
    },
    {
      key: 'available',
      label: text.availableAfter,
      align: 'end',
      cell: ({ availableUsd }) => <Money amount={availableUsd} places={MICROS} />,
    },
    {
      key: 'held',
      label: text.heldAfter,
      align: 'end',
      cell: ({ heldUsd }) => <Money amount={heldUsd} places={MICROS} />,
      wideOnly: true,
    },
    {
      key: 'reference',
      label: text.reference,
      cell: ({ reference }) => (reference === null ? '–' : <Reference value={reference} />),
    },
    { key: 'time', label: text.time, cell: ({ createdAt }) => <Time value={createdAt} /> },
  ];
  const empty = (
    <EmptyState icon={Landmark} title={text.noEntries} action={<Button onClick={toDeposit}>{text.toDeposit}</Button>}>
      {text.noEntriesNext}
    </EmptyState>
  );
  if (error) return <ErrorNote error={error} retry={() => void refetch()} />;
  return (
    <div>
      <div className="filters">
        <Export total={data?.total ?? 0} />
      </div>
      <Card flush>
        <DataTable label={text.tabs.ledger} columns={columns} rows={data?.data} rowKey={({ id }) => id} empty={empty} />
        {data && <Pager {...data} onPage={(next) => setPage(String(next))} />}
      </Card>
    </div>
  );
}

/** Gifts and redeems have pages of their own. */
function Reference({ value }: { value: string }) {
  if (value.startsWith('gift_')) return <Hash value={value} to={`/gifts/${value}`} />;
  if (value.startsWith('rdm_')) return <Hash value={value} to={`/redeems/${value}`} />;
  return <Hash value={value} />;
}

const EXPORT_LIMIT = 100;
/** One million entries. */
const MAX_PAGES = 10_000;

function Export({ total }: { total: number }) {
  const text = useWords(words);
  const toast = useToast();
  const number = new Intl.NumberFormat(localeOf(useLanguage()));
  const [done, setDone] = useState<number>();
  const run = async () => {
    setDone(0);
    try {
      const entries = await readLedger(setDone);
      const header = [
        'createdAt',
        'type',
        'amountUsd',
        'availableUsd',
        'heldUsd',
        'reference',
        'holdId',
        'id',
      ] as const;
      download(
        'ledger.csv',
        toCsv(
          header,
          entries.map((entry) => header.map((name) => entry[name])),
        ),
      );
    } catch (error) {
      toast.failed(text.exportFailed, error instanceof Error ? error.message : undefined);
    } finally {
      setDone(undefined);
    }
  };
  return (
    <Button icon={Download} pending={done !== undefined} disabled={total === 0} onClick={() => void run()}>
      {done === undefined ? text.export : text.exporting(number.format(done), number.format(total))}
    </Button>
  );
}

/** Entries that are written meanwhile move others to the next page: those are taken once. */
async function readLedger(onProgress: (done: number) => void): Promise<LedgerEntry[]> {
  const entries = new Map<string, LedgerEntry>();
  for (let page = 1; page <= MAX_PAGES; page++) {
    const { data, totalPages } = await request('GET /organization/ledger', { query: { page, limit: EXPORT_LIMIT } });
    for (const entry of data) entries.set(entry.id, entry);
    onProgress(entries.size);
    if (page >= totalPages) break;
  }
  return [...entries.values()];
}

function Deposit() {
  const text = useWords(words);
  const { can } = useSession();
  const { data, error, refetch } = useRead('GET /organization');
  if (error) return <ErrorNote error={error} retry={() => void refetch()} />;
  if (!data) return <Skeleton lines={6} />;
  if (data.depositAddress === null) {
    return (
      <EmptyState icon={Wallet} title={text.noDeposits}>
        {text.noDepositsNext}
      </EmptyState>
    );
  }
  return (
    <div className="stack">
      <Card title={text.depositTitle}>
        <div className="claim-link">
          <QrCode value={data.depositAddress} label={text.address} />
          <div className="stack">
            <div>
              <p className="soft">{text.address}</p>
              <Hash value={data.depositAddress} label={text.address} full />
            </div>
            <p className="soft">{text.depositNote}</p>
          </div>
        </div>
      </Card>
      {can('DEVELOPER') && <Sent />}
    </div>
  );
}

function Sent() {
  const text = useWords(words);
  const language = useLanguage();
  const toast = useToast();
  const deposit = useChange('POST /organization/deposits', {
    refreshes: ['GET /organization', 'GET /organization/ledger'],
  });
  const form = useForm({
    initial: { transactionHash: '' },
    check: ({ transactionHash }) => (transactionHash.trim() === '' ? { transactionHash: text.sentNote } : {}),
    onSubmit: async ({ transactionHash }) => {
      const entry = await deposit.mutateAsync({ body: { transactionHash: transactionHash.trim(), chain: 'STARKNET' } });
      toast.done(text.credited(formatMoney(String(entry.amountUsd), 'USD', language)));
      form.reset();
    },
  });
  return (
    <Section title={text.sent} description={text.sentNote}>
      <form className="form" onSubmit={form.onSubmit} noValidate>
        <TextField label={text.hash} mono autoComplete="off" {...form.field('transactionHash')} />
        <ErrorNote error={form.failure} />
        <div className="row">
          <Button type="submit" pending={form.pending}>
            {text.look}
          </Button>
        </div>
      </form>
    </Section>
  );
}

function Holds() {
  const text = useWords(words);
  const list = useCursorList('GET /organization/holds');
  if (list.error) return <ErrorNote error={list.error} retry={list.refetch} />;
  return (
    <Card flush>
      <DataTable
        label={text.tabs.holds}
        rows={list.rows}
        rowKey={({ id }) => id}
        columns={[
          {
            key: 'gift',
            label: text.gift,
            main: true,
            cell: ({ giftId, giftName, redeemId }) =>
              redeemId !== null ? (
                <Link to={`/redeems/${redeemId}`}>{`${text.redeem} · ${giftName ?? ''}`}</Link>
              ) : giftId === null ? (
                '–'
              ) : (
                <Link to={`/gifts/${giftId}`}>{giftName ?? giftId}</Link>
              ),
          },
          { key: 'amount', label: text.held0, align: 'end', cell: ({ amountUsd }) => <Money amount={amountUsd} /> },
          { key: 'spent', label: text.spent, align: 'end', cell: ({ settledUsd }) => <Money amount={settledUsd} /> },
          { key: 'left', label: text.stillHeld, align: 'end', cell: ({ heldUsd }) => <Money amount={heldUsd} /> },
          { key: 'since', label: text.created, cell: ({ createdAt }) => <Time value={createdAt} /> },
        ]}
        empty={<EmptyState title={text.noHolds}>{text.noHoldsNext}</EmptyState>}
      />
      <More hasMore={list.hasMore} pending={list.isLoadingMore} onMore={list.loadMore} />
    </Card>
  );
}
