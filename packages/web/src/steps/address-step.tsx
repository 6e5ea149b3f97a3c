import type { RedeemChain } from '@svc/protocol';
import { type FormEvent, type ReactNode, useRef, useState } from 'react';
import { checkAddress, cleanAddress } from '../claim/address.ts';
import { Scanner } from '../scan/scanner.tsx';
import { AddressFeedback, AddressField } from './address-field.tsx';
import { Help } from './help.tsx';
import { usePage } from './page-context.ts';

interface AddressStepProps {
  readonly chain: RedeemChain;
  readonly text: string;
  readonly onText: (text: string) => void;
  readonly onChain: (chain: RedeemChain, text: string) => void;
  readonly onNext: (address: string) => void;
  readonly onBack: () => void;
}

export function AddressStep({ chain, text, onText, onChain, onNext, onBack }: AddressStepProps): ReactNode {
  const { texts } = usePage();
  const [isScanning, setScanning] = useState(false);
  const [isPressed, setPressed] = useState(false);
  const [pasteFailed, setPasteFailed] = useState(false);
  const field = useRef<HTMLTextAreaElement>(null);
  const check = checkAddress(text, chain);
  const take = (found: string) => {
    setScanning(false);
    onText(cleanAddress(found));
    field.current?.focus();
  };
  const paste = async () => {
    const found = await navigator.clipboard?.readText?.().catch(() => undefined);
    setPasteFailed(found === undefined);
    if (found === undefined) field.current?.focus();
    else take(found);
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setPressed(true);
    if (check.state === 'right') onNext(check.address);
    else field.current?.focus();
  };
  return (
    <form onSubmit={submit} noValidate>
      <AddressField
        chain={chain}
        text={text}
        field={field}
        isWrong={isPressed && check.state !== 'right'}
        onText={onText}
      />
      <AddressFeedback check={check} chain={chain} isPressed={isPressed} onChain={(other) => onChain(other, text)} />
      <p className="feedback" role="status">
        {pasteFailed ? texts.address.pasteFailed : ''}
      </p>
      <div className="row">
        <button type="button" onClick={() => void paste()}>
          {texts.address.paste}
        </button>
        <button type="button" aria-expanded={isScanning} onClick={() => setScanning(!isScanning)}>
          {texts.address.scan}
        </button>
      </div>
      {isScanning && <Scanner onText={take} onClose={() => setScanning(false)} />}
      <button type="submit" className="main">
        {texts.continue}
      </button>
      <Help title={texts.address.helpTitle} lines={texts.address.help} />
      <button type="button" className="quiet" onClick={onBack}>
        {texts.back}
      </button>
    </form>
  );
}
