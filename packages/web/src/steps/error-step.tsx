import type { ReactNode } from 'react';
import type { ClaimErrorCode } from '../claim/errors.ts';
import type { SavedRedeem } from '../claim/saved-redeem.ts';
import { CodeForm } from './code-form.tsx';
import { usePage } from './page-context.ts';

interface ErrorStepProps {
  readonly errorCode: ClaimErrorCode;
  readonly code: string;
  readonly redeem: SavedRedeem | undefined;
  readonly onAction: () => void;
}

export function ErrorStep({ errorCode, code, redeem, onAction }: ErrorStepProps): ReactNode {
  const { texts } = usePage();
  const words = texts.errors[errorCode];
  return (
    <>
      <p>{words.body}</p>
      {errorCode === 'notFound' ? (
        <CodeForm code={code} />
      ) : (
        <button type="button" className="main" onClick={onAction}>
          {words.action}
        </button>
      )}
      {errorCode === 'stuck' && redeem?.redeemId !== undefined && (
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
