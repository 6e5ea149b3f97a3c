import {
  type Client,
  getRecipientWalletOptions,
  type NewRecipientWallet,
  prepareRecipientWallet,
  SvcKeyError,
  SvcPasskeyError,
} from '@svc/sdk';
import { type FormEvent, type ReactNode, useEffect, useState } from 'react';
import type { ClaimErrorCode } from '../claim/errors.ts';
import { walletErrorOf } from '../claim/make-wallet.ts';
import { CopyButton } from './copy-button.tsx';
import { usePage } from './page-context.ts';

export interface NewWalletProps {
  readonly client: Client;
  readonly code: string;
  readonly onReady: (draft: NewRecipientWallet) => void;
  readonly onError: (errorCode: ClaimErrorCode) => void;
  readonly onBack: () => void;
}

type Options = Awaited<ReturnType<typeof getRecipientWalletOptions>>;
type Hint = 'cancelled' | 'noPasskey' | 'weak';

/** Makes the key of the wallet on this device and locks it, with a passkey or with a passphrase. Sends nothing that opens it. */
export function NewWalletStep({ client, code, onReady, onError, onBack }: NewWalletProps): ReactNode {
  const { texts } = usePage();
  const words = texts.newWallet;
  const [options, setOptions] = useState<Options>();
  const [way, setWay] = useState<'passkey' | 'passphrase'>('passkey');
  const [hint, setHint] = useState<Hint>();
  const [isBusy, setBusy] = useState(false);
  const [written, setWritten] = useState<{ draft: NewRecipientWallet; recoveryCode: string }>();
  // Before the press: browsers create a passkey only right after one.
  useEffect(() => {
    let isOpen = true;
    getRecipientWalletOptions(client, { code }).then(
      (found) => {
        if (!isOpen) return;
        setOptions(found);
        if (found.passkey === null || !('PublicKeyCredential' in globalThis)) setWay('passphrase');
      },
      (error: unknown) => isOpen && onError(walletErrorOf(error)),
    );
    return () => {
      isOpen = false;
    };
  }, [client, code, onError]);

  const make = async (passphrase?: string) => {
    if (!options || isBusy) return;
    setBusy(true);
    setHint(undefined);
    try {
      const { wallet: draft, recoveryCode } = await prepareRecipientWallet(client, { code, options, passphrase });
      if (recoveryCode === undefined) onReady(draft);
      else setWritten({ draft, recoveryCode });
    } catch (error) {
      const found = hintOf(error);
      if (found === undefined) return onError(walletErrorOf(error));
      setHint(found);
      if (found === 'noPasskey') setWay('passphrase');
    } finally {
      setBusy(false);
    }
  };

  if (written) return <RecoveryCode code={written.recoveryCode} onWritten={() => onReady(written.draft)} />;
  if (!options) return <div className="wheel" aria-hidden="true" />;
  return (
    <>
      <p className="feedback wrong" role="status">
        {hint ? words[hint] : ''}
      </p>
      {way === 'passkey' ? (
        <>
          <p>{words.body}</p>
          <button type="button" className="main" disabled={isBusy} onClick={() => void make()}>
            {isBusy ? words.busy : words.button}
          </button>
          <p className="note">{words.note}</p>
          <button type="button" className="quiet" disabled={isBusy} onClick={() => setWay('passphrase')}>
            {words.usePassphrase}
          </button>
        </>
      ) : (
        <Passphrase isBusy={isBusy} onChosen={(text) => void make(text)} />
      )}
      <button type="button" className="quiet" disabled={isBusy} onClick={onBack}>
        {texts.back}
      </button>
    </>
  );
}

function hintOf(error: unknown): Hint | undefined {
  if (error instanceof SvcKeyError && error.code === 'weak_encrypt_key') return 'weak';
  if (!(error instanceof SvcPasskeyError)) return undefined;
  return error.code === 'passkey_cancelled' ? 'cancelled' : 'noPasskey';
}

const SHORTEST = 8;

function Passphrase({ isBusy, onChosen }: { readonly isBusy: boolean; readonly onChosen: (text: string) => void }) {
  const { texts } = usePage();
  const words = texts.newWallet;
  const [text, setText] = useState('');
  const [isShort, setShort] = useState(false);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setShort(text.trim().length < SHORTEST);
    if (text.trim().length >= SHORTEST) onChosen(text.trim());
  };
  return (
    <form onSubmit={submit} noValidate>
      <p>{words.passphraseBody}</p>
      <label htmlFor="passphrase">{words.passphrase}</label>
      <input
        id="passphrase"
        value={text}
        onChange={(event) => setText(event.target.value)}
        autoComplete="new-password"
        autoCapitalize="none"
        spellCheck={false}
        maxLength={200}
        aria-invalid={isShort}
        aria-describedby="passphrase-feedback"
      />
      <p id="passphrase-feedback" className="feedback wrong" role="status">
        {isShort ? words.short : ''}
      </p>
      <button type="submit" className="main" disabled={isBusy}>
        {isBusy ? words.busy : words.passphraseButton}
      </button>
    </form>
  );
}

function RecoveryCode({ code, onWritten }: { readonly code: string; readonly onWritten: () => void }): ReactNode {
  const { texts } = usePage();
  const words = texts.newWallet;
  const [isWritten, setWritten] = useState(false);
  return (
    <>
      <p>{words.codeBody}</p>
      <dl className="card recovery">
        <dt>{words.codeLabel}</dt>
        <dd>
          <code>{code}</code>
        </dd>
      </dl>
      <CopyButton text={code} label={words.copyCode} />
      <label className="check">
        <input type="checkbox" checked={isWritten} onChange={(event) => setWritten(event.target.checked)} />
        {words.written}
      </label>
      <button type="button" className="main" disabled={!isWritten} onClick={onWritten}>
        {words.codeButton}
      </button>
    </>
  );
}
