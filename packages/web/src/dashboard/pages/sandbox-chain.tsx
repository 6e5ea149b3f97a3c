import { useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { SelectField, SwitchField, TextField } from '../../ui/fields.tsx';
import { localeOf, useLanguage } from '../../ui/language.ts';
import { Card, DescriptionList, ErrorNote, Note, Section, Skeleton } from '../../ui/page.tsx';
import { useToast } from '../../ui/toast.tsx';
import { Time } from '../../ui/values.tsx';
import { withDecimals } from '../amounts.tsx';
import { useRead } from '../api.ts';
import { useForm } from '../form.ts';
import { explorerUrl } from '../place.ts';
import { type Chain, chains, tokens, useSandboxChange } from '../sandbox.ts';
import { words } from '../words/sandbox.ts';
import { useWords } from '../words.ts';

export function ChainTab({ chain }: { chain: Chain | undefined }) {
  return (
    <div>
      <Faucet />
      <Clock chain={chain} />
      <Pool />
    </div>
  );
}

interface Given {
  readonly address: string;
  readonly amount: string;
  readonly token: string;
  readonly chain: string;
  readonly transactionHash: string;
}

function Faucet() {
  const text = useWords(words);
  const change = useSandboxChange();
  const [given, setGiven] = useState<Given>();
  const form = useForm({
    initial: { address: '', token: 'USDC', amount: '100', chain: 'STARKNET' },
    onSubmit: async (values) => {
      const body = { ...values, address: values.address.trim(), amount: values.amount.trim() };
      const { transactionHash } = await change<{ transactionHash: string }>('POST', '/faucet', body);
      setGiven({ ...body, transactionHash });
    },
  });
  return (
    <Section title={text.faucet} description={text.faucetHint}>
      <Card>
        <form className="form" onSubmit={form.onSubmit}>
          <TextField
            label={text.address}
            mono
            required
            spellCheck={false}
            placeholder="0x…"
            {...form.field('address')}
          />
          <div className="grid">
            <TextField
              label={text.amount}
              hint={text.amountHint}
              inputMode="decimal"
              required
              {...form.field('amount')}
            />
            <SelectField label={text.token} options={tokens.map((one) => [one, one])} {...form.field('token')} />
            <SelectField label={text.chain} options={chains.map((one) => [one, one])} {...form.field('chain')} />
          </div>
          <ErrorNote error={form.failure} />
          <div className="row">
            <Button type="submit" kind="primary" pending={form.pending}>
              {text.give}
            </Button>
          </div>
          {given && (
            <Note tone="good">
              <p role="status">{text.given(given.amount, given.token)}</p>
              {given.chain === 'STARKNET' && (
                <p className="row">
                  <a href={`${explorerUrl}/tx/${given.transactionHash}`}>{text.showTransaction}</a>
                  <a href={`${explorerUrl}/account/${given.address}`}>{text.showAccount}</a>
                </p>
              )}
            </Note>
          )}
        </form>
      </Card>
    </Section>
  );
}

const HOUR = 3_600;
const DAY = 24 * HOUR;

function Clock({ chain }: { chain: Chain | undefined }) {
  const text = useWords(words);
  const number = new Intl.NumberFormat(localeOf(useLanguage()));
  const change = useSandboxChange();
  const toast = useToast();
  const [isReorganising, setReorganising] = useState(false);
  const send = (path: string, body: unknown) =>
    change('POST', path, body).then(
      () => toast.done(text.done),
      (error: Error) => toast.failed(error.message),
    );
  const travel = (increaseSeconds: number) => void send('/starknet/time', { increaseSeconds });
  return (
    <Section title={text.time} description={text.timeHint}>
      <Card>
        <div className="stack">
          {chain ? (
            <DescriptionList
              columns={2}
              rows={[
                [
                  text.block,
                  <a key="block" href={`${explorerUrl}/block/${chain.blockNumber}`}>
                    {number.format(chain.blockNumber)}
                  </a>,
                ],
                [text.now, <Time key="now" value={new Date(chain.timestamp * 1_000).toISOString()} exact />],
                [text.waiting, number.format(chain.waitingTransactions)],
                [text.offset, text.seconds(number.format(chain.offsetSeconds))],
              ]}
            />
          ) : (
            <Skeleton lines={3} />
          )}
          <div className="row">
            <Button onClick={() => travel(HOUR)}>{text.hour}</Button>
            <Button onClick={() => travel(DAY)}>{text.day}</Button>
            <Button onClick={() => travel(30 * DAY)}>{text.month}</Button>
            <Button
              disabled={chain?.offsetSeconds === 0}
              onClick={() => void send('/starknet/time', { offsetSeconds: 0 })}
            >
              {text.present}
            </Button>
          </div>
          <div className="grid">
            <NumberForm
              label={text.mine}
              initial="1"
              action={text.mine}
              onSubmit={(blocks) => send('/starknet/mine', { blocks })}
            />
            <NumberForm
              key={chain?.blockSeconds}
              label={text.blockTime}
              hint={text.blockTimeHint}
              initial={String(chain?.blockSeconds ?? 0)}
              action={text.set}
              onSubmit={(seconds) => send('/starknet/block-time', { seconds })}
            />
          </div>
          <div className="row">
            <Button kind="danger" onClick={() => setReorganising(true)}>
              {text.reorgTitle}
            </Button>
          </div>
        </div>
      </Card>
      {isReorganising && <Reorganise onClose={() => setReorganising(false)} />}
    </Section>
  );
}

function Pool() {
  const { data } = useRead('GET /config');
  return data?.privateBalance ? <PoolTerms terms={data.privateBalance} /> : null;
}

const FRI_DECIMALS = 18;

function PoolTerms({ terms }: { terms: { fee: string; shieldPaused: boolean; lagBlocks: number } }) {
  const text = useWords(words);
  const change = useSandboxChange();
  const toast = useToast();
  const { fee, shieldPaused, lagBlocks } = terms;
  const [isPaused, setPaused] = useState(shieldPaused);
  const form = useForm({
    initial: { fee: withDecimals(fee, FRI_DECIMALS), lag: String(lagBlocks) },
    onSubmit: async (values) => {
      const body = { fee: values.fee.trim(), shieldPaused: isPaused, lagBlocks: Number(values.lag) };
      await change('POST', '/starknet/pool', body);
      toast.done(text.done);
    },
  });
  return (
    <Section title={text.pool} description={text.poolHint}>
      <Card>
        <form className="form" onSubmit={form.onSubmit}>
          <div className="grid">
            <TextField label={text.poolFee} inputMode="decimal" required {...form.field('fee')} />
            <TextField label={text.poolLag} inputMode="numeric" pattern="[0-9]+" required {...form.field('lag')} />
          </div>
          <SwitchField label={text.poolPaused} checked={isPaused} onChange={setPaused} />
          <ErrorNote error={form.failure} />
          <div className="row">
            <Button type="submit" pending={form.pending}>
              {text.poolSet}
            </Button>
          </div>
        </form>
      </Card>
    </Section>
  );
}

interface NumberFormProps {
  label: string;
  hint?: string;
  initial: string;
  action: string;
  onSubmit: (value: number) => Promise<unknown>;
}

function NumberForm({ label, hint, initial, action, onSubmit }: NumberFormProps) {
  const [value, setValue] = useState(initial);
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        void onSubmit(Number(value));
      }}
    >
      <TextField
        label={label}
        {...(hint !== undefined && { hint })}
        inputMode="numeric"
        pattern="[0-9]+"
        required
        value={value}
        onChange={setValue}
        after={
          <Button type="submit" size="s" kind="quiet">
            {action}
          </Button>
        }
      />
    </form>
  );
}

function Reorganise({ onClose }: { onClose: () => void }) {
  const text = useWords(words);
  const change = useSandboxChange();
  const toast = useToast();
  const form = useForm({
    initial: { blocks: '1', transactions: 'requeue' as 'requeue' | 'drop' },
    onSubmit: async ({ blocks, transactions }) => {
      await change('POST', '/starknet/reorg', { blocks: Number(blocks), transactions });
      toast.done(text.done);
      onClose();
    },
  });
  return (
    <Dialog
      open
      onClose={onClose}
      title={text.reorgTitle}
      description={text.reorgHint}
      footer={
        <Button type="submit" form="reorganise" kind="danger" pending={form.pending}>
          {text.reorg}
        </Button>
      }
    >
      <form id="reorganise" className="form" onSubmit={form.onSubmit}>
        <TextField label={text.blocks} inputMode="numeric" pattern="[0-9]+" required {...form.field('blocks')} />
        <SelectField
          label={text.reorgTransactions}
          options={[
            ['requeue', text.reorgWays.requeue],
            ['drop', text.reorgWays.drop],
          ]}
          {...form.field('transactions')}
        />
        <ErrorNote error={form.failure} />
      </form>
    </Dialog>
  );
}
