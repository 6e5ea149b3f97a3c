import type { ReactNode } from 'react';
import type { ClaimErrorCode } from '../claim/errors.ts';
import { nameOf } from '../claim/gift.ts';
import type { SavedRedeem } from '../claim/saved-redeem.ts';
import type { InvalidClaim } from '../claim/screen.ts';
import { formatDay } from '../language/language.ts';
import type { Texts } from '../language/texts.ts';
import { CodeForm } from './code-form.tsx';
import { usePage } from './page-context.ts';

interface ErrorStepProps {
  readonly errorCode: ClaimErrorCode;
  readonly code: string;
  readonly redeem: SavedRedeem | undefined;
  readonly about: InvalidClaim | undefined;
  /** Whether this device has a wallet that can be opened. */
  readonly hasWallet: boolean;
  readonly onAction: () => void;
}

/** Looking again changes nothing: another code, or the wallet, is the way on. */
const ENDED: ReadonlySet<ClaimErrorCode> = new Set(['expired', 'usedUp']);

export function ErrorStep({ errorCode, code, redeem, about, hasWallet, onAction }: ErrorStepProps): ReactNode {
  const { texts } = usePage();
  const words = texts.errors[errorCode];
  const isEnded = ENDED.has(errorCode);
  const facts = about && factsOf(errorCode, about, texts);
  return (
    <>
      {facts && <p className="note">{facts}</p>}
      <p>{words.body}</p>
      {errorCode === 'notFound' ? (
        <CodeForm code={code} />
      ) : isEnded ? (
        <>
          {hasWallet && (
            <a className="button main" href="../wallet">
              {texts.walletDone.open}
            </a>
          )}
          <a className={hasWallet ? 'button quiet' : 'button main'} href="./">
            {words.action}
          </a>
        </>
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

/** Whose gift it was, and when it counts. */
function factsOf(errorCode: ClaimErrorCode, about: InvalidClaim, { gift, locale }: Texts): string | undefined {
  const from = about.orgName === undefined ? undefined : gift.from(nameOf(about));
  const { startsAt, expiresAt } = about;
  if (errorCode === 'expired' && expiresAt) return gift.ended(from ?? '', formatDay(expiresAt, locale));
  if (errorCode === 'notStarted' && startsAt) return gift.begins(from ?? '', formatDay(startsAt, locale));
  return from && gift.name(from);
}
