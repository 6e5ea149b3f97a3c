import type { RedeemChain } from '@svc/protocol';
import type { KeyboardEvent, ReactNode, Ref } from 'react';
import { chainNames } from '../claim/screen.ts';
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
