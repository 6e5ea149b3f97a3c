import type { ChainToken, Treasury } from '@svc/protocol';
import { Plus, Trash2 } from 'lucide-react';
import type { ReactNode } from 'react';
import { Button, IconButton } from '../ui/button.tsx';
import { SelectField, TextField } from '../ui/fields.tsx';
import { words } from './words/treasuries.ts';
import { useWords } from './words.ts';

const MAX_SIGNERS = 20;
const MAX_LIMITS = 10;
const TOKENS: readonly ChainToken[] = ['USDC', 'USDT', 'STRK', 'ETH', 'DAI', 'WBTC'];
export const tokenOptions = TOKENS.map((token) => [token, token] as const);

export interface SignerValues {
  readonly name: string;
  readonly publicKey: string;
  readonly email: string;
}

export interface LimitValues {
  readonly token: ChainToken;
  readonly amount: string;
  readonly threshold: string;
  readonly windowSeconds: string;
}

/** Who signs, how many are needed, and what fewer may pay. */
export type PolicyValues = {
  readonly threshold: string;
  readonly signers: readonly SignerValues[];
  readonly limits: readonly LimitValues[];
};

export const EMPTY_SIGNER: SignerValues = { name: '', publicKey: '', email: '' };
const EMPTY_LIMIT: LimitValues = { token: 'USDC', amount: '', threshold: '1', windowSeconds: '86400' };

export const policyValues = ({ threshold, signers, limits }: Treasury): PolicyValues => ({
  threshold: String(threshold),
  signers: signers.map((signer) => ({ ...signer, email: signer.email ?? '' })),
  limits: limits.map((limit) => ({
    ...limit,
    threshold: String(limit.threshold),
    windowSeconds: String(limit.windowSeconds),
  })),
});

/** Signers without a key were left empty. */
export const policyBody = ({ threshold, signers, limits }: PolicyValues) => ({
  threshold: Number(threshold),
  signers: signers
    .filter(({ publicKey }) => publicKey.trim() !== '')
    .map(({ name, publicKey, email }) => ({ name, publicKey: publicKey.trim(), email: email.trim() || null })),
  limits: limits.map((limit) => ({
    token: limit.token,
    amount: limit.amount.trim(),
    threshold: Number(limit.threshold),
    windowSeconds: Number(limit.windowSeconds),
  })),
});

interface RowsProps<T> {
  rows: readonly T[];
  onChange: (rows: readonly T[]) => void;
  title: (number: number) => string;
  empty: T;
  max: number;
  min?: number;
  add: string;
  children: (row: T, change: (changes: Partial<T>) => void) => ReactNode;
}

/** Groups of fields that can be added and removed. */
export function FieldRows<T extends object>(props: RowsProps<T>) {
  const { rows, onChange, title, empty, max, min = 0, add, children } = props;
  const text = useWords(words);
  return (
    <>
      {rows.map((row, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a row has no other identity before it is entered
        <fieldset key={index} className="form">
          <legend>{title(index + 1)}</legend>
          {rows.length > min && (
            <IconButton
              icon={Trash2}
              className="fieldset-remove"
              label={text.removeRow(title(index + 1))}
              onClick={() => onChange(rows.filter((_, at) => at !== index))}
            />
          )}
          {children(row, (changes) => onChange(rows.map((one, at) => (at === index ? { ...one, ...changes } : one))))}
        </fieldset>
      ))}
      {rows.length < max && (
        <Button icon={Plus} onClick={() => onChange([...rows, empty])}>
          {add}
        </Button>
      )}
    </>
  );
}

interface PolicyFieldsProps {
  values: PolicyValues;
  errors: Readonly<Record<string, string | undefined>>;
  onChange: (changes: Partial<PolicyValues>) => void;
}

export function PolicyFields({ values: { threshold, signers, limits }, errors, onChange }: PolicyFieldsProps) {
  const text = useWords(words);
  return (
    <>
      <TextField
        label={text.threshold}
        required
        type="number"
        min={1}
        max={MAX_SIGNERS}
        value={threshold}
        onChange={(next) => onChange({ threshold: next })}
        error={errors.threshold}
      />
      <FieldRows
        rows={signers}
        onChange={(next) => onChange({ signers: next })}
        title={text.signer}
        empty={EMPTY_SIGNER}
        min={1}
        max={MAX_SIGNERS}
        add={text.addSigner}
      >
        {(signer, change) => (
          <>
            <TextField
              label={text.signerName}
              value={signer.name}
              onChange={(name) => change({ name })}
              maxLength={100}
            />
            <TextField
              label={text.publicKey}
              mono
              value={signer.publicKey}
              onChange={(publicKey) => change({ publicKey })}
            />
            <TextField
              label={text.email}
              optional
              type="email"
              value={signer.email}
              onChange={(email) => change({ email })}
            />
          </>
        )}
      </FieldRows>
      <p className="soft">{text.limitsNote}</p>
      <FieldRows
        rows={limits}
        onChange={(next) => onChange({ limits: next })}
        title={text.limitNumber}
        empty={EMPTY_LIMIT}
        max={MAX_LIMITS}
        add={text.addLimit}
      >
        {(limit, change) => <LimitFields limit={limit} change={change} />}
      </FieldRows>
    </>
  );
}

const HOUR = 3_600;
const WINDOWS: readonly number[] = [HOUR, 24 * HOUR, 7 * 24 * HOUR, 30 * 24 * HOUR];

function LimitFields({ limit, change }: { limit: LimitValues; change: (changes: Partial<LimitValues>) => void }) {
  const text = useWords(words);
  const windows = WINDOWS.includes(Number(limit.windowSeconds)) ? WINDOWS : [Number(limit.windowSeconds), ...WINDOWS];
  return (
    <div className="grid">
      <SelectField
        label={text.token}
        options={tokenOptions}
        value={limit.token}
        onChange={(token) => change({ token })}
      />
      <TextField
        label={text.upTo}
        required
        inputMode="decimal"
        value={limit.amount}
        onChange={(amount) => change({ amount })}
      />
      <SelectField
        label={text.window}
        options={windows.map((seconds) => [String(seconds), text.windowOf(seconds)])}
        value={limit.windowSeconds}
        onChange={(windowSeconds) => change({ windowSeconds })}
      />
      <TextField
        label={text.enough}
        required
        type="number"
        min={1}
        max={MAX_SIGNERS - 1}
        value={limit.threshold}
        onChange={(threshold) => change({ threshold })}
      />
    </div>
  );
}
