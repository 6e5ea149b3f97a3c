import { Boxes, ChevronLeft, ChevronRight } from 'lucide-react';
import { LinkButton } from '../../ui/button.tsx';
import { useWords } from '../../ui/language.ts';
import { Link } from '../../ui/link.tsx';
import { Card, DescriptionList, EmptyState, ErrorNote, PageHeader, Section, Skeleton } from '../../ui/page.tsx';
import { Hash } from '../../ui/values.tsx';
import { type BlockWithReceipts, type ListedTransaction, readBlock } from '../chain.ts';
import { useParam } from '../navigation.tsx';
import { Address, ChainTime, FinalityBadge, useChain, useHead, useNumber } from '../shared.tsx';
import { words } from '../words.ts';
import { Missing } from './not-found.tsx';
import { TransactionTable } from './transactions.tsx';

export default function BlockPage() {
  const text = useWords(words);
  const id = useParam('id').toLowerCase();
  const isId = /^(?:\d{1,9}|0x[0-9a-f]{1,64})$/.test(id);
  const { data, error, refetch, isPending } = useChain(['block', id], async () =>
    isId ? ((await readBlock(id)) ?? null) : null,
  );
  if (error) return <ErrorNote error={error} retry={() => void refetch()} />;
  if (data) return <BlockView block={data} />;
  if (isPending) return <Skeleton lines={8} />;
  return <Missing>{text.notFoundBlock}</Missing>;
}

function BlockView({ block }: { block: BlockWithReceipts }) {
  const text = useWords(words);
  const number = useNumber();
  const newest = useHead()?.blockNumber ?? block.block_number;
  const fri = (price: string) => `${number(BigInt(price))} ${text.perUnit}`;
  const rows: ListedTransaction[] = block.transactions.map(({ transaction, receipt }) => ({
    transactionHash: receipt.transaction_hash,
    blockNumber: block.block_number,
    timestamp: block.timestamp,
    finalityStatus: receipt.finality_status,
    executionStatus: receipt.execution_status,
    actualFee: BigInt(receipt.actual_fee.amount).toString(),
    events: receipt.events.length,
    transaction,
  }));
  const events = rows.reduce((sum, row) => sum + row.events, 0);
  return (
    <>
      <PageHeader
        title={text.blockOf(number(block.block_number))}
        parents={[{ label: text.blocks, to: '/blocks' }]}
        badge={<FinalityBadge status={block.status ?? 'PRE_CONFIRMED'} />}
        actions={
          <>
            {block.block_number > 0 && (
              <LinkButton size="s" icon={ChevronLeft} to={`/block/${block.block_number - 1}`}>
                {text.earlier}
              </LinkButton>
            )}
            {block.block_number < newest && (
              <LinkButton size="s" icon={ChevronRight} to={`/block/${block.block_number + 1}`}>
                {text.later}
              </LinkButton>
            )}
          </>
        }
      />
      <Card>
        <DescriptionList
          rows={[
            [text.hash, block.block_hash && <Hash value={block.block_hash} full label={text.hash} />],
            [
              text.parent,
              block.parent_hash && block.block_number > 0 ? (
                <Link key="parent" to={`/block/${block.block_number - 1}`} className="mono hash-full">
                  {block.parent_hash}
                </Link>
              ) : undefined,
            ],
            [text.time, <ChainTime key="time" seconds={block.timestamp} exact />],
            [text.contents, `${text.transactionCount(rows.length)}, ${text.eventCount(events)}`],
            [text.sequencer, <Address key="sequencer" value={BigInt(block.sequencer_address)} />],
            [
              text.gasPrices,
              `${text.gas.l2_gas}: ${fri(block.l2_gas_price.price_in_fri)} · ${text.gas.l1_data_gas}: ${fri(block.l1_data_gas_price.price_in_fri)}`,
            ],
          ]}
        />
      </Card>
      <Section title={text.transactions}>
        <Card flush>
          {rows.length === 0 ? (
            <EmptyState icon={Boxes} title={text.noTransactions} />
          ) : (
            <TransactionTable rows={rows} />
          )}
        </Card>
      </Section>
    </>
  );
}
