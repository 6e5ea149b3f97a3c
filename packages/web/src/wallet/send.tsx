import type { RedeemChain } from '@svc/protocol';
import { type Client, getTransactionStatus, SvcConnectionError, transfer } from '@svc/sdk';
import { type FormEvent, type ReactNode, useState } from 'react';
import { checkAddress, cleanAddress } from '../claim/address.ts';
import { Scanner } from '../scan/scanner.tsx';
import { AddressText } from '../steps/address-field.tsx';
import { useWords } from '../ui/language.ts';
import { Confirm, fromDecimal, type Task, toDecimal, useAmounts, useTask, useWallet } from './context.tsx';
import { useBalance } from './home.tsx';
import { clientOf, type Opened, payingWallet } from './session.ts';
import { words } from './words.ts';

export interface Order {
  readonly address: string;
  readonly raw: bigint;
}

type Stage = { readonly at: 'form' } | ({ readonly at: 'check' | 'sent' | 'arrived' | 'unclear' } & Order);

export function Send(): ReactNode {
  const text = useWords(words);
  const { baseUrl, ends } = useWallet();
  const { usdc } = useAmounts();
  const [stage, setStage] = useState<Stage>({ at: 'form' });
  const [draft, setDraft] = useState({ address: '', amount: '' });
  const task = useTask(ends);
  if (stage.at === 'form') {
    const next = async (order: Order) => setStage({ at: 'check', ...order });
    return <Form chain="starknet" draft={draft} onDraft={setDraft} task={task} onNext={next} />;
  }
  const amount = usdc(stage.raw);
  const send = async ({ session, encryptKey }: Opened) => {
    const client = clientOf(baseUrl, session);
    const wallet = await payingWallet(client, { session, encryptKey });
    const order = { amount: toDecimal(stage.raw), token: 'USDC', recipient: stage.address } as const;
    try {
      const hash = await transfer(client, { encryptKey, wallet, ...order });
      setStage({ ...stage, at: 'sent' });
      if (await isAccepted(client, hash)) setStage({ ...stage, at: 'arrived' });
    } catch (error) {
      // The answer was lost, perhaps not the payment: trying again could pay twice.
      if (!(error instanceof SvcConnectionError)) throw error;
      setStage({ ...stage, at: 'unclear' });
    }
  };
  if (stage.at === 'check') {
    return (
      <>
        <h2>{text.check}</h2>
        <dl className="card">
          <dt>{text.youSend}</dt>
          <dd>{amount}</dd>
          <dt>{text.recipient}</dt>
          <dd>
            <AddressText text={stage.address} />
          </dd>
        </dl>
        <p>{text.warning}</p>
        <Confirm label={text.confirm} task={task} onOpened={send} />
        <button type="button" className="quiet" disabled={task.isBusy} onClick={() => setStage({ at: 'form' })}>
          {text.change}
        </button>
      </>
    );
  }
  if (stage.at === 'unclear') return <p role="status">{text.unclear}</p>;
  return (
    <>
      <div className="tick" aria-hidden="true">
        ✓
      </div>
      <h2>{text.sentTitle}</h2>
      <p role="status">{stage.at === 'arrived' ? text.arrived(amount) : text.sentBody(amount)}</p>
    </>
  );
}

const POLL_MS = 1_000;
const MAX_POLLS = 60;

/** Through the service: the page may not ask other hosts. False where it is not known in time; the history tells later. */
async function isAccepted(client: Client, hash: string): Promise<boolean> {
  for (let polls = 0; polls < MAX_POLLS; polls++) {
    const { status } = await getTransactionStatus(client, { hash }).catch(() => ({ status: 'UNKNOWN' }));
    if (status.startsWith('ACCEPTED')) return true;
    if (status === 'REVERTED') return false;
    await client.runtime.sleep(POLL_MS);
  }
  return false;
}

interface FormProps {
  readonly chain: RedeemChain;
  readonly draft: { readonly address: string; readonly amount: string };
  readonly onDraft: (draft: { address: string; amount: string }) => void;
  readonly task: Task;
  readonly onNext: (order: Order) => Promise<void>;
}

export function Form({ chain, draft, onDraft, task, onNext }: FormProps): ReactNode {
  const text = useWords(words);
  const { session } = useWallet();
  const { raw: balance } = useBalance();
  const { usdc } = useAmounts();
  const [isScanning, setScanning] = useState(false);
  const [problem, setProblem] = useState<'badAddress' | 'badSolanaAddress' | 'badAmount' | 'tooMuch' | 'own'>();
  const take = (found: string) => {
    setScanning(false);
    onDraft({ ...draft, address: cleanAddress(found) });
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const check = checkAddress(draft.address, chain);
    const raw = fromDecimal(draft.amount);
    if (check.state !== 'right') return setProblem(chain === 'solana' ? 'badSolanaAddress' : 'badAddress');
    if (chain === 'starknet' && BigInt(check.address) === BigInt(session.recipient.walletAddress))
      return setProblem('own');
    if (raw === undefined) return setProblem('badAmount');
    if (balance !== undefined && raw > balance) return setProblem('tooMuch');
    setProblem(undefined);
    void task.run(() => onNext({ address: check.address, raw }));
  };
  return (
    <form onSubmit={submit} noValidate>
      <label htmlFor="address">{chain === 'solana' ? text.toSolana : text.to}</label>
      <textarea
        id="address"
        rows={3}
        value={draft.address}
        onChange={(event) => onDraft({ ...draft, address: event.target.value })}
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
        maxLength={200}
        aria-invalid={problem === 'badAddress' || problem === 'badSolanaAddress' || problem === 'own'}
      />
      <div className="row">
        <button type="button" onClick={() => void navigator.clipboard?.readText?.().then(take, () => undefined)}>
          {text.paste}
        </button>
        <button type="button" aria-expanded={isScanning} onClick={() => setScanning(!isScanning)}>
          {text.scan}
        </button>
      </div>
      {isScanning && <Scanner onText={take} onClose={() => setScanning(false)} />}
      <label htmlFor="amount" className="spaced">
        {text.amount}
      </label>
      <input
        id="amount"
        inputMode="decimal"
        value={draft.amount}
        onChange={(event) => onDraft({ ...draft, amount: event.target.value })}
        autoComplete="off"
        aria-invalid={problem === 'badAmount' || problem === 'tooMuch'}
      />
      {balance !== undefined && (
        <p className="note">
          {text.balance}: {usdc(balance)}{' '}
          <button type="button" className="quiet" onClick={() => onDraft({ ...draft, amount: toDecimal(balance) })}>
            {text.all}
          </button>
        </p>
      )}
      <p className="feedback wrong" role="status">
        {problem ? text[problem] : (task.error ?? '')}
      </p>
      <button type="submit" className="main" disabled={task.isBusy}>
        {task.isBusy ? text.working : text.continue}
      </button>
    </form>
  );
}
