import type { Sponsorship as Limits } from '@svc/protocol';
import { Button } from '../../ui/button.tsx';
import { TextAreaField, TextField } from '../../ui/fields.tsx';
import { Card, DescriptionList, ErrorNote, Note, ProgressBar, Section, Skeleton } from '../../ui/page.tsx';
import { useToast } from '../../ui/toast.tsx';
import { Time } from '../../ui/values.tsx';
import { useChange, useRead } from '../api.ts';
import { useForm } from '../form.ts';
import { useSession } from '../session.tsx';
import { words } from '../words/money.ts';
import { useWords } from '../words.ts';

/** What sponsored gas may cost, and what it has cost today. */
export function Sponsorship() {
  const text = useWords(words);
  const { data, error, refetch } = useRead('GET /organization/sponsorship');
  if (error) return <ErrorNote error={error} retry={() => void refetch()} />;
  if (!data) return <Skeleton lines={8} />;
  const { used, dailyStrk } = data;
  const note = dailyStrk === null ? text.noLimit(used.strk) : text.usedOf(used.strk, dailyStrk);
  return (
    <div className="stack">
      <Card title={text.usedTitle}>
        <div className="stack">
          {data.isNearLimit && <Note tone="warn">{text.near}</Note>}
          {/* A bar needs no more than the precision of a number. */}
          <ProgressBar
            label={text.strk}
            value={dailyStrk === null ? 0 : Number(used.strk)}
            max={Number(dailyStrk ?? 1) || 1}
            note={note}
          />
          <DescriptionList
            columns={2}
            rows={[
              [text.transactions, used.transactions],
              [text.wallets, used.wallets],
              [text.resets, <Time key="resets" value={data.resetsAt} />],
            ]}
          />
        </div>
      </Card>
      <Section title={text.limitsTitle} description={text.limitsNote}>
        <LimitsForm key={data.environment} limits={data} />
      </Section>
    </div>
  );
}

const STRK = /^\d{1,12}(\.\d{1,18})?$/;
const COUNT = /^\d{1,9}$/;
const textOf = (value: string | number | null) => (value === null ? '' : String(value));
const linesOf = (text: string) => {
  const lines = text.split('\n').flatMap((line) => line.trim() || []);
  return lines.length === 0 ? null : lines;
};

function LimitsForm({ limits }: { limits: Limits }) {
  const text = useWords(words);
  const toast = useToast();
  const { can } = useSession();
  const update = useChange('PATCH /organization/sponsorship', { refreshes: ['GET /organization/sponsorship'] });
  const form = useForm({
    initial: {
      dailyStrk: textOf(limits.dailyStrk),
      userDailyStrk: textOf(limits.userDailyStrk),
      userDailyTransactions: textOf(limits.userDailyTransactions),
      userDailyWallets: textOf(limits.userDailyWallets),
      allowedContracts: (limits.allowedContracts ?? []).join('\n'),
      allowedEntrypoints: (limits.allowedEntrypoints ?? []).join('\n'),
    },
    check: (values) => ({
      ...wrong(values, ['dailyStrk', 'userDailyStrk'], STRK, text.wrongStrk),
      ...wrong(values, ['userDailyTransactions', 'userDailyWallets'], COUNT, text.wrongCount),
    }),
    onSubmit: async (values) => {
      const count = (value: string) => (value === '' ? null : Number(value));
      await update.mutateAsync({
        body: {
          dailyStrk: values.dailyStrk || null,
          userDailyStrk: values.userDailyStrk || null,
          userDailyTransactions: count(values.userDailyTransactions),
          userDailyWallets: count(values.userDailyWallets),
          allowedContracts: linesOf(values.allowedContracts),
          allowedEntrypoints: linesOf(values.allowedEntrypoints),
        },
      });
      toast.done(text.saved);
    },
  });
  const isFixed = { disabled: !can('DEVELOPER') };
  const { maxDailyStrk } = limits;
  return (
    <form className="form" onSubmit={form.onSubmit} noValidate>
      <TextField
        label={text.dailyStrk}
        after="STRK"
        inputMode="decimal"
        hint={maxDailyStrk !== null && text.maxDaily(maxDailyStrk)}
        {...isFixed}
        {...form.field('dailyStrk')}
      />
      <TextField
        label={text.userDailyStrk}
        after="STRK"
        inputMode="decimal"
        {...isFixed}
        {...form.field('userDailyStrk')}
      />
      <div className="grid">
        <TextField
          label={text.userDailyTransactions}
          inputMode="numeric"
          {...isFixed}
          {...form.field('userDailyTransactions')}
        />
        <TextField label={text.userDailyWallets} inputMode="numeric" {...isFixed} {...form.field('userDailyWallets')} />
      </div>
      <TextAreaField
        label={text.allowedContracts}
        hint={text.oneALine}
        mono
        {...isFixed}
        {...form.field('allowedContracts')}
      />
      <TextAreaField
        label={text.allowedEntrypoints}
        hint={text.oneALine}
        mono
        {...isFixed}
        {...form.field('allowedEntrypoints')}
      />
      <ErrorNote error={form.failure} />
      {can('DEVELOPER') && (
        <div className="row">
          <Button type="submit" kind="primary" pending={form.pending}>
            {text.save}
          </Button>
        </div>
      )}
    </form>
  );
}

type Texts = Readonly<Record<string, string>>;

function wrong(values: Texts, names: readonly string[], pattern: RegExp, message: string): Texts {
  const bad = names.filter((name) => values[name] !== '' && !pattern.test(values[name] ?? ''));
  return Object.fromEntries(bad.map((name) => [name, message]));
}
