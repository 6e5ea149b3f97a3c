import {
  getTokenBalance,
  getTransactionList,
  listSolanaTransfers,
  type SolanaTransfer,
  type Transaction,
} from '@svc/sdk';
import { ArrowDownLeft, ArrowRightLeft, ArrowUpRight, ShoppingBag } from 'lucide-react';
import { type ReactNode, useCallback, useEffect, useState } from 'react';
import { AddressText } from '../steps/address-field.tsx';
import { CopyButton } from '../steps/copy-button.tsx';
import { useWords } from '../ui/language.ts';
import { QrCode } from '../ui/qr-code.tsx';
import { fromDecimal, useAmounts, useWallet } from './context.tsx';
import { errorName, words } from './words.ts';

const REFRESH_MS = 5_000;
const SHOWN = 20;

export interface Balance {
  readonly raw: bigint | undefined;
  readonly problem: ReturnType<typeof errorName> | undefined;
  readonly refresh: () => void;
}

/** Read again every few seconds while the page is visible. */
export function useBalance(): Balance {
  const { client, session, ends } = useWallet();
  const [raw, setRaw] = useState<bigint>();
  const [problem, setProblem] = useState<ReturnType<typeof errorName>>();
  const refresh = useCallback(() => {
    getTokenBalance(client, { chain: 'STARKNET', chainToken: 'USDC', externalUserId: session.recipient.id }).then(
      ({ balance }) => {
        setRaw(BigInt(balance));
        setProblem(undefined);
      },
      (error: unknown) => {
        if (!ends(error)) setProblem(errorName(error));
      },
    );
  }, [client, session.recipient.id, ends]);
  useEffect(() => {
    refresh();
    const timer = setInterval(() => document.visibilityState === 'visible' && refresh(), REFRESH_MS);
    return () => clearInterval(timer);
  }, [refresh]);
  return { raw, problem, refresh };
}

export function Home(): ReactNode {
  const text = useWords(words);
  const { session, show } = useWallet();
  const { raw, problem } = useBalance();
  const { usdc, pesos } = useAmounts();
  const { mxnPerUsd, passkeys, hasRecoveryCode } = session.recipient;
  return (
    <>
      <section className="card gift" aria-label={text.balance}>
        <p className="amount" data-balance={raw?.toString() ?? ''}>
          {raw === undefined ? text.loading : usdc(raw).replace('\u00a0', ' ')}
        </p>
        {raw !== undefined && mxnPerUsd !== null && <p className="pesos">{text.about(pesos(raw, mxnPerUsd))}</p>}
      </section>
      <p className="feedback wrong" role="status">
        {problem ? text.errors[problem] : ''}
      </p>
      <nav className="actions" aria-label={text.title}>
        <button type="button" onClick={() => show('receive')}>
          <ArrowDownLeft aria-hidden />
          {text.receive}
        </button>
        <button type="button" onClick={() => show('send')}>
          <ArrowUpRight aria-hidden />
          {text.send}
        </button>
        <button type="button" onClick={() => show('solana')}>
          <ArrowRightLeft aria-hidden />
          {text.solana}
        </button>
        <button type="button" onClick={() => show('buy')}>
          <ShoppingBag aria-hidden />
          {text.buy}
        </button>
      </nav>
      {passkeys < 2 && !hasRecoveryCode && (
        <aside className="card nag">
          <p>{text.backUpNow}</p>
          <button type="button" onClick={() => show('more')}>
            {text.backUpButton}
          </button>
        </aside>
      )}
      <History />
      <button type="button" className="quiet" onClick={() => show('more')}>
        {text.more}
      </button>
    </>
  );
}

function History(): ReactNode {
  const text = useWords(words);
  const { client, session, ends } = useWallet();
  const [items, setItems] = useState<readonly Transaction[]>();
  const transfers = useTransfers();
  useEffect(() => {
    const read = () =>
      void getTransactionList(client, { walletAddress: session.recipient.walletAddress, limit: SHOWN }).then(
        (found) => setItems(withoutPayments(found.items)),
        ends,
      );
    read();
    const timer = setInterval(() => document.visibilityState === 'visible' && read(), REFRESH_MS);
    return () => clearInterval(timer);
  }, [client, session.recipient.walletAddress, ends]);
  return (
    <section>
      <h2>{text.history}</h2>
      {items?.length === 0 && <p className="note">{text.noHistory}</p>}
      <ul className="history">
        {items &&
          inOrder(items, transfers).map((item) =>
            'recipient' in item ? <Moved key={item.id} transfer={item} /> : <Entry key={item.id} item={item} />,
          )}
      </ul>
    </section>
  );
}

