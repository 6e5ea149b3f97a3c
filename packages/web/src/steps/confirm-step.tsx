import type { RedeemChain } from '@svc/protocol';
import { type ReactNode, useRef } from 'react';
import { chainNames, type ValidClaim } from '../claim/screen.ts';
import { formatAmount } from '../language/language.ts';
import { AddressText } from './address-field.tsx';
import { usePage } from './page-context.ts';

interface ConfirmStepProps {
  readonly claim: ValidClaim;
  readonly chain: RedeemChain;
  readonly address: string;
  readonly onSend: () => void;
  readonly onBack: () => void;
}

export function ConfirmStep({ claim: { gift }, chain, address, onSend, onBack }: ConfirmStepProps): ReactNode {
  const { texts } = usePage();
  const isSent = useRef(false);
  const send = () => {
    if (isSent.current) return;
    isSent.current = true;
    onSend();
  };
  return (
    <>
      <dl className="card">
        <dt>{texts.confirm.amount}</dt>
        <dd>{formatAmount(gift.amount, gift.token, texts.locale)}</dd>
        <dt>{texts.confirm.network}</dt>
        <dd>{chainNames[chain]}</dd>
        <dt>{texts.confirm.address}</dt>
        <dd>
          <AddressText text={address} />
        </dd>
      </dl>
      <p>{texts.confirm.warning}</p>
      <button type="button" className="main" onClick={send}>
        {texts.confirm.button}
      </button>
      <button type="button" className="quiet" onClick={onBack}>
        {texts.confirm.change}
      </button>
    </>
  );
}
