import type { ReactNode } from 'react';
import type { SavedRedeem } from '../claim/saved-redeem.ts';
import { usePage } from './page-context.ts';

const order = ['leaving', 'crossing', 'arriving'] as const;
/** Index of the step that a bridged redeem is at. */
const current = { PENDING: 0, BRIDGING: 1, ATTESTED: 2, SUCCESS: 3, FAILED: 3 } as const;
/** Slower than this is the bridge's standard transfer. */
const SLOW_SECONDS = 600;

export function SendingStep({ redeem }: { readonly redeem: SavedRedeem }): ReactNode {
  const { texts } = usePage();
  const { sending } = texts;
  const { chain, status = 'PENDING', estimatedSeconds = 0 } = redeem;
  const now = current[status];
  const step: (typeof order)[number] | undefined = order.at(now);
  return (
    <>
      <div className="wheel" aria-hidden="true" />
      {chain === 'solana' && (
        <ol className="progress">
          {order.map((name, index) => (
            <li key={name} data-state={index < now ? 'done' : index === now ? 'now' : 'next'}>
              {sending.steps[name]}
              <span className="hidden">
                {`: ${index < now ? sending.stepDone : index === now ? sending.stepNow : sending.stepNext}`}
              </span>
            </li>
          ))}
        </ol>
      )}
      <p className="hidden" role="status">
        {chain === 'solana' && step ? sending.steps[step] : ''}
      </p>
      <p>{estimatedSeconds > SLOW_SECONDS ? sending.slow : sending[chain]}</p>
      <p className="note">{sending.keep}</p>
    </>
  );
}
