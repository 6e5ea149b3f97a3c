import { useWords } from '../../ui/language.ts';
import { Link } from '../../ui/link.tsx';
import { Card, Figure, PageHeader } from '../../ui/page.tsx';
import type { ListedTransaction } from '../chain.ts';
import { BlockLink, useChainList, useDuration, useHead, useNumber } from '../shared.tsx';
import { words } from '../words.ts';
import { BlockTable, useBlocks } from './blocks.tsx';
import { TransactionTable } from './transactions.tsx';

const SHOWN = 8;

export default function OverviewPage() {
  const text = useWords(words);
  const head = useHead();
  const number = useNumber();
  const duration = useDuration(true);
  const blocks = useBlocks(undefined, SHOWN);
  const { rows } = useChainList<ListedTransaction>(`transactions?limit=${SHOWN}`);
  return (
    <>
      <PageHeader title={text.overview} />
      <div className="figures explorer-figures">
        <Figure label={text.latestBlock} value={head ? <BlockLink number={head.blockNumber} /> : '–'} />
        <Figure
          label={text.transactions}
          value={head ? number(head.transactions) : '–'}
          note={head?.waitingTransactions ? text.waiting(number(head.waitingTransactions)) : text.noWaiting}
        />
        <Figure
          label={text.blockTime}
          value={head ? (head.blockSeconds === 0 ? text.instant : text.every(number(head.blockSeconds))) : '–'}
        />
        <Figure
          label={text.chainTime}
          value={head ? (head.offsetSeconds === 0 ? text.realTime : text.shifted(duration(head.offsetSeconds))) : '–'}
        />
      </div>
      <div className="explorer-halves">
        <Card title={text.latestBlocks} flush actions={<Link to="/blocks">{text.all}</Link>}>
          <BlockTable rows={blocks.data} isShort />
        </Card>
        <Card title={text.latestTransactions} flush actions={<Link to="/transactions">{text.all}</Link>}>
          <TransactionTable rows={rows} isShort />
        </Card>
      </div>
    </>
  );
}
