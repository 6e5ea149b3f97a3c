import {
  getSolanaTransfer,
  moveToSolana,
  quoteSolanaTransfer,
  type SignedSolanaTransfer,
  type SolanaTransfer,
  type SolanaTransferQuote,
  SvcApiError,
  SvcConnectionError,
  sendSolanaTransfer,
} from '@svc/sdk';
import { type ReactNode, useEffect, useState } from 'react';
import { AddressText } from '../steps/address-field.tsx';
import { CopyButton } from '../steps/copy-button.tsx';
import { useWords } from '../ui/language.ts';
import { Confirm, fromDecimal, Problem, toDecimal, useAmounts, useTask, useWallet } from './context.tsx';
import { useTransfers } from './home.tsx';
import { Form, type Order } from './send.tsx';
import { clientOf, type Opened, payingWallet } from './session.ts';
import { words } from './words.ts';

/** Of this wallet on this device: a signed transfer whose answer was lost is sent again, and moves the money once. */
const storageKey = (id: string) => `svc-solana:${id}`;

export function Solana(): ReactNode {
  const text = useWords(words);
  const { baseUrl, client, session, storage, ends } = useWallet();
  const task = useTask(ends);
  const [draft, setDraft] = useState({ address: '', amount: '' });
  const [quote, setQuote] = useState<SolanaTransferQuote>();
  const [moved, setMoved] = useState<SolanaTransfer>();
  const key = storageKey(session.recipient.id);
  const [unfinished, setUnfinished] = useState(() => readSigned(storage.getItem(key)));
  const done = (transfer?: SolanaTransfer) => {
    storage.removeItem(key);
    setUnfinished(undefined);
    setMoved(transfer);
  };
  const ask = async ({ address: recipient, raw }: Order) => {
    const wallet = { publicKey: session.recipient.walletAddress };
    setQuote(await quoteSolanaTransfer(client, { wallet, recipient, amount: toDecimal(raw) }));
  };
  const move = async ({ session: fresh, encryptKey }: Opened) => {
    if (!quote) return;
    const own = clientOf(baseUrl, fresh);
    const wallet = await payingWallet(own, { session: fresh, encryptKey });
    const { recipient, amount, maxFee, fast } = quote;
    const onSigned = (signed: SignedSolanaTransfer) => storage.setItem(key, JSON.stringify(signed));
    try {
      done(await moveToSolana(own, { encryptKey, wallet, recipient, amount, maxFee, fast, onSigned }));
    } catch (error) {
      const signed = readSigned(storage.getItem(key));
      if (signed && isUnclear(error)) return setUnfinished(signed);
      storage.removeItem(key);
      throw error;
    }
  };
  const sendAgain = async () => {
    if (!unfinished) return;
    try {
      done(await sendSolanaTransfer(client, unfinished));
    } catch (error) {
      // Nothing was moved, and nothing will be.
      if (error instanceof SvcApiError && !isUnclear(error) && error.status !== 401) done();
      throw error;
    }
  };
  if (moved) return <Progress key={moved.id} first={moved} />;
  if (unfinished) {
    return (
      <>
        <p>{text.solanaUnfinished}</p>
        <Problem text={task.error} />
        <button type="button" className="main" disabled={task.isBusy} onClick={() => void task.run(sendAgain)}>
          {task.isBusy ? text.working : text.solanaGoOn}
        </button>
      </>
    );
  }
  if (!quote) {
    return (
      <>
        <p>{text.solanaBody}</p>
        <Form chain="solana" draft={draft} onDraft={setDraft} task={task} onNext={ask} />
        <UnderWay onChoose={setMoved} />
      </>
    );
  }
  return (
    <>
      <h2>{text.check}</h2>
      <Summary quote={quote} />
      <p>{text.solanaWarning}</p>
      <Confirm label={text.solanaConfirm} task={task} onOpened={move} />
      <button type="button" className="quiet" disabled={task.isBusy} onClick={() => setQuote(undefined)}>
        {text.change}
      </button>
    </>
  );
}

