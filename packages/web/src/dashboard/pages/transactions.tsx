import type { ChainToken, TxStatus, TxType } from '@svc/protocol';
import { ArrowLeftRight, Download } from 'lucide-react';
import { useDeferredValue, useState } from 'react';
import { useStatusNames } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { SearchField, SelectField, TextField } from '../../ui/fields.tsx';
import { Card, EmptyState, ErrorNote, PageHeader } from '../../ui/page.tsx';
import { More } from '../../ui/table.tsx';
import { givenOf, useCursorList } from '../api.ts';
import { TransactionExport, type TransactionFilters } from '../export-transactions.tsx';
import { useSearchParam } from '../navigation.ts';
import { NoMatches } from '../no-matches.tsx';
import { TransactionTable } from '../transaction-table.tsx';
import { words } from '../words/transactions.ts';
import { useWords } from '../words.ts';

const TYPES = [
  'SEND',
  'RECEIVE',
  'CONTRACT_CALL',
  'SKU_PURCHASE',
  'SHIELD',
  'UNSHIELD',
  'PRIVATE_TRANSFER',
] as const satisfies readonly TxType[];
const STATUSES = ['PENDING', 'PROCESSING', 'SUCCESS', 'FAILED', 'CANCELLED'] as const satisfies readonly TxStatus[];
const TOKENS = [
  'USDC',
  'USDC_E',
  'USDT',
  'STRK',
  'ETH',
  'WBTC',
  'DAI',
  'MXNB',
] as const satisfies readonly ChainToken[];

export default function TransactionsPage() {
  const text = useWords(words);
  const [isExporting, setExporting] = useState(false);
  const { fields, query } = useFilters();
  const list = useCursorList('GET /transactions', { query }, { live: true, keepPrevious: true });
  const isFiltered = Object.keys(query).length > 0;
  return (
    <div className="stack">
      <PageHeader
        title={text.title}
        description={text.description}
        actions={
          <Button icon={Download} disabled={!list.rows?.length} onClick={() => setExporting(true)}>
            {text.export}
          </Button>
        }
      />
      {fields}
      <ErrorNote error={list.error} retry={list.refetch} />
      <Card flush>
        <TransactionTable
          label={text.title}
          rows={list.rows}
          empty={
            isFiltered ? (
              <NoMatches icon={ArrowLeftRight} title={text.noMatch} hint={text.noMatchNote} to="/transactions" />
            ) : (
              <EmptyState icon={ArrowLeftRight} title={text.empty}>
                {text.emptyNote}
              </EmptyState>
            )
          }
        />
        <More hasMore={list.hasMore} pending={list.isLoadingMore} onMore={list.loadMore} />
      </Card>
      {isExporting && <TransactionExport filters={query} onClose={() => setExporting(false)} />}
    </div>
  );
}

/** All filters stand in the address, so that a link shows the same list. */
function useFilters() {
  const text = useWords(words);
  const statusText = useStatusNames();
  const [search, setSearch] = useSearchParam('search');
  const [type, setType] = useSearchParam('type');
  const [status, setStatus] = useSearchParam('status');
  const [token, setToken] = useSearchParam('token');
  const [user, setUser] = useSearchParam('user');
  const [address, setAddress] = useSearchParam('address');
  const [sku, setSku] = useSearchParam('sku');
  const [from, setFrom] = useSearchParam('from');
  const [until, setUntil] = useSearchParam('until');
  const hasMore = [user, address, sku, from, until].some((value) => value !== '');
  const query = givenOf<TransactionFilters>({
    search: useDeferredValue(search.trim()),
    type: type as TxType | '',
    status: status as TxStatus | '',
    token: token as ChainToken | '',
    externalUserId: useDeferredValue(user.trim()),
    walletAddress: useDeferredValue(address.trim()),
    skuId: useDeferredValue(sku.trim()),
    createdAfter: from && startOf(from),
    createdBefore: until && startOf(until, 1),
  });
  const fields = (
    <>
      <div className="filters">
        <SearchField label={text.search} value={search} onChange={setSearch} />
        <SelectField
          label={text.type}
          hideLabel
          value={type}
          onChange={setType}
          options={[['', text.anyType], ...TYPES.map((each) => [each, text.types[each]] as const)]}
        />
        <SelectField
          label={text.status}
          hideLabel
          value={status}
          onChange={setStatus}
          options={[['', text.anyStatus], ...STATUSES.map((each) => [each, statusText[each] ?? each] as const)]}
        />
        <SelectField
          label={text.token}
          hideLabel
          value={token}
          onChange={setToken}
          options={[['', text.anyToken], ...TOKENS.map((each) => [each, each] as const)]}
        />
      </div>
      <details className="more-filters" open={hasMore}>
        <summary>{text.filters}</summary>
        <div className="grid">
          <TextField label={text.user} value={user} onChange={setUser} />
          <TextField label={text.address} value={address} onChange={setAddress} mono />
          <TextField label={text.sku} value={sku} onChange={setSku} />
          <TextField label={text.from} type="date" value={from} onChange={setFrom} />
          <TextField label={text.to} type="date" value={until} onChange={setUntil} />
        </div>
      </details>
    </>
  );
  return { fields, query };
}

/** Midnight where the member is; a day that is being typed counts as none. */
function startOf(date: string, daysLater = 0): string | undefined {
  const [year = 0, month = 0, day = 0] = date.split('-').map(Number);
  const moment = new Date(year, month - 1, day + daysLater);
  return Number.isNaN(moment.getTime()) || year < 1970 ? undefined : moment.toISOString();
}
