import { Wallet } from 'lucide-react';
import { useWords } from '../../ui/language.ts';
import { Card, EmptyState, ErrorNote, PageHeader, Section } from '../../ui/page.tsx';
import { type Column, DataTable, More } from '../../ui/table.tsx';
import { Hash } from '../../ui/values.tsx';
import type { ListedAccount } from '../chain.ts';
import { hex } from '../decode.ts';
import { BlockLink, ChainTime, useBook, useChainList } from '../shared.tsx';
import { words } from '../words.ts';

export default function AccountsPage() {
  const text = useWords(words);
  const book = useBook();
  const list = useChainList<ListedAccount>('accounts');
  const names: Readonly<Record<string, string>> = text.classes;
  const columns: Column<ListedAccount>[] = [
    { key: 'address', label: text.address, cell: ({ address }) => <Hash value={address} copy={false} /> },
    {
      key: 'class',
      label: text.class,
      cell: ({ classHash }) => names[book.class(BigInt(classHash))?.name ?? ''] ?? text.declaredClass,
    },
    { key: 'block', label: text.deployedIn, cell: ({ blockNumber }) => <BlockLink number={blockNumber} /> },
    { key: 'age', label: text.age, align: 'end', cell: ({ timestamp }) => <ChainTime seconds={timestamp} /> },
  ];
  return (
    <>
      <PageHeader title={text.accounts} />
      {list.error ? (
        <ErrorNote error={list.error} retry={() => void list.refetch()} />
      ) : (
        <Card flush>
          <DataTable
            label={text.accounts}
            columns={columns}
            rows={list.rows}
            rowKey={({ address, transactionHash }) => address + transactionHash}
            rowTo={({ address }) => `/account/${address}`}
            empty={
              <EmptyState icon={Wallet} title={text.noAccounts}>
                {text.noAccountsHint}
              </EmptyState>
            }
          />
        </Card>
      )}
      <More hasMore={list.hasNextPage} pending={list.isFetchingNextPage} onMore={() => void list.fetchNextPage()} />
      <Section title={text.serviceAccounts}>
        <Card flush>
          <DataTable
            label={text.serviceAccounts}
            columns={[
              { key: 'name', label: text.name, cell: ({ name }) => name },
              { key: 'address', label: text.address, cell: ({ address }) => <Hash value={address} /> },
            ]}
            rows={book.contracts}
            rowKey={({ address }) => address}
            rowTo={({ address }) => `/account/${hex(BigInt(address))}`}
            empty={null}
          />
        </Card>
      </Section>
    </>
  );
}
