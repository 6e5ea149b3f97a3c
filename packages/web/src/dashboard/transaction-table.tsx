import type { Transaction } from '@svc/protocol';
import { ArrowRight } from 'lucide-react';
import type { ReactNode } from 'react';
import { StatusBadge } from '../ui/badge.tsx';
import { DataTable } from '../ui/table.tsx';
import { Hash, Time } from '../ui/values.tsx';
import { TokenAmount, useDecimals } from './amounts.tsx';
import { ServiceName } from './service-name.tsx';
import { words } from './words/transactions.ts';
import { useWords } from './words.ts';
import './transaction-table.css';

export interface TransactionTableProps {
  label: string;
  rows: readonly Transaction[] | undefined;
  /** The wallet whose history it is: the other party is shown alone. */
  of?: string;
  empty: ReactNode;
}

export function TransactionTable({ label, rows, of, empty }: TransactionTableProps) {
  const text = useWords(words);
  const decimalsOf = useDecimals();
  return (
    <DataTable<Transaction>
      label={label}
      rows={rows}
      rowKey={({ id }) => id}
      rowTo={({ id }) => `/transactions/${id}`}
      columns={[
        { key: 'type', label: text.transaction, main: true, cell: (row) => <Kind transaction={row} /> },
        { key: 'status', label: text.status, cell: ({ status }) => <StatusBadge status={status} /> },
        { key: 'parties', label: text.parties, cell: (row) => <Parties transaction={row} of={of} /> },
        {
          key: 'amount',
          label: text.amount,
          align: 'end',
          cell: ({ amount, token, chain }) => (
            <TokenAmount raw={amount} token={token} decimals={token && decimalsOf(chain, token)} />
          ),
        },
        { key: 'time', label: text.time, align: 'end', cell: ({ createdAt }) => <Time value={createdAt} /> },
      ]}
      empty={empty}
    />
  );
}

function Kind({ transaction: { type, functionName, skuId } }: { transaction: Transaction }) {
  const text = useWords(words);
  const detail = skuId ? <ServiceName id={skuId} /> : type === 'CONTRACT_CALL' && functionName;
  return (
    <>
      {type ? text.types[type] : text.transaction}
      {detail && <span className="soft"> · {detail}</span>}
    </>
  );
}

function Parties({ transaction, of }: { transaction: Transaction; of: string | undefined }) {
  const text = useWords(words);
  const { senderAddress, destinationAddress } = transaction;
  if (of === destinationAddress) return <Hash value={senderAddress} label={text.sender} />;
  if (of === senderAddress) return <Hash value={destinationAddress} label={text.destination} />;
  return (
    <span className="parties">
      <Hash value={senderAddress} copy={false} />
      <ArrowRight size={14} aria-hidden />
      <Hash value={destinationAddress} copy={false} />
    </span>
  );
}
