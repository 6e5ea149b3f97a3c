import { lazy, type ReactNode, Suspense } from 'react';
import type { SavedWallet } from '../claim/saved-wallet.ts';
import { formatAmount } from '../language/language.ts';
import { AddressText } from './address-field.tsx';
import type { NewWalletProps } from './new-wallet-step.tsx';
import { usePage } from './page-context.ts';

/** A chunk of its own: keys and their encryption are larger than the page. */
const Lazy = lazy(async () => ({ default: (await import('./new-wallet-step.tsx')).NewWalletStep }));

export const NewWallet = (props: NewWalletProps): ReactNode => (
  <Suspense fallback={<div className="wheel" aria-hidden="true" />}>
    <Lazy {...props} />
  </Suspense>
);

export function MakingStep(): ReactNode {
  const { texts } = usePage();
  return (
    <>
      <div className="wheel" aria-hidden="true" />
      <p>{texts.making.body}</p>
      <p className="note">{texts.sending.keep}</p>
    </>
  );
}

export function WalletDoneStep({ wallet }: { readonly wallet: SavedWallet }): ReactNode {
  const { texts } = usePage();
  const { amount, token, draft } = wallet;
  return (
    <>
      <div className="tick" aria-hidden="true">
        ✓
      </div>
      <p>{texts.walletDone.body(formatAmount(amount, token, texts.locale))}</p>
      <a className="button main" href="../wallet">
        {texts.walletDone.open}
      </a>
      <dl className="card">
        <dt>{texts.done.wallet}</dt>
        <dd>
          <AddressText text={draft.publicKey} />
        </dd>
      </dl>
      <p className="note">{texts.walletDone.note}</p>
    </>
  );
}
