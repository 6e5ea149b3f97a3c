import type { ReactNode } from 'react';
import { nameOf } from '../claim/gift.ts';
import type { ValidClaim } from '../claim/screen.ts';
import { formatAmount } from '../language/language.ts';
import { usePage } from './page-context.ts';

interface GiftStepProps {
  readonly claim: ValidClaim;
  readonly onNext: () => void;
}

export function GiftStep({ claim, onNext }: GiftStepProps): ReactNode {
  const { gift } = claim;
  const { texts } = usePage();
  return (
    <>
      <div className="card gift">
        <p className="amount">{formatAmount(gift.amount, gift.token, texts.locale).replace('\u00a0', ' ')}</p>
        <p className="from">{texts.gift.from(nameOf(claim))}</p>
        <p className="name">{gift.name}</p>
      </div>
      <p>{texts.gift.worth}</p>
      <button type="button" className="main" onClick={onNext}>
        {texts.gift.button}
      </button>
      <p className="note">{texts.gift.note}</p>
    </>
  );
}
