import {
  type CachedWallet,
  skipToken,
  useClaim,
  useCreateGift,
  usePurchase,
  usePurchaseSku,
  useReceipt,
  useRedeemGift,
  useSkus,
  useTransfer,
} from '@svc/react';
import { SvcApiError, SvcConnectionError, SvcError } from '@svc/sdk';
import { type FormEvent, useState } from 'react';
import { newCode } from './backend.ts';

export function Notice({ error, children }: { error?: Error | null; children?: string | undefined }) {
  if (error)
    return (
      <p role="alert" className="wrong">
        {error.message}
      </p>
    );
  return children ? (
    <p role="status" className="good">
      {children}
    </p>
  ) : null;
}

interface CardProps {
  readonly wallet: CachedWallet;
}

/** The fields of a form, by name. */
function read(event: FormEvent<HTMLFormElement>): Record<string, string> {
  event.preventDefault();
  const entries = [...new FormData(event.currentTarget)];
  return Object.fromEntries(entries.map(([name, value]) => [name, String(value).trim()]));
}

/** Without an answer, or after a 5xx, the transfer may have been made. */
const isUnclear = (error: unknown) =>
  error instanceof SvcApiError
    ? error.status >= 500
    : !(error instanceof SvcError) || error instanceof SvcConnectionError;

export function Send({ wallet }: CardProps) {
  const transfer = useTransfer();
  const receipt = useReceipt(transfer.data ? { hash: transfer.data } : skipToken);
  const isBusy = transfer.isPending || (transfer.isSuccess && receipt.isPending);
  return (
    <section className="card">
      <h2>Send</h2>
      <form
        onSubmit={(event) => {
          const { amount = '', recipient = '' } = read(event);
          const form = event.currentTarget;
          transfer.mutate({ wallet, amount, token: 'USDC', recipient }, { onSuccess: () => form.reset() });
        }}
      >
        <label>
          Amount in USDC
          <input name="amount" required inputMode="decimal" pattern="\d+(\.\d{1,6})?" placeholder="0.00" />
        </label>
        <label>
          To address
          <input name="recipient" required pattern="0x[0-9a-fA-F]{1,64}" placeholder="0x…" />
        </label>
        <button type="submit" className="main" disabled={isBusy}>
          {isBusy ? 'Sending…' : 'Send'}
        </button>
      </form>
      {transfer.error && isUnclear(transfer.error) ? (
        <p className="wrong">It may have been sent. Look at Activity first.</p>
      ) : (
        <Notice error={transfer.error}>
          {receipt.data && (receipt.data.success ? 'Sent.' : 'It did not go through.')}
        </Notice>
      )}
    </section>
  );
}

export function Buy({ wallet }: CardProps) {
  const skus = useSkus({ category: 'RECARGAS', limit: 100 });
  const buy = usePurchaseSku();
  const purchase = usePurchase(buy.data ? { id: buy.data.id } : skipToken);
  const offers = skus.data?.items.filter(({ fixedAmount }) => fixedAmount !== undefined) ?? [];
  return (
    <section className="card">
      <h2>Top up a phone</h2>
      <form
        onSubmit={(event) => {
          const { skuId = '', skuReference = '' } = read(event);
          // `resume` continues what an error interrupted: nothing is paid twice.
          buy.mutate({
            wallet,
            skuId,
            skuReference,
            onProgress: (state) => sessionStorage.setItem('purchase', JSON.stringify(state)),
          });
        }}
      >
        <label>
          Service
          <select name="skuId">
            {offers.map(({ id, name }) => (
              <option key={id} value={id}>
                {name}
              </option>
            ))}
          </select>
        </label>
        <label>
          Phone number
          <input name="skuReference" required inputMode="numeric" pattern="[2-9]\d{9}" placeholder="5512345678" />
        </label>
        <button type="submit" className="main" disabled={buy.isPending || offers.length === 0}>
          {buy.isPending ? 'Paying…' : 'Buy'}
        </button>
      </form>
      <Notice error={buy.error ?? skus.error}>
        {purchase.data &&
          (purchase.data.status === 'SUCCESS'
            ? `Delivered: ${purchase.data.skuFileNumber}`
            : `Paid, ${purchase.data.status.toLowerCase()}…`)}
      </Notice>
    </section>
  );
}

/** In your app gifts are made on your server, or with a daily limit; anyone can claim them. */
export function Gift({ wallet }: CardProps) {
  const [code, setCode] = useState('');
  const [create, redeem] = [useCreateGift(), useRedeemGift()];
  const claim = useClaim(code.length >= 4 ? { code } : skipToken);
  const give = () => {
    const once = { maxRedeems: 1, maxRedeemsPerUser: 1, isActive: true, startsAt: new Date(0).toISOString() };
    create.mutate(
      { ...once, code: newCode(), name: 'A present', amount: '2' },
      { onSuccess: (gift) => setCode(gift.code) },
    );
  };
  const take = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    redeem.mutate({ code, walletAddress: wallet.publicKey, chain: 'starknet' });
  };
  return (
    <section className="card">
      <h2>Gifts</h2>
      <form onSubmit={take}>
        <label>
          Code
          <input required value={code} onChange={({ target }) => setCode(target.value.trim())} />
        </label>
        {claim.data && !redeem.data && (
          <p className="hint">
            {claim.data.valid ? `${claim.data.gift.amount} USDC from ${claim.data.orgName}` : claim.data.reason}
          </p>
        )}
        <div className="row">
          <button type="submit" className="main" disabled={!claim.data?.valid || redeem.isPending}>
            {redeem.isPending ? 'On its way…' : 'Claim'}
          </button>
          <button type="button" disabled={create.isPending} onClick={give}>
            Create a gift of 2 USDC
          </button>
        </div>
      </form>
      <Notice error={redeem.error ?? create.error}>{redeem.data && 'It is yours.'}</Notice>
    </section>
  );
}
