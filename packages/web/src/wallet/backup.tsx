import { addRecipientPasskey, deleteRecipient, exportPrivateKey, makeRecoveryCode } from '@svc/sdk';
import { type ReactNode, useState } from 'react';
import { forgetWallet } from '../claim/saved-wallet.ts';
import { CopyButton } from '../steps/copy-button.tsx';
import { useWords } from '../ui/language.ts';
import { Confirm, Problem, useTask, useWallet } from './context.tsx';
import { clientOf, type Opened, ownWallet } from './session.ts';
import { words } from './words.ts';

export function Backup(): ReactNode {
  const text = useWords(words);
  const { session, signOut } = useWallet();
  const { passkeys, hasRecoveryCode, appUrl } = session.recipient;
  return (
    <>
      <section>
        <h2>{text.backUp}</h2>
        <p>
          {text.backedUp(passkeys)} {hasRecoveryCode ? text.withCode : text.withoutCode}
        </p>
        <RecoveryCode />
        <NewPasskey />
      </section>
      <ExportKey />
      {appUrl !== null && (
        <p>
          <a href={appUrl} rel="noreferrer noopener">
            {text.ownApp(new URL(appUrl).host)}
          </a>
        </p>
      )}
      <DeleteData />
      <p>
        <button type="button" className="quiet" onClick={signOut}>
          {text.signOut}
        </button>
      </p>
    </>
  );
}

/** What an action with the opened key needs of the wallet. */
function useBackUp() {
  const { baseUrl, update } = useWallet();
  return async ({ session, encryptKey }: Opened) => {
    const client = clientOf(baseUrl, session);
    const wallet = await ownWallet(client, session);
    const externalUserId = session.recipient.id;
    const changed = (recipient: typeof session.recipient) => update({ ...session, recipient });
    return { client, changed, params: { externalUserId, wallet, encryptKey } };
  };
}

function RecoveryCode(): ReactNode {
  const text = useWords(words);
  const { session, ends } = useWallet();
  const task = useTask(ends);
  const prepare = useBackUp();
  const [code, setCode] = useState<string>();
  const make = async (opened: Opened) => {
    const { client, params, changed } = await prepare(opened);
    const { recoveryCode, recipient } = await makeRecoveryCode(client, params);
    setCode(recoveryCode);
    changed(recipient);
  };
  if (code !== undefined) return <Secret label={text.code} hint={text.yourCode} value={code} copy={text.copyCode} />;
  return (
    <details>
      <summary>{session.recipient.hasRecoveryCode ? text.makeCodeAgain : text.makeCode}</summary>
      <p>{text.makeCodeBody}</p>
      <Confirm label={text.makeCode} task={task} onOpened={make} />
    </details>
  );
}

function NewPasskey(): ReactNode {
  const text = useWords(words);
  const { ends } = useWallet();
  const task = useTask(ends);
  const prepare = useBackUp();
  const [isAdded, setAdded] = useState(false);
  const add = async (opened: Opened) => {
    const { client, params, changed } = await prepare(opened);
    const { recipient } = await addRecipientPasskey(client, params);
    setAdded(true);
    changed(recipient);
  };
  return (
    <details>
      <summary>{text.addPasskey}</summary>
      <p>{text.addPasskeyBody}</p>
      {isAdded ? <p role="status">{text.added}</p> : <Confirm label={text.addPasskey} task={task} onOpened={add} />}
    </details>
  );
}

function ExportKey(): ReactNode {
  const text = useWords(words);
  const { ends } = useWallet();
  const task = useTask(ends);
  const prepare = useBackUp();
  const [key, setKey] = useState<string>();
  const show = async (opened: Opened) => {
    const { params } = await prepare(opened);
    setKey(await exportPrivateKey(params));
  };
  return (
    <details>
      <summary>{text.export}</summary>
      <p>{text.exportBody}</p>
      {key === undefined ? (
        <Confirm label={text.exportButton} task={task} onOpened={show} />
      ) : (
        <Secret label={text.yourKey} value={key} copy={text.copyKey} />
      )}
    </details>
  );
}

interface SecretProps {
  readonly label: string;
  readonly value: string;
  readonly copy: string;
  readonly hint?: string;
}

const Secret = ({ label, value, copy, hint }: SecretProps): ReactNode => (
  <>
    {hint && <p role="status">{hint}</p>}
    <dl className="card recovery">
      <dt>{label}</dt>
      <dd>
        <code>{value}</code>
      </dd>
    </dl>
    <CopyButton text={value} label={copy} />
  </>
);

function DeleteData(): ReactNode {
  const text = useWords(words);
  const { client, session, storage, signOut, ends } = useWallet();
  const task = useTask(ends);
  const [isSure, setSure] = useState(false);
  const remove = async () => {
    await deleteRecipient(client, { exported: isSure });
    forgetWallet(storage, session.recipient.id);
    signOut();
  };
  return (
    <details>
      <summary>{text.delete}</summary>
      <p>{text.deleteBody}</p>
      <label className="check">
        <input type="checkbox" checked={isSure} onChange={(event) => setSure(event.target.checked)} />
        {text.deleteSure}
      </label>
      <Problem text={task.error} />
      <button type="button" disabled={task.isBusy} onClick={() => void task.run(remove)}>
        {task.isBusy ? text.working : text.deleteButton}
      </button>
    </details>
  );
}