/** The answer was lost, perhaps not the money. */
const isUnclear = (error: unknown): boolean =>
  error instanceof SvcConnectionError ||
  (error instanceof SvcApiError && (error.status >= 500 || error.status === 429));

function readSigned(saved: string | null): SignedSolanaTransfer | undefined {
  try {
    const signed = JSON.parse(saved ?? 'null') as SignedSolanaTransfer | null;
    return signed?.version === 1 ? signed : undefined;
  } catch {
    return undefined;
  }
}

function Summary({ quote }: { readonly quote: SolanaTransferQuote }): ReactNode {
  const text = useWords(words);
  const { usdc } = useAmounts();
  const shown = (amount: string) => usdc(fromDecimal(amount) ?? 0n);
  return (
    <dl className="card">
      <dt>{text.youMove}</dt>
      <dd>{shown(quote.amount)}</dd>
      <dt>{text.bridgeFee}</dt>
      <dd>
        {shown(quote.fee)} <span className="note">{text.atMost(shown(quote.maxFee))}</span>
      </dd>
      <dt>{text.arrives}</dt>
      <dd>
        <strong>{shown(quote.arrives)}</strong>
      </dd>
      <dt>{text.recipient}</dt>
      <dd>
        <AddressText text={quote.recipient} />
      </dd>
    </dl>
  );
}

/** What began in another tab or on another device. */
function UnderWay({ onChoose }: { readonly onChoose: (transfer: SolanaTransfer) => void }): ReactNode {
  const text = useWords(words);
  const { usdc, day } = useAmounts();
  const open = useTransfers()?.filter(({ status }) => status !== 'SUCCESS' && status !== 'FAILED');
  if (!open?.length) return null;
  return (
    <section>
      <h2>{text.onTheWay}</h2>
      <div className="choices">
        {open.map((transfer) => (
          <button key={transfer.id} type="button" className="choice" onClick={() => onChoose(transfer)}>
            <strong>{usdc(fromDecimal(transfer.amount) ?? 0n)}</strong>
            <span>{`${day(transfer.createdAt)} · ${text[transfer.status]}`}</span>
          </button>
        ))}
      </div>
    </section>
  );
}

const POLL_MS = 2_000;

function Progress({ first }: { readonly first: SolanaTransfer }): ReactNode {
  const text = useWords(words);
  const { client, ends } = useWallet();
  const { usdc } = useAmounts();
  const [transfer, setTransfer] = useState(first);
  const { id, status } = transfer;
  useEffect(() => {
    if (status === 'SUCCESS' || status === 'FAILED') return;
    const read = () => void getSolanaTransfer(client, { id }).then(setTransfer, ends);
    const timer = setInterval(() => document.visibilityState === 'visible' && read(), POLL_MS);
    return () => clearInterval(timer);
  }, [client, id, status, ends]);
  const amount = usdc(fromDecimal(transfer.received ?? transfer.amount) ?? 0n);
  return (
    <>
      {status === 'SUCCESS' ? (
        <div className="tick" aria-hidden="true">
          ✓
        </div>
      ) : (
        status !== 'FAILED' && status !== 'STUCK' && <div className="wheel" aria-hidden="true" />
      )}
      <h2>{text.solanaStates[status]}</h2>
      <p role="status" data-transfer={status}>
        {text.solanaBodies[status](amount)}
      </p>
      <dl className="card">
        <dt>{text.recipient}</dt>
        <dd>
          <AddressText text={transfer.recipient} />
        </dd>
        {transfer.receiveChainTxHash && (
          <>
            <dt>{text.solanaReceipt}</dt>
            <dd>
              <code className="address">{transfer.receiveChainTxHash}</code>
            </dd>
          </>
        )}
        {status === 'STUCK' && (
          <>
            <dt>{text.transferNumber}</dt>
            <dd>
              <code className="address">{id}</code>
            </dd>
          </>
        )}
      </dl>
      {status === 'STUCK' && <CopyButton text={id} label={text.copyNumber} />}
    </>
  );
}
