import { ArrowLeftRight } from 'lucide-react';
import { useWords } from '../../ui/language.ts';
import { Card, EmptyState, ErrorNote, PageHeader } from '../../ui/page.tsx';
import { type Column, DataTable, More } from '../../ui/table.tsx';
import { Hash } from '../../ui/values.tsx';
import type { ListedTransaction } from '../chain.ts';
import { callsOf, usersOf } from '../decode.ts';
import { serviceUrl } from '../place.ts';
import { Address, BlockLink, ChainTime, ExecutionBadge, Fee, useBook, useChainList, useHeadline } from '../shared.tsx';
import { words } from '../words.ts';

export default function TransactionsPage() {
  const text = useWords(words);
  return (
    <>
      <PageHeader title={text.transactions} />
      <TransactionList />
    </>
  );
}

/** All transactions, or those of an address. */
export function TransactionList({ address, limit = 25 }: { address?: string; limit?: number }) {
  const path = `transactions?limit=${limit}${address === undefined ? '' : `&address=${address}`}`;
  const { rows, error, refetch, hasNextPage, isFetchingNextPage, fetchNextPage } =
    useChainList<ListedTransaction>(path);
  if (error) return <ErrorNote error={error} retry={() => void refetch()} />;
  return (
    <>
      <Card flush>
        <TransactionTable rows={rows} isOfAddress={address !== undefined} />
      </Card>
      <More hasMore={hasNextPage} pending={isFetchingNextPage} onMore={() => void fetchNextPage()} />
    </>
  );
}

interface TableProps {
  rows: readonly ListedTransaction[] | undefined;
  isOfAddress?: boolean;
  isShort?: boolean;
}

export function TransactionTable({ rows, isOfAddress = false, isShort = false }: TableProps) {
  const text = useWords(words);
  const book = useBook();
  const headline = useHeadline();
  const columns: Column<ListedTransaction>[] = [
    { key: 'hash', label: text.hash, cell: ({ transactionHash }) => <Hash value={transactionHash} copy={false} /> },
    {
      key: 'action',
      label: text.action,
      cell: ({ transaction }) => (
        <span className="headline">{headline(callsOf(book, transaction) ?? [], transaction.type)}</span>
      ),
    },
    { key: 'status', label: text.status, cell: ({ executionStatus }) => <ExecutionBadge status={executionStatus} /> },
    {
      key: 'by',
      label: text.by,
      cell: ({ transaction }) => {
        const [user] = usersOf(callsOf(book, transaction) ?? []);
        const address =
          user ?? (transaction.sender_address === undefined ? undefined : BigInt(transaction.sender_address));
        return address === undefined ? '–' : <Address value={address} copy={false} />;
      },
    },
    { key: 'block', label: text.block, wideOnly: true, cell: ({ blockNumber }) => <BlockLink number={blockNumber} /> },
    {
      key: 'fee',
      label: text.fee,
      align: 'end',
      wideOnly: true,
      cell: ({ actualFee }) => <Fee fri={BigInt(actualFee)} />,
    },
    { key: 'age', label: text.age, align: 'end', cell: ({ timestamp }) => <ChainTime seconds={timestamp} /> },
  ];
  const shown = isShort ? columns.filter(({ key }) => !['block', 'fee', 'by'].includes(key)) : columns;
  return (
    <DataTable
      label={text.transactions}
      columns={shown}
      rows={rows}
      rowKey={({ transactionHash }) => transactionHash}
      rowTo={({ transactionHash }) => `/tx/${transactionHash}`}
      empty={
        <EmptyState
          icon={ArrowLeftRight}
          title={text.noTransactions}
          action={
            <a className="button plain m" href={serviceUrl('dashboard/sandbox')}>
              {text.faucet}
            </a>
          }
        >
          {isOfAddress ? text.noTransactionsOf : text.noTransactionsHint}
        </EmptyState>
      }
    />
  );
}
