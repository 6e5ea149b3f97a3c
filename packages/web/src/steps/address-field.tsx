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

/** Three lines high, so that the whole address can be seen. */
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
        aria-describedby="address-hint address-said"
      />
      <p id="address-hint" className="note">
        {texts.address.hint[chain]}
      </p>
    </>
  );
}

/** An address has one line: Enter means "go on", as in any other field. */
function submitOnEnter(event: KeyboardEvent<HTMLTextAreaElement>): void {
  if (event.key !== 'Enter') return;
  event.preventDefault();
  event.currentTarget.form?.requestSubmit();
}

interface AddressVerdictProps {
  readonly check: AddressCheck;
  readonly chain: RedeemChain;
  /** Nobody is told of an empty field before having pressed the button. */
  readonly isPressed: boolean;
  readonly onChain: (chain: RedeemChain) => void;
}

/** What is said of an address while it is typed. It is read out, too. */
export function AddressVerdict({ check, chain, isPressed, onChain }: AddressVerdictProps): ReactNode {
  const { texts } = usePage();
  return (
    <div id="address-said" className={`said ${check.state === 'right' ? 'right' : 'wrong'}`} role="status">
      <p>{check.state === 'empty' && !isPressed ? '' : verdict(check, chain, texts)}</p>
      {check.state === 'otherChain' && (
        <button type="button" onClick={() => onChain(check.chain)}>
          {texts.address.switchTo(chainNames[check.chain])}
        </button>
      )}
    </div>
  );
}

function verdict(check: AddressCheck, chain: RedeemChain, { address: words }: Texts): string {
  if (check.state === 'otherChain') return words.otherChain(chainNames[check.chain]);
  if (check.state === 'wrong') return words.wrong(chainNames[chain]);
  if (check.state === 'ethereum') return words.ethereum(chainNames[chain]);
  return words[check.state];
}

const SHOWN = 6;

/** An address or a hash, its ends set off: those are what people compare. */
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
