import type { ReactNode } from 'react';
import { explorerLink } from '../claim/gift.ts';
import type { SavedRedeem } from '../claim/saved-redeem.ts';
import { chainNames } from '../claim/screen.ts';
import { formatAmount } from '../language/language.ts';
import { AddressText } from './address-field.tsx';
import { CopyButton } from './copy-button.tsx';
import { usePage } from './page-context.ts';

interface DoneStepProps {
  readonly redeem: SavedRedeem;
  readonly onAgain: () => void;
}

export function DoneStep({ redeem, onAgain }: DoneStepProps): ReactNode {
  const { texts, explorers } = usePage();
  const { chain, walletAddress, amount, token, hash } = redeem;
  const link = hash === undefined ? undefined : explorerLink(explorers, chain, hash);
  return (
    <>
      <div className="tick" aria-hidden="true">
        ✓
      </div>
      <p>{texts.done.body(formatAmount(amount, token, texts.locale), chainNames[chain])}</p>
      <dl className="card">
        <dt>{texts.done.wallet}</dt>
        <dd>
          <AddressText text={walletAddress} />
        </dd>
        {hash !== undefined && (
          <>
            <dt>{texts.done.proof}</dt>
            <dd>
              <AddressText text={hash} />
            </dd>
          </>
        )}
      </dl>
      {link !== undefined && (
        <p>
          <a href={link} target="_blank" rel="noreferrer noopener">
            {texts.done.open} <span className="hidden">{texts.done.newTab}</span>
          </a>
        </p>
      )}
      {hash !== undefined && <CopyButton text={hash} />}
      <button type="button" className="quiet" onClick={onAgain}>
        {texts.done.again}
      </button>
    </>
  );
}
