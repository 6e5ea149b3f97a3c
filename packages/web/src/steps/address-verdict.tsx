import type { RedeemChain } from '@svc/protocol';
import type { ReactNode } from 'react';
import type { AddressCheck } from '../claim/address.ts';
import { chainNames } from '../claim/screen.ts';
import type { Texts } from '../language/texts.ts';
import { usePage } from './page-context.ts';

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
