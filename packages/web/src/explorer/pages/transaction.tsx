import { Clock, TriangleAlert } from 'lucide-react';
import { CodeBlock } from '../../ui/code-block.tsx';
import { useWords } from '../../ui/language.ts';
import { Card, DescriptionList, ErrorNote, Note, PageHeader, Section, Skeleton } from '../../ui/page.tsx';
import { type Column, DataTable } from '../../ui/table.tsx';
import { Hash } from '../../ui/values.tsx';
import { CallList, ClassLink, EventList, Signer, TransferList } from '../calls.tsx';
import { type FoundTransaction, type RpcReceipt, readTransaction } from '../chain.ts';
import { callsOf, decodeEvent, type RpcTransaction, readRevert, transfersOf, usersOf } from '../decode.ts';
import { useParam } from '../navigation.tsx';
import {
  Address,
  Amount,
  BlockLink,
  ChainTime,
  ExecutionBadge,
  FinalityBadge,
  STRK,
  useBook,
  useChain,
  useHeadline,
  useNumber,
} from '../shared.tsx';
import { words } from '../words.ts';
import { Missing } from './not-found.tsx';

export default function TransactionPage() {
  const text = useWords(words);
  const hash = useParam('hash').toLowerCase();
  const isHash = /^0x[0-9a-f]{1,64}$/.test(hash);
  const { data, error, refetch, isPending } = useChain(['tx', hash], async () =>
    isHash ? ((await readTransaction(hash)) ?? null) : null,
  );
  if (error) return <ErrorNote error={error} retry={() => void refetch()} />;
  if (data) return <TransactionView found={data} />;
  if (isPending) return <Skeleton lines={10} />;
  return <Missing>{text.notFoundTransaction}</Missing>;
}

/** Fees go to the sequencer by a transfer of their own. */
const isFee = (receipt: RpcReceipt, sequencer: string | undefined, to: bigint, amount: bigint) =>
  sequencer !== undefined && to === BigInt(sequencer) && amount === BigInt(receipt.actual_fee.amount);

function TransactionView({ found: { transaction, receipt, block } }: { found: FoundTransaction }) {
  const text = useWords(words);
  const book = useBook();
  const headline = useHeadline();
  const calls = callsOf(book, transaction) ?? [];
  const events = receipt?.events.map((event) => decodeEvent(book, event)) ?? [];
  const transfers = transfersOf(book, events).filter(
    ({ to, amount }) => !receipt || !isFee(receipt, block?.sequencer_address, to, amount),
  );
  const types: Readonly<Record<string, string>> = text.types;
  return (
    <>
      <PageHeader
        title={headline(calls, transaction.type)}
        parents={[{ label: text.transactions, to: '/transactions' }]}
        badge={<ExecutionBadge status={receipt?.execution_status} />}
        description={<Hash value={transaction.transaction_hash} full label={text.hash} />}
      />
      {!receipt && (
        <Note icon={Clock}>
          <p>{text.waitingNote}</p>
        </Note>
      )}
      {receipt?.revert_reason !== undefined && <RevertNote reason={receipt.revert_reason} />}
      <Card>
        <DescriptionList
          columns={2}
          rows={[
            [text.status, <FinalityBadge key="finality" status={receipt?.finality_status} />],
            [
              text.block,
              receipt?.block_number !== undefined ? <BlockLink key="block" number={receipt.block_number} /> : undefined,
            ],
            [text.time, block ? <ChainTime key="time" seconds={block.timestamp} exact /> : undefined],
            [text.type, types[transaction.type] ?? transaction.type],
            ...people(transaction, calls),
            [text.fee, receipt && <Amount key="fee" value={BigInt(receipt.actual_fee.amount)} token={STRK} />],
            [
              text.nonce,
              <span key="nonce" className="mono">
                {BigInt(transaction.nonce).toString()}
              </span>,
            ],
            [text.class, transaction.class_hash && <ClassLink key="class" value={BigInt(transaction.class_hash)} />],
            [
              text.address,
              receipt?.contract_address && <Address key="address" value={BigInt(receipt.contract_address)} />,
            ],
          ]}
        />
      </Card>
      {transfers.length > 0 && (
        <Section title={text.transfers}>
          <Card>
            <TransferList transfers={transfers} />
          </Card>
        </Section>
      )}
      {transaction.type === 'INVOKE' && (
        <Section title={text.calls} description={text.callsHint}>
          <CallList calls={calls} />
        </Section>
      )}
      {receipt && (
        <Section title={`${text.events} (${events.length})`}>
          <EventList events={events} />
        </Section>
      )}
      <Section title={text.resources}>
        <ResourceTable transaction={transaction} receipt={receipt} />
      </Section>
      <Section title={text.raw}>
        <details className="raw">
          <summary>{text.transaction}</summary>
          <CodeBlock value={transaction} label={text.transaction} />
        </details>
        {receipt && (
          <details className="raw">
            <summary>{text.receipt}</summary>
            <CodeBlock value={receipt} label={text.receipt} />
          </details>
        )}
      </Section>
    </>
  );

  /** Who acts and who pays: with an outside execution these are two accounts. */
  function people(sent: RpcTransaction, list: typeof calls) {
    const sender = sent.sender_address === undefined ? undefined : BigInt(sent.sender_address);
    const payer = sender ?? (receipt?.contract_address === undefined ? undefined : BigInt(receipt.contract_address));
    const users = usersOf(list);
    const [outside] = list.flatMap((call) => call.outside ?? []);
    const isSponsored = users.length > 0 && users.every((user) => user !== payer);
    return [
      [text.user, users.length > 0 ? users.map((user) => <Address key={String(user)} value={user} />) : undefined],
      [text.signedBy, outside && <Signer key="signer" user={outside.user} sessionKey={outside.sessionKey} />],
      [text.sender, users.length === 0 && sender !== undefined ? <Address key="sender" value={sender} /> : undefined],
      [
        text.feePayer,
        payer === undefined ? undefined : (
          <span key="payer" className="row">
            <Address value={payer} />
            {isSponsored && <span className="soft">({text.sponsored})</span>}
          </span>
        ),
      ],
    ] as const;
  }
}

