import { type RedeemChain, redeemChains } from '@svc/protocol';
import type { ReactNode } from 'react';
import { chainNames } from '../claim/screen.ts';
import { Help } from './help.tsx';
import { usePage } from './page-context.ts';

interface ChainStepProps {
  readonly onChoose: (chain: RedeemChain) => void;
  readonly onBack: () => void;
}

export function ChainStep({ onChoose, onBack }: ChainStepProps): ReactNode {
  const { texts } = usePage();
  return (
    <>
      <p>{texts.chain.body}</p>
      <div className="choices">
        {redeemChains.map((chain) => (
          <button key={chain} type="button" className="choice" onClick={() => onChoose(chain)}>
            <strong>{chainNames[chain]}</strong>
            <span>{texts.chain[chain]}</span>
          </button>
        ))}
      </div>
      <Help title={texts.chain.whatTitle} lines={texts.chain.what} />
      <button type="button" className="quiet" onClick={onBack}>
        {texts.back}
      </button>
    </>
  );
}
