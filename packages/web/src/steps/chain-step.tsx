import { type RedeemChain, redeemChains } from '@svc/protocol';
import type { ReactNode } from 'react';
import type { DeviceWallet } from '../claim/saved-wallet.ts';
import { chainNames, type ValidClaim } from '../claim/screen.ts';
import { Help } from './help.tsx';
import { usePage } from './page-context.ts';

interface ChainStepProps {
  readonly code: string;
  readonly wallet: ValidClaim['wallet'];
  /** Of this organisation, on this device. */
  readonly own: DeviceWallet | undefined;
  readonly onNew: () => void;
  readonly onOwn: (address: string) => void;
  readonly onChoose: (chain: RedeemChain) => void;
  readonly onBack: () => void;
}

/** Where those go who want a wallet of another maker. */
const APPS = [
  ['Ready', 'Starknet', 'https://www.ready.co/'],
  ['Braavos', 'Starknet', 'https://braavos.app/'],
  ['Phantom', 'Solana', 'https://phantom.com/'],
  ['Solflare', 'Solana', 'https://www.solflare.com/'],
] as const;

export function ChainStep({ code, wallet, own, onNew, onOwn, onChoose, onBack }: ChainStepProps): ReactNode {
  const { texts } = usePage();
  return (
    <>
      <p>{isOffered(wallet) ? texts.chain.bodyOffered : texts.chain.body}</p>
      <div className="choices">
        {own && (
          <button type="button" className="choice" onClick={() => onOwn(own.address)}>
            <strong>{texts.chain.own}</strong>
            <span>{texts.chain.ownBody(`${own.address.slice(0, 8)}…${own.address.slice(-6)}`)}</span>
          </button>
        )}
        {wallet?.isOffered && (
          <button type="button" className="choice first" onClick={onNew}>
            <strong>{texts.chain.none}</strong>
            <span>{texts.chain.noneBody}</span>
          </button>
        )}
        {wallet?.appUrl && (
          <a className="button choice first" href={withCode(wallet.appUrl, code)} rel="noreferrer noopener">
            <strong>{texts.chain.none}</strong>
            <span>{texts.chain.appBody(new URL(wallet.appUrl).host)}</span>
          </a>
        )}
        {redeemChains.map((chain) => (
          <button key={chain} type="button" className="choice" onClick={() => onChoose(chain)}>
            <strong>{chainNames[chain]}</strong>
            <span>{texts.chain[chain]}</span>
          </button>
        ))}
      </div>
      <Help title={texts.chain.whatTitle} lines={texts.chain.what} />
      <details>
        <summary>{texts.chain.appsTitle}</summary>
        <ul className="apps">
          {APPS.map(([name, chain, url]) => (
            <li key={name}>
              <a href={url} target="_blank" rel="noreferrer noopener">
                {name}
              </a>{' '}
              ({chain})
            </li>
          ))}
        </ul>
      </details>
      <button type="button" className="quiet" onClick={onBack}>
        {texts.back}
      </button>
    </>
  );
}

/** Whether recipients without a wallet have a way on. */
export const isOffered = (wallet: ValidClaim['wallet']): boolean =>
  wallet !== undefined && (wallet.isOffered || wallet.appUrl !== null);

/** The organisation's own app learns which gift it is about. */
function withCode(appUrl: string, code: string): string {
  const url = new URL(appUrl);
  url.searchParams.set('gift', code);
  return url.href;
}