/** A transfer to Solana is one thing for its owner, and two calls on the chain. */
function inOrder(
  items: readonly Transaction[],
  transfers: readonly SolanaTransfer[] = [],
): readonly (Transaction | SolanaTransfer)[] {
  const burns = new Set(transfers.map(({ transactionHash }) => transactionHash));
  const others = items.filter(({ type, transactionHash }) => type !== 'CONTRACT_CALL' || !burns.has(transactionHash));
  return [...others, ...transfers]
    .toSorted((one, other) => other.createdAt.localeCompare(one.createdAt))
    .slice(0, SHOWN);
}

/** Of this wallet, newest first; read again every few seconds while the page is visible. */
export function useTransfers(): readonly SolanaTransfer[] | undefined {
  const { client, session, ends } = useWallet();
  const [transfers, setTransfers] = useState<readonly SolanaTransfer[]>();
  useEffect(() => {
    const read = () =>
      void listSolanaTransfers(client, { walletAddress: session.recipient.walletAddress, limit: SHOWN }).then(
        ({ items }) => setTransfers(items),
        ends,
      );
    read();
    const timer = setInterval(() => document.visibilityState === 'visible' && read(), REFRESH_MS);
    return () => clearInterval(timer);
  }, [client, session.recipient.walletAddress, ends]);
  return transfers;
}

function Moved({ transfer }: { readonly transfer: SolanaTransfer }): ReactNode {
  const text = useWords(words);
  const { usdc, day } = useAmounts();
  return (
    <li>
      <span>
        <strong>{text.moved}</strong>
        <span className="note">
          {day(transfer.createdAt)}
          {transfer.status !== 'SUCCESS' && ` · ${text[transfer.status]}`}
        </span>
      </span>
      {transfer.status !== 'FAILED' && <span className="number">−{usdc(fromDecimal(transfer.amount) ?? 0n)}</span>}
    </li>
  );
}

/** A purchase and its payment are one thing for the buyer. */
function withoutPayments(items: readonly Transaction[]): Transaction[] {
  const bought = new Set(items.filter(({ type }) => type === 'SKU_PURCHASE').map((item) => item.transactionHash));
  return items.filter(({ type, transactionHash }) => type !== 'SEND' || !bought.has(transactionHash));
}

function Entry({ item }: { readonly item: Transaction }): ReactNode {
  const text = useWords(words);
  const { usdc, day } = useAmounts();
  const kinds: Partial<Record<string, string>> = { SEND: text.sent, RECEIVE: text.received, SKU_PURCHASE: text.bought };
  const isIn = item.type === 'RECEIVE';
  const hasAmount = item.amount !== undefined && item.token === 'USDC';
  return (
    <li>
      <span>
        <strong>{kinds[item.type ?? ''] ?? text.other}</strong>
        {item.skuReference !== undefined && <span> {item.skuReference}</span>}
        <span className="note">
          {day(item.createdAt)}
          {item.status !== 'SUCCESS' && ` · ${text[item.status]}`}
        </span>
      </span>
      {hasAmount && (
        <span className={isIn ? 'number right' : 'number'}>
          {isIn ? '+' : '−'}
          {usdc(BigInt(item.amount ?? 0))}
        </span>
      )}
    </li>
  );
}

export function Receive(): ReactNode {
  const text = useWords(words);
  const { walletAddress } = useWallet().session.recipient;
  return (
    <>
      <p>{text.receiveBody}</p>
      <div className="card center">
        <QrCode value={walletAddress} size={240} label={text.address} />
        <AddressText text={walletAddress} />
      </div>
      <CopyButton text={walletAddress} label={text.copy} />
    </>
  );
}
