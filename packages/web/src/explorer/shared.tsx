import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { createContext, type ReactNode, useContext } from 'react';
import { StatusBadge } from '../ui/badge.tsx';
import { type Language, localeOf, useLanguage, useWords } from '../ui/language.ts';
import { Link } from '../ui/link.tsx';
import { CopyButton, Hash, Time } from '../ui/values.tsx';
import { shortStringOf } from './abi.ts';
import { type ChainHead, type Listed, read } from './chain.ts';
import { Book, type DecodedCall, hex, innerCalls, inUnits, type Token } from './decode.ts';
import { words } from './words.ts';

const BookContext = createContext(new Book({ tokens: [], contracts: [], classes: [] }));

export const BookProvider = ({ book, children }: { book: Book; children: ReactNode }) => (
  <BookContext value={book}>{children}</BookContext>
);

export const useBook = (): Book => useContext(BookContext);

const LIVE_MS = 2_000;

/** Asked again and again, so that every list follows the chain. */
export function useHead(): ChainHead | undefined {
  return useQuery({ queryKey: ['head'], queryFn: () => read<ChainHead>('head'), refetchInterval: LIVE_MS }).data;
}

/** Changes when anything on the chain does. */
export function useChainVersion(): string {
  const head = useHead();
  return head ? `${head.blockNumber}-${head.transactions}-${head.waitingTransactions}` : '';
}

/** Like `useQuery`; read anew, with the old answer in place, when the chain goes on. */
export function useChain<T>(key: readonly (string | number | undefined)[], readIt: () => Promise<T>) {
  const version = useChainVersion();
  return useQuery({
    queryKey: [...key, version],
    queryFn: readIt,
    enabled: version !== '',
    placeholderData: (before, query) => (sameKey(query?.queryKey, key) ? before : undefined),
  });
}

const sameKey = (before: readonly unknown[] | undefined, key: readonly unknown[]) =>
  before !== undefined && key.every((part, index) => before[index] === part);

export function useChainList<T>(path: string) {
  const version = useChainVersion();
  const list = useInfiniteQuery({
    queryKey: [path, version],
    queryFn: ({ pageParam }) =>
      read<Listed<T>>(pageParam ? `${path}${path.includes('?') ? '&' : '?'}cursor=${pageParam}` : path),
    initialPageParam: '',
    getNextPageParam: ({ nextCursor }) => nextCursor ?? undefined,
    placeholderData: keepPreviousData,
    enabled: version !== '',
  });
  return { ...list, rows: list.data?.pages.flatMap(({ data }) => data) };
}

export const isoOf = (seconds: number | bigint): string => new Date(Number(seconds) * 1_000).toISOString();

export const ChainTime = ({ seconds, exact = false }: { seconds: number | bigint; exact?: boolean }) => (
  <Time value={isoOf(seconds)} exact={exact} />
);

/** An account, contract or token: by its name where it has one. */
export function Address({ value, copy = true, full = false }: { value: bigint; copy?: boolean; full?: boolean }) {
  const name = useBook().name(value);
  const text = useWords(words);
  const to = `/account/${hex(value)}`;
  if (full || name === undefined)
    return <Hash value={hex(value)} to={to} copy={copy} full={full} label={text.address} />;
  return (
    <span className="hash">
      <Link to={to} title={hex(value)}>
        {name}
      </Link>
      {copy && <CopyButton value={hex(value)} label={text.address} />}
    </span>
  );
}

export const TxHash = ({ value, copy = true }: { value: string; copy?: boolean }) => {
  const text = useWords(words);
  return <Hash value={value} to={`/tx/${value}`} copy={copy} label={text.hash} />;
};

export const BlockLink = ({ number }: { number: number }) => {
  const format = useNumber();
  return (
    <Link to={`/block/${number}`} className="number">
      {format(number)}
    </Link>
  );
};

export function useNumber(): (value: number | bigint) => string {
  const format = new Intl.NumberFormat(localeOf(useLanguage()));
  return (value) => format.format(value);
}

const DURATIONS = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
] as const;

/** `1 day`, or `+1 day` where it is a shift. */
export function useDuration(isShift = false): (seconds: number | bigint) => string {
  const locale = localeOf(useLanguage());
  return (given) => {
    const seconds = Number(given);
    const [unit, size] = DURATIONS.find(([, length]) => Math.abs(seconds) >= length) ?? (['second', 1] as const);
    return new Intl.NumberFormat(locale, {
      style: 'unit',
      unit,
      unitDisplay: 'long',
      signDisplay: isShift ? 'exceptZero' : 'auto',
      maximumFractionDigits: 1,
    }).format(seconds / size);
  };
}

