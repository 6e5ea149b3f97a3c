import type { ListedWallet, WalletType } from '@svc/protocol';
import { Wallet as WalletIcon } from 'lucide-react';
import { useDeferredValue } from 'react';
import { StatusBadge } from '../../ui/badge.tsx';
import { LinkButton } from '../../ui/button.tsx';
import { SearchField, SelectField } from '../../ui/fields.tsx';
import { Card, EmptyState, ErrorNote, PageHeader } from '../../ui/page.tsx';
import { type Column, DataTable, More } from '../../ui/table.tsx';
import { Hash, Time } from '../../ui/values.tsx';
import { givenOf, useCursorList } from '../api.ts';
import { useSearchParam } from '../navigation.ts';
import { NoMatches } from '../no-matches.tsx';
import { words } from '../words/wallets.ts';
import { useWords } from '../words.ts';

interface Filters {
  search: string;
  walletType: WalletType;
  isDeployed: boolean;
}

export default function WalletsPage() {
  const text = useWords(words);
  const [search, setSearch] = useSearchParam('search');
  const [type, setType] = useSearchParam('type');
  const [state, setState] = useSearchParam('state');
  const query = givenOf<Filters>({
    search: useDeferredValue(search.trim()),
    walletType: type as WalletType | '',
    isDeployed: state === '' ? undefined : state === 'deployed',
  });
  const list = useCursorList('GET /svc-wallets', { query }, { keepPrevious: true });
  const isFiltered = Object.keys(query).length > 0;
  return (
    <div className="stack">
      <PageHeader title={text.title} description={text.description} />
      <div className="filters">
        <SearchField label={text.search} value={search} onChange={setSearch} />
        <SelectField
          label={text.type}
          hideLabel
          value={type}
          onChange={setType}
          options={[
            ['', text.anyType],
            ['SVC', 'SVC'],
            ['READY', 'READY'],
          ]}
        />
        <SelectField
          label={text.state}
          hideLabel
          value={state}
          onChange={setState}
          options={[
            ['', text.anyState],
            ['deployed', text.deployed],
            ['not-deployed', text.notDeployed],
          ]}
        />
      </div>
      <ErrorNote error={list.error} retry={list.refetch} />
      <Card flush>
        <DataTable
          label={text.title}
          columns={columnsOf(text)}
          rows={list.rows}
          rowKey={({ id }) => id}
          rowTo={({ id }) => `/wallets/${id}`}
          empty={
            isFiltered ? (
              <NoMatches icon={WalletIcon} title={text.noMatch} hint={text.noMatchNote} to="/wallets" />
            ) : (
              <EmptyState
                icon={WalletIcon}
                title={text.empty}
                action={<LinkButton href="/docs">{text.guide}</LinkButton>}
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

type Text = ReturnType<typeof useWords<(typeof words)['en']>>;

const columnsOf = (text: Text): readonly Column<ListedWallet>[] => [
  { key: 'user', label: text.user, cell: ({ externalUserId }) => externalUserId, main: true },
  {
    key: 'address',
    label: text.address,
    cell: ({ normalizedPublicKey }) => <Hash value={normalizedPublicKey} label={text.address} />,
  },
  { key: 'type', label: text.type, cell: ({ walletType }) => walletType },
  { key: 'state', label: text.state, cell: (wallet) => <DeploymentBadge wallet={wallet} /> },
  { key: 'created', label: text.created, cell: ({ createdAt }) => <Time value={createdAt} />, align: 'end' },
];

export function DeploymentBadge({ wallet }: { wallet: ListedWallet }) {
  const text = useWords(words);
  return wallet.isDeployed ? (
    <StatusBadge status="ACTIVE" label={text.deployed} />
  ) : (
    <StatusBadge status="PENDING" label={text.notDeployed} />
  );
}
