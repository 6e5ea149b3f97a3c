import type { Transaction } from '@svc/protocol';
import { toCsv } from '@svc/protocol/values';
import { useEffect, useRef, useState } from 'react';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { localeOf, useLanguage } from '../ui/language.ts';
import { ErrorNote, Note } from '../ui/page.tsx';
import { useToast } from '../ui/toast.tsx';
import { useDecimals, withDecimals } from './amounts.tsx';
import { ApiFailure, type InputOf, isFailure, request } from './api.ts';
import { download } from './download.ts';
import { words } from './words/transactions.ts';
import { useWords } from './words.ts';

export type TransactionFilters = NonNullable<InputOf<'GET /transactions'>['query']>;

/** More than a spreadsheet is pleasant with, and some megabytes of memory. */
const MAX_ROWS = 50_000;
const ROWS_A_REQUEST = 100;
const WAIT_MS = 5_000;
const MAX_WAITS = 60;

/** Reads the list to its end, page by page, and saves it. Closing it stops. */
export function TransactionExport({ filters, onClose }: { filters: TransactionFilters; onClose: () => void }) {
  const text = useWords(words);
  const toast = useToast();
  const decimalsOf = useDecimals();
  const number = new Intl.NumberFormat(localeOf(useLanguage()));
  const [rows, setRows] = useState(0);
  const [isWaiting, setWaiting] = useState(false);
  const [isCut, setCut] = useState(false);
  const [error, setError] = useState<ApiFailure>();
  const latest = useRef({ filters, decimalsOf, onClose, text, toast });
  latest.current = { filters, decimalsOf, onClose, text, toast };

  useEffect(() => {
    const stop = new AbortController();
    const run = async () => {
      const columns = columnsOf(latest.current.decimalsOf);
      const found: Transaction[] = [];
      for await (const page of pagesOf(latest.current.filters, stop.signal, setWaiting)) {
        found.push(...page);
        setRows(found.length);
        if (found.length >= MAX_ROWS) break;
      }
      const cells = found.map((row) => columns.map(({ value }) => value(row)));
      const header = columns.map(({ name }) => name);
      download(`transactions-${new Date().toISOString().slice(0, 10)}.csv`, toCsv(header, cells));
      if (found.length >= MAX_ROWS) return setCut(true);
      latest.current.toast.done(latest.current.text.exportDone);
      latest.current.onClose();
    };
    run().catch((failure: unknown) => {
      if (!stop.signal.aborted && failure instanceof ApiFailure) setError(failure);
    });
    return () => stop.abort();
  }, []);

  return (
    <Dialog
      open
      onClose={onClose}
      title={text.exporting}
      size="s"
      footer={<Button onClick={onClose}>{text.cancel}</Button>}
    >
      <p role="status" className="number">
        {text.exported(number.format(rows))}
      </p>
      {isWaiting && <Note>{text.waiting}</Note>}
      {isCut && <Note tone="warn">{text.exportCut(number.format(MAX_ROWS))}</Note>}
      <ErrorNote error={error} />
    </Dialog>
  );
}

async function* pagesOf(
  filters: TransactionFilters,
  signal: AbortSignal,
  onWaiting: (isWaiting: boolean) => void,
): AsyncGenerator<readonly Transaction[]> {
  let cursor: string | undefined;
  let waits = 0;
  while (waits < MAX_WAITS) {
    const query = { ...filters, limit: ROWS_A_REQUEST, ...(cursor !== undefined && { cursor }) };
    try {
      const { data, nextCursor } = await request('GET /transactions', { query }, signal);
      yield data;
      if (nextCursor === null) return;
      cursor = nextCursor;
    } catch (error) {
      if (!isFailure(error, 'rate_limited')) throw error;
      waits += 1;
      onWaiting(true);
      await new Promise((resolve) => setTimeout(resolve, WAIT_MS));
      onWaiting(false);
    }
  }
}

type DecimalsOf = ReturnType<typeof useDecimals>;

interface CsvColumn {
  readonly name: string;
  readonly value: (row: Transaction) => string | number | undefined;
}

/** Names of the interface, so that a file means the same in every language. */
const columnsOf = (decimalsOf: DecimalsOf): readonly CsvColumn[] => [
  { name: 'id', value: ({ id }) => id },
  { name: 'createdAt', value: ({ createdAt }) => createdAt },
  { name: 'confirmedAt', value: ({ confirmedAt }) => confirmedAt },
  { name: 'type', value: ({ type }) => type },
  { name: 'subType', value: ({ subType }) => subType },
  { name: 'status', value: ({ status }) => status },
  { name: 'chain', value: ({ chain }) => chain },
  { name: 'transactionHash', value: ({ transactionHash }) => transactionHash },
  { name: 'senderAddress', value: ({ senderAddress }) => senderAddress },
  { name: 'destinationAddress', value: ({ destinationAddress }) => destinationAddress },
  { name: 'token', value: ({ token }) => token },
  {
    name: 'amount',
    value: ({ amount, token, chain }) => {
      const decimals = token && decimalsOf(chain, token);
      return amount === undefined || decimals === undefined ? amount : withDecimals(amount, decimals);
    },
  },
  { name: 'functionName', value: ({ functionName }) => functionName },
  { name: 'skuId', value: ({ skuId }) => skuId },
  { name: 'skuReference', value: ({ skuReference }) => skuReference },
  { name: 'skuPurchaseAmount', value: ({ skuPurchaseAmount }) => skuPurchaseAmount },
  { name: 'skuPurchaseCurrency', value: ({ skuPurchaseCurrency }) => skuPurchaseCurrency },
  { name: 'failureReason', value: ({ failureReason }) => failureReason },
];