/** Exact, with the separators of the language. */
export function formatUnits(
  amount: bigint,
  { decimals, symbol }: Pick<Token, 'decimals' | 'symbol'>,
  language: Language,
) {
  const format = new Intl.NumberFormat(localeOf(language), { maximumFractionDigits: 18 });
  return `${format.format(inUnits(amount, decimals) as `${number}`)}\u00a0${symbol}`;
}

export function Amount({ value, token }: { value: bigint; token: Pick<Token, 'decimals' | 'symbol'> }) {
  const language = useLanguage();
  return <span className="number money">{formatUnits(value, token, language)}</span>;
}

export const STRK = { decimals: 18, symbol: 'STRK' };

/** Short on purpose: fees have many digits, the exact one is in the title. */
export function Fee({ fri }: { fri: bigint }) {
  const language = useLanguage();
  const format = new Intl.NumberFormat(localeOf(language), { maximumSignificantDigits: 4 });
  return (
    <span className="number money" title={formatUnits(fri, STRK, language)}>
      {format.format(inUnits(fri, STRK.decimals) as `${number}`)}&nbsp;STRK
    </span>
  );
}

export function FinalityBadge({ status }: { status: string | undefined }) {
  const { finality } = useWords(words);
  const label = (finality as Readonly<Record<string, string>>)[status ?? 'RECEIVED'] ?? status ?? '';
  const isFinal = status?.startsWith('ACCEPTED');
  return <StatusBadge status={status ?? 'RECEIVED'} label={label} tone={isFinal ? 'good' : 'info'} />;
}

export function ExecutionBadge({ status }: { status: string | undefined }) {
  const { executed, finality } = useWords(words);
  if (status === undefined) return <StatusBadge status="WAITING" label={finality.RECEIVED} tone="info" />;
  const isReverted = status === 'REVERTED';
  return (
    <StatusBadge
      status={status}
      label={isReverted ? executed.REVERTED : executed.SUCCEEDED}
      tone={isReverted ? 'bad' : 'good'}
    />
  );
}

/** A felt: as a word where it spells one, as a number where it is small, else as a hash. */
export function Felt({ value }: { value: bigint }) {
  const word = shortStringOf(value);
  if (word !== undefined) {
    return (
      <span className="mono" title={hex(value)}>
        “{word}”
      </span>
    );
  }
  return value < 2n ** 64n ? <span className="mono number">{value.toString()}</span> : <Hash value={hex(value)} />;
}

const nameOf = (book: Book, address: bigint): string => {
  const text = hex(address);
  return book.name(address) ?? (text.length > 12 ? `${text.slice(0, 6)}…${text.slice(-4)}` : text);
};

/** What a transaction does, in a line. */
export function useHeadline(): (calls: readonly DecodedCall[], type: string) => string {
  const { did } = useWords(words);
  const book = useBook();
  const language = useLanguage();
  const one = (call: DecodedCall): string => {
    const token = book.token(call.to);
    const field = (name: string) => {
      const value = call.inputs?.find((input) => input.name === name)?.value;
      return value && 'value' in value && typeof value.value === 'bigint' ? value.value : undefined;
    };
    const amount = field('amount');
    const shown = token && amount !== undefined ? formatUnits(amount, token, language) : undefined;
    const to = field('recipient') ?? field('spender');
    const burnt = book.token(field('burn_token') ?? 0n);
    if (shown && to !== undefined) {
      if (call.name === 'transfer') return did.transfer(shown, nameOf(book, to));
      if (call.name === 'approve') return did.approve(shown, nameOf(book, to));
      if (call.name === 'mint') return did.mint(shown, nameOf(book, to));
    }
    if (call.name?.startsWith('deposit_for_burn') && burnt && amount !== undefined) {
      return did.burn(formatUnits(amount, burnt, language));
    }
    const known: Readonly<Record<string, string>> = {
      deploy_contract: did.deploy,
      deployContract: did.deploy,
      upgrade: did.upgrade,
      add_or_update_session_key: did.session,
      revoke_session_key: did.revoke,
      set_spending_policy: did.policy,
    };
    return known[call.name ?? ''] ?? call.name ?? hex(call.selector);
  };
  return (calls, type) => {
    if (type === 'DEPLOY_ACCOUNT') return did.deploy;
    if (type === 'DECLARE') return did.declare;
    const acts = innerCalls(calls).filter(({ marker }) => marker === undefined);
    // A burn is announced by the permission that it needs.
    const main = acts.find(({ name }) => name?.startsWith('deposit_for_burn')) ?? acts[0];
    if (!main) return did.nothing;
    return acts.length > 1 ? `${one(main)} ${did.more(acts.length - 1)}` : one(main);
  };
}
