import {
  getUsdAmount,
  listSkus,
  type PurchaseState,
  purchaseSku,
  type Sku,
  type Transaction,
  waitForPurchase,
} from '@svc/sdk';
import { type FormEvent, type ReactNode, useEffect, useState } from 'react';
import { useWords } from '../ui/language.ts';
import { Confirm, useAmounts, useTask, useWallet } from './context.tsx';
import { clientOf, type Opened, payingWallet } from './session.ts';
import { words } from './words.ts';

interface Order {
  readonly sku: Sku;
  readonly reference: string;
  readonly amount: number;
}

/** Of this wallet on this device: an interrupted purchase goes on with it and never pays twice. */
const storageKey = (id: string) => `svc-purchase:${id}`;
const PAGE = 100;

export function Buy(): ReactNode {
  const text = useWords(words);
  const { baseUrl, session, storage, ends } = useWallet();
  const task = useTask(ends);
  const [order, setOrder] = useState<Order>();
  const [purchase, setPurchase] = useState<Transaction>();
  const key = storageKey(session.recipient.id);
  const [unfinished, setUnfinished] = useState(() => readState(storage.getItem(key)));
  const buy = async ({ session: fresh, encryptKey }: Opened, resume?: PurchaseState) => {
    const client = clientOf(baseUrl, fresh);
    const wallet = await payingWallet(client, { session: fresh, encryptKey });
    const asked = resume
      ? { skuId: resume.purchase.skuId, skuReference: resume.purchase.skuReference }
      : { skuId: order?.sku.id ?? '', skuReference: order?.reference ?? '', currencyAmount: order?.amount };
    const made = await purchaseSku(client, {
      ...{ encryptKey, wallet, resume, ...asked },
      onProgress: (state) => storage.setItem(key, JSON.stringify(state)),
    });
    storage.removeItem(key);
    setUnfinished(undefined);
    setPurchase(made);
    setPurchase(await waitForPurchase(client, { id: made.id, retryIntervalMs: 1_000 }));
  };
  if (purchase) return <Bought purchase={purchase} />;
  if (unfinished) {
    return (
      <>
        <p>{text.unfinished}</p>
        <Confirm label={text.goOn} task={task} onOpened={(opened) => buy(opened, unfinished)} />
      </>
    );
  }
  if (!order) return <Choose onOrder={setOrder} />;
  return (
    <>
      <h2>{text.check}</h2>
      <Summary order={order} />
      <p>{text.warning}</p>
      <Confirm label={text.buyConfirm} task={task} onOpened={(opened) => buy(opened)} />
      <button type="button" className="quiet" disabled={task.isBusy} onClick={() => setOrder(undefined)}>
        {text.change}
      </button>
    </>
  );
}

function readState(saved: string | null): PurchaseState | undefined {
  try {
    const state = JSON.parse(saved ?? 'null') as PurchaseState | null;
    return state?.version === 1 ? state : undefined;
  } catch {
    return undefined;
  }
}

function Summary({ order: { sku, reference, amount } }: { readonly order: Order }): ReactNode {
  const text = useWords(words);
  const { client } = useWallet();
  const { usdc } = useAmounts();
  const [price, setPrice] = useState<number>();
  useEffect(() => {
    getUsdAmount(client, { currencyAmount: amount, currency: sku.currency }).then(setPrice, () => undefined);
  }, [client, amount, sku.currency]);
  return (
    <dl className="card">
      <dt>{text.buyTitle}</dt>
      <dd>{sku.name}</dd>
      <dt>{sku.referenceLabel}</dt>
      <dd>{reference}</dd>
      <dt>{text.price}</dt>
      <dd>
        {`$${amount} ${sku.currency}`}
        {price !== undefined && ` (${usdc(BigInt(Math.ceil(price * 1e6)))})`}
      </dd>
    </dl>
  );
}

