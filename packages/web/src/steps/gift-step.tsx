import type { ReactNode } from 'react';
import { nameOf } from '../claim/gift.ts';
import type { ValidClaim } from '../claim/screen.ts';
import { formatAmount, formatDay, formatPesos } from '../language/language.ts';
import { isOffered } from './chain-step.tsx';
import { usePage } from './page-context.ts';

interface GiftStepProps {
  readonly claim: ValidClaim;
  readonly onNext: () => void;
}

export function GiftStep({ claim, onNext }: GiftStepProps): ReactNode {
  const { gift, wallet, expiresAt } = claim;
  const { texts } = usePage();
  return (
    <>
      <div className="card gift">
        <p className="amount">{formatAmount(gift.amount, gift.token, texts.locale).replace('\u00a0', ' ')}</p>
        {gift.amountMxn !== undefined && (
          <p className="pesos">{texts.gift.pesos(formatPesos(gift.amountMxn, texts.locale))}</p>
        )}
        <p className="from">{texts.gift.from(nameOf(claim))}</p>
        <p className="name">{gift.name}</p>
        {expiresAt && <p className="until">{texts.gift.until(formatDay(expiresAt, texts.locale))}</p>}
      </div>
      <p>{texts.gift.worth}</p>
      <button type="button" className="main" onClick={onNext}>
        {texts.gift.button}
      </button>
      <p className="note">{isOffered(wallet) ? texts.gift.noteNoApp : texts.gift.note}</p>
    </>
  );
}
