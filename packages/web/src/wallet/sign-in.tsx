import { type FormEvent, type ReactNode, useState } from 'react';
import type { KeyValueStorage } from '../claim/saved-redeem.ts';
import { type DeviceWallet, deviceWallets } from '../claim/saved-wallet.ts';
import { useWords } from '../ui/language.ts';
import { Problem, useTask } from './context.tsx';
import { type Opened, openWithCode, openWithPasskey, type Session, signInAgain } from './session.ts';
import { words } from './words.ts';

interface SignInProps {
  readonly baseUrl: string;
  readonly storage: KeyValueStorage;
  readonly wasSignedOut: boolean;
  /** `keeps`: what opens the key stays in memory while the page is open. */
  readonly onEnter: (opened: Opened | Session, keeps: boolean) => void;
}

export function SignIn({ baseUrl, storage, wasSignedOut, onEnter }: SignInProps): ReactNode {
  const text = useWords(words);
  const task = useTask();
  const [hasCode, setHasCode] = useState(false);
  const known = deviceWallets(storage).filter(({ credentialId, recoverySecret }) => credentialId ?? recoverySecret);
  const enter = (wallet?: DeviceWallet) =>
    void task.run(async () => {
      const isPassphrase = wallet?.recoverySecret !== undefined;
      onEnter(
        isPassphrase ? await signInAgain(baseUrl, wallet) : await openWithPasskey(baseUrl, storage, wallet),
        false,
      );
    });
  if (hasCode) {
    return (
      <CodeForm
        onBack={() => setHasCode(false)}
        onCode={async (code) => onEnter(await openWithCode(baseUrl, storage, code), true)}
      />
    );
  }
  return (
    <>
      {wasSignedOut && <p role="status">{text.signedOut}</p>}
      <p>{text.signInBody}</p>
      <Problem text={task.error} />
      {known.map((wallet, index) => (
        <button
          key={wallet.id}
          type="button"
          className={index === 0 ? 'main' : 'choice wide'}
          disabled={task.isBusy}
          onClick={() => enter(wallet)}
        >
          {text.openOf(wallet.orgName)}
        </button>
      ))}
      <button
        type="button"
        className={known.length === 0 ? 'main' : 'quiet'}
        disabled={task.isBusy}
        onClick={() => enter()}
      >
        {known.length === 0 ? text.open : text.another}
      </button>
      <p>
        <button type="button" className="quiet" disabled={task.isBusy} onClick={() => setHasCode(true)}>
          {text.useCode}
        </button>
      </p>
      <p className="note">{text.noWallet}</p>
    </>
  );
}

interface CodeFormProps {
  readonly onCode: (code: string) => Promise<void>;
  readonly onBack: () => void;
}

function CodeForm({ onCode, onBack }: CodeFormProps): ReactNode {
  const text = useWords(words);
  const task = useTask();
  const [code, setCode] = useState('');
  const submit = (event: FormEvent) => {
    event.preventDefault();
    void task.run(() => onCode(code));
  };
  return (
    <form onSubmit={submit} noValidate>
      <label htmlFor="recovery">{text.code}</label>
      <textarea
        id="recovery"
        rows={2}
        value={code}
        onChange={(event) => setCode(event.target.value)}
        autoComplete="off"
        autoCapitalize="characters"
        spellCheck={false}
        maxLength={80}
        aria-describedby="recovery-hint"
      />
      <p id="recovery-hint" className="note">
        {text.codeHint}
      </p>
      <Problem text={task.error} />
      <button type="submit" className="main" disabled={task.isBusy}>
        {task.isBusy ? text.working : text.codeButton}
      </button>
      <button type="button" className="quiet" onClick={onBack}>
        {text.back}
      </button>
    </form>
  );
}