function Choose({ onOrder }: { readonly onOrder: (order: Order) => void }): ReactNode {
  const text = useWords(words);
  const { client, ends } = useWallet();
  const [skus, setSkus] = useState<readonly Sku[]>();
  const [sku, setSku] = useState<Sku>();
  const [search, setSearch] = useState('');
  useEffect(() => {
    void listSkus(client, { limit: PAGE }).then(({ items }) => setSkus(items), ends);
  }, [client, ends]);
  if (sku) return <Details sku={sku} onOrder={onOrder} onBack={() => setSku(undefined)} />;
  const wanted = search.trim().toLowerCase();
  const shown = skus?.filter(({ name, category }) => `${name} ${category}`.toLowerCase().includes(wanted));
  return (
    <>
      <label htmlFor="search">{text.services}</label>
      <input
        id="search"
        type="search"
        value={search}
        placeholder={text.search}
        onChange={(event) => setSearch(event.target.value)}
      />
      {skus === undefined && <div className="wheel" aria-hidden="true" />}
      {shown?.length === 0 && <p className="note">{text.noServices}</p>}
      <div className="choices spaced">
        {shown?.map((each) => (
          <button key={each.id} type="button" className="choice" onClick={() => setSku(each)}>
            <strong>{each.name}</strong>
            <span>{each.fixedAmount === undefined ? each.amountLabel : `$${each.fixedAmount} ${each.currency}`}</span>
          </button>
        ))}
      </div>
    </>
  );
}

interface DetailsProps {
  readonly sku: Sku;
  readonly onOrder: (order: Order) => void;
  readonly onBack: () => void;
}

function Details({ sku, onOrder, onBack }: DetailsProps): ReactNode {
  const text = useWords(words);
  const [reference, setReference] = useState('');
  const [amount, setAmount] = useState(String(sku.fixedAmount ?? ''));
  const [problem, setProblem] = useState<'invalid_reference' | 'invalid_amount'>();
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const value = Number(amount.replace(',', '.'));
    if (!fits(sku.referenceRegexValidation, reference.trim())) return setProblem('invalid_reference');
    if (!(value > 0) || !fits(sku.amountRegexValidation, amount.trim())) return setProblem('invalid_amount');
    onOrder({ sku, reference: reference.trim(), amount: value });
  };
  return (
    <form onSubmit={submit} noValidate>
      <h2>{sku.name}</h2>
      <label htmlFor="reference">{sku.referenceLabel}</label>
      <input
        id="reference"
        value={reference}
        onChange={(event) => setReference(event.target.value)}
        autoComplete="off"
        maxLength={128}
        aria-invalid={problem === 'invalid_reference'}
      />
      {sku.fixedAmount === undefined && (
        <>
          <label htmlFor="price" className="spaced">
            {sku.amountLabel} ({sku.currency})
          </label>
          <input
            id="price"
            inputMode="decimal"
            value={amount}
            onChange={(event) => setAmount(event.target.value)}
            aria-invalid={problem === 'invalid_amount'}
          />
        </>
      )}
      <p className="feedback wrong" role="status">
        {problem ? text.errors[problem] : ''}
      </p>
      <button type="submit" className="main">
        {text.continue}
      </button>
      <button type="button" className="quiet" onClick={onBack}>
        {text.back}
      </button>
    </form>
  );
}

/** A first look: the service checks it on an engine that no pattern can stall. Longer patterns are left to it. */
function fits(pattern: string, value: string): boolean {
  try {
    return value !== '' && (pattern.length > 64 || new RegExp(pattern).test(value));
  } catch {
    return true;
  }
}

function Bought({ purchase }: { readonly purchase: Transaction }): ReactNode {
  const text = useWords(words);
  const { status, skuFileNumber } = purchase;
  if (status === 'FAILED' || status === 'CANCELLED') return <p role="status">{text.buyFailed}</p>;
  if (status !== 'SUCCESS') {
    return (
      <>
        <div className="wheel" aria-hidden="true" />
        <p role="status">{text.buying}</p>
      </>
    );
  }
  return (
    <>
      <div className="tick" aria-hidden="true">
        ✓
      </div>
      <h2>{text.boughtTitle}</h2>
      <dl className="card">
        <dt>{text.fileNumber}</dt>
        <dd>{skuFileNumber}</dd>
      </dl>
    </>
  );
}
