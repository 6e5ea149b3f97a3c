import type { Client } from '@svc/sdk';
import { createContext, type FormEvent, type ReactNode, useContext, useId, useState } from 'react';
import type { KeyValueStorage } from '../claim/saved-redeem.ts';
import { localeOf, useLanguage, useWords } from '../ui/language.ts';
import type { Opened, Session } from './session.ts';
import { errorName, words } from './words.ts';

export interface WalletContext {
  readonly baseUrl: string;
  readonly client: Client;
  readonly session: Session;
  readonly storage: KeyValueStorage;
  /** Whether payments ask for a passphrase instead of a passkey. */
  readonly asksPassphrase: boolean;
  /** Has the owner confirm; answers what opens the key, for this action. */
  readonly open: (passphrase?: string) => Promise<Opened>;
  readonly show: (view: View) => void;
  readonly signOut: () => void;
  readonly update: (session: Session) => void;
  /** Handles the end of the session; answers false for other errors. */
  readonly ends: (error: unknown) => boolean;
}

export type View = 'home' | 'receive' | 'send' | 'solana' | 'buy' | 'more';

const Context = createContext<WalletContext | undefined>(undefined);
export const WalletProvider = Context.Provider;

export function useWallet(): WalletContext {
  const context = useContext(Context);
  if (!context) throw new Error('There is no wallet around this component.');
  return context;
}

const USDC_DECIMALS = 6;

/** A raw amount as people write it: `1500000` is `1.5`. */
export function toDecimal(raw: bigint): string {
  const digits = raw.toString().padStart(USDC_DECIMALS + 1, '0');
  const decimals = digits.slice(-USDC_DECIMALS).replace(/0+$/, '');
  return digits.slice(0, -USDC_DECIMALS) + (decimals && `.${decimals}`);
}

/** Undefined for what is not an amount above zero. */
export function fromDecimal(text: string): bigint | undefined {
  const [, whole = '', decimals = ''] = /^(\d{1,12})(?:[.,](\d{1,6}))?$/.exec(text.trim()) ?? [];
  if (whole === '') return undefined;
  const raw = BigInt(whole + decimals.padEnd(USDC_DECIMALS, '0'));
  return raw > 0n ? raw : undefined;
}

export function useAmounts() {
  const locale = localeOf(useLanguage());
  const usdc = (raw: bigint) => {
    const text = toDecimal(raw);
    const least = text.includes('.') ? 2 : 0;
    const format = new Intl.NumberFormat(locale, { minimumFractionDigits: least, maximumFractionDigits: 6 });
    return `${format.format(text as `${number}`)}\u00a0USDC`;
  };
  const pesos = (raw: bigint, mxnPerUsd: number) => {
    const centavos = (raw * BigInt(Math.round(mxnPerUsd * 1e6))) / 10n ** 10n;
    const format = new Intl.NumberFormat(locale, { minimumFractionDigits: 2, maximumFractionDigits: 2 });
    return `$${format.format(Number(centavos) / 100)}\u00a0MXN`;
  };
  const day = (moment: string) =>
    new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'short' }).format(new Date(moment));
  return { usdc, pesos, day };
}

export interface Task {
  readonly isBusy: boolean;
  readonly error: string | undefined;
  run(work: () => Promise<void>): Promise<void>;
}

/** Runs one action at a time and shows its error. */
export function useTask(ends: (error: unknown) => boolean = () => false): Task {
  const text = useWords(words);
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<ReturnType<typeof errorName>>();
  const run = async (work: () => Promise<void>) => {
    if (isBusy) return;
    setBusy(true);
    setError(undefined);
    try {
      await work();
    } catch (caught) {
      if (!ends(caught)) setError(errorName(caught));
    } finally {
      setBusy(false);
    }
  };
  return { isBusy, error: error && text.errors[error], run };
}

export const Problem = ({ text }: { readonly text: string | undefined }): ReactNode => (
  <p className="feedback wrong" role="status">
    {text ?? ''}
  </p>
);

export interface ConfirmProps {
  readonly label: string;
  readonly task: Task;
  readonly onOpened: (opened: Opened) => Promise<void>;
  readonly disabled?: boolean;
}

/** The button of everything that needs the key: by passkey, or by the passphrase that is typed here. */
export function Confirm({ label, task, onOpened, disabled = false }: ConfirmProps): ReactNode {
  const text = useWords(words);
  const { open, asksPassphrase } = useWallet();
  const id = useId();
  const [passphrase, setPassphrase] = useState('');
  const submit = (event: FormEvent) => {
    event.preventDefault();
    void task.run(async () => onOpened(await open(asksPassphrase ? passphrase : undefined)));
  };
  return (
    <form onSubmit={submit} noValidate>
      {asksPassphrase && (
        <>
          <label htmlFor={id}>{text.passphrase}</label>
          <input
            id={id}
            type="password"
            value={passphrase}
            onChange={(event) => setPassphrase(event.target.value)}
            autoComplete="current-password"
          />
        </>
      )}
      <Problem text={task.error} />
      <button type="submit" className="main" disabled={disabled || task.isBusy}>
        {task.isBusy ? text.working : label}
      </button>
    </form>
  );
}
