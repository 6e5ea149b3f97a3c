import type { ReactNode } from 'react';
import type { Trouble } from '../claim/errors.ts';
import type { KeptRedeem } from '../claim/saved-redeem.ts';
import { CodeForm } from './code-form.tsx';
import { usePage } from './page-context.ts';

interface TroubleStepProps {
  readonly trouble: Trouble;
  readonly code: string;
  readonly redeem: KeptRedeem | undefined;
  readonly onAction: () => void;
}

/** What is wrong, in kind words, and one thing to do about it. */
export function TroubleStep({ trouble, code, redeem, onAction }: TroubleStepProps): ReactNode {
  const { texts } = usePage();
  const words = texts.trouble[trouble];
  return (
    <>
      <p>{words.body}</p>
      {trouble === 'notFound' ? (
        <CodeForm code={code} />
      ) : (
        <button type="button" className="main" onClick={onAction}>
          {words.action}
        </button>
      )}
      {trouble === 'stuck' && redeem?.redeemId !== undefined && (
        <dl className="card">
          <dt>{texts.reference}</dt>
          <dd>
            <code className="address">{redeem.redeemId}</code>
          </dd>
        </dl>
      )}
    </>
  );
}