function RevertNote({ reason }: { reason: string }) {
  const text = useWords(words);
  const book = useBook();
  const { words: spoken, frames } = readRevert(reason);
  const reasons: Readonly<Record<string, string>> = text.reasons;
  return (
    <Note tone="bad" icon={TriangleAlert}>
      <p>
        <strong>
          {text.revertedBecause}: {spoken}
        </strong>
      </p>
      <p>
        {reasons[spoken]} {text.nothingMoved}
      </p>
      {frames.length > 0 && (
        <details className="raw">
          <summary>{text.revertedWay}</summary>
          <ol className="frames">
            {frames.map(({ address, selector }, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: the order of frames never changes
              <li key={index}>
                <span className="mono">{book.functionName(selector) ?? text.unknownFunction}</span> {text.onContract}{' '}
                <Address value={address} copy={false} />
              </li>
            ))}
          </ol>
        </details>
      )}
      <details className="raw">
        <summary>{text.revertedText}</summary>
        <CodeBlock value={reason} label={text.revertedText} />
      </details>
    </Note>
  );
}

interface Resource {
  readonly name: 'l2_gas' | 'l1_data_gas' | 'l1_gas';
  readonly used: number | undefined;
  readonly limit: bigint;
  readonly price: bigint;
}

const RESOURCES = ['l2_gas', 'l1_data_gas', 'l1_gas'] as const;

function ResourceTable({ transaction, receipt }: { transaction: RpcTransaction; receipt: RpcReceipt | undefined }) {
  const text = useWords(words);
  const number = useNumber();
  const rows: Resource[] = RESOURCES.map((name) => ({
    name,
    used: receipt?.execution_resources[name],
    limit: BigInt(transaction.resource_bounds?.[name]?.max_amount ?? 0),
    price: BigInt(transaction.resource_bounds?.[name]?.max_price_per_unit ?? 0),
  }));
  const columns: Column<Resource>[] = [
    { key: 'name', label: text.resource, cell: ({ name }) => text.gas[name] },
    {
      key: 'used',
      label: text.used,
      align: 'end',
      cell: ({ used }) => <span className="number">{used === undefined ? '–' : number(used)}</span>,
    },
    {
      key: 'limit',
      label: text.limit,
      align: 'end',
      cell: ({ limit }) => <span className="number">{number(limit)}</span>,
    },
    {
      key: 'price',
      label: text.price,
      align: 'end',
      cell: ({ price }) => (
        <span className="number">
          {number(price)} {text.perUnit}
        </span>
      ),
    },
  ];
  return (
    <Card flush>
      <DataTable label={text.resources} columns={columns} rows={rows} rowKey={({ name }) => name} empty={null} />
    </Card>
  );
}
