import { Boxes } from 'lucide-react';
import { LinkButton } from '../../ui/button.tsx';
import { useWords } from '../../ui/language.ts';
import { Card, EmptyState, ErrorNote, PageHeader } from '../../ui/page.tsx';
import { type Column, DataTable } from '../../ui/table.tsx';
import { Hash } from '../../ui/values.tsx';
import { type BlockWithHashes, readBlocks } from '../chain.ts';
import { useSearchText } from '../navigation.tsx';
import { ChainTime, FinalityBadge, useChain, useHead, useNumber } from '../shared.tsx';
import { words } from '../words.ts';

const PAGE = 25;

export function useBlocks(from: number | undefined, count: number) {
  const newest = useHead()?.blockNumber ?? 0;
  const start = Math.min(from ?? newest, newest);
  return useChain(['blocks', from, count], () => readBlocks(start, count));
}

export default function BlocksPage() {
  const text = useWords(words);
  const given = useSearchText('from');
  const from = /^\d{1,9}$/.test(given) ? Number(given) : undefined;
  const { data, error, refetch } = useBlocks(from, PAGE);
  const newest = useHead()?.blockNumber ?? 0;
  const last = data?.at(-1)?.block_number ?? 0;
  return (
    <>
      <PageHeader title={text.blocks} />
      {error ? (
        <ErrorNote error={error} retry={() => void refetch()} />
      ) : (
        <Card flush>
          <BlockTable rows={data} />
        </Card>
      )}
      <div className="pager">
        {from !== undefined && from < newest && (
          <LinkButton size="s" to={from + PAGE >= newest ? '/blocks' : `/blocks?from=${from + PAGE}`}>
            {text.newer}
          </LinkButton>
        )}
        {last > 0 && (
          <LinkButton size="s" to={`/blocks?from=${last - 1}`}>
            {text.older}
          </LinkButton>
        )}
      </div>
    </>
  );
}

export function BlockTable({
  rows,
  isShort = false,
}: {
  rows: readonly BlockWithHashes[] | undefined;
  isShort?: boolean;
}) {
  const text = useWords(words);
  const number = useNumber();
  const columns: Column<BlockWithHashes>[] = [
    { key: 'number', label: text.block, cell: (block) => <span className="number">{number(block.block_number)}</span> },
    { key: 'hash', label: text.hash, cell: ({ block_hash }) => <Hash value={block_hash ?? ''} copy={false} /> },
    { key: 'status', label: text.status, cell: ({ status }) => <FinalityBadge status={status} /> },
    {
      key: 'transactions',
      label: text.transactions,
      align: 'end',
      cell: ({ transactions }) => <span className="number">{number(transactions.length)}</span>,
    },
    {
      key: 'events',
      label: text.events,
      align: 'end',
      wideOnly: true,
      cell: ({ event_count = 0 }) => <span className="number">{number(event_count)}</span>,
    },
    { key: 'age', label: text.age, align: 'end', cell: ({ timestamp }) => <ChainTime seconds={timestamp} /> },
  ];
  const shown = isShort ? columns.filter(({ key }) => !['status', 'events', 'hash'].includes(key)) : columns;
  return (
    <DataTable
      label={text.blocks}
      columns={shown}
      rows={rows}
      rowKey={({ block_number }) => String(block_number)}
      rowTo={({ block_number }) => `/block/${block_number}`}
      empty={<EmptyState icon={Boxes} title={text.noBlocks} />}
    />
  );
}
