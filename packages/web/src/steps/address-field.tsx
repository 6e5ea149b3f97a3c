import type { RedeemChain } from '@svc/protocol';
import type { KeyboardEvent, ReactNode, Ref } from 'react';
import type { AddressCheck } from '../claim/address.ts';
import { chainNames } from '../claim/screen.ts';
import type { Texts } from '../language/texts.ts';
import { usePage } from './page-context.ts';

interface AddressFieldProps {
  readonly chain: RedeemChain;
  readonly text: string;
  readonly field: Ref<HTMLTextAreaElement>;
  readonly isWrong: boolean;
  readonly onText: (text: string) => void;
}

/** Three rows, so that the whole address is visible. */
export function AddressField({ chain, text, field, isWrong, onText }: AddressFieldProps): ReactNode {
  const { texts } = usePage();
  return (
    <>
      <label htmlFor="address">{texts.address.label(chainNames[chain])}</label>
      <textarea
        id="address"
        ref={field}
        rows={3}
        value={text}
        onChange={(event) => onText(event.target.value)}
        onKeyDown={submitOnEnter}
        autoComplete="off"
        autoCapitalize="none"
        autoCorrect="off"
        spellCheck={false}
        maxLength={200}
        aria-invalid={isWrong}
        aria-describedby="address-hint address-feedback"
      />
      <p id="address-hint" className="note">
        {texts.address.hint[chain]}
      </p>
    </>
  );
}

/** An address has one line: Enter submits. */
function submitOnEnter(event: KeyboardEvent<HTMLTextAreaElement>): void {
  if (event.key !== 'Enter') return;
  event.preventDefault();
  event.currentTarget.form?.requestSubmit();
}

interface AddressFeedbackProps {
  readonly check: AddressCheck;
  readonly chain: RedeemChain;
  /** An empty field is reported only after the first submit. */
  readonly isPressed: boolean;
  readonly onChain: (chain: RedeemChain) => void;
}

export function AddressFeedback({ check, chain, isPressed, onChain }: AddressFeedbackProps): ReactNode {
  const { texts } = usePage();
  return (
    <div id="address-feedback" className={`feedback ${check.state === 'right' ? 'right' : 'wrong'}`} role="status">
      <p>{check.state === 'empty' && !isPressed ? '' : feedbackText(check, chain, texts)}</p>
      {check.state === 'otherChain' && (
        <button type="button" onClick={() => onChain(check.chain)}>
          {texts.address.switchTo(chainNames[check.chain])}
        </button>
      )}
    </div>
  );
}

function feedbackText(check: AddressCheck, chain: RedeemChain, { address: words }: Texts): string {
  if (check.state === 'otherChain') return words.otherChain(chainNames[check.chain]);
  if (check.state === 'wrong') return words.wrong(chainNames[chain]);
  if (check.state === 'ethereum') return words.ethereum(chainNames[chain]);
  return words[check.state];
}

const SHOWN = 6;

/** Emphasises both ends, which people compare. */
export function AddressText({ text }: { readonly text: string }): ReactNode {
  if (text.length <= 2 * SHOWN) return <code className="address">{text}</code>;
  return (
    <code className="address">
      <b>{text.slice(0, SHOWN)}</b>
      {text.slice(SHOWN, -SHOWN)}
      <b>{text.slice(-SHOWN)}</b>
    </code>
  );
}
