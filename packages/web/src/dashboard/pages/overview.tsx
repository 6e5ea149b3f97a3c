import type { Overview, OverviewRange } from '@svc/protocol';
import { Circle, CircleCheck } from 'lucide-react';
import { Button, LinkButton } from '../../ui/button.tsx';
import { Chart, type ChartSeries } from '../../ui/chart.tsx';
import { localeOf, useLanguage } from '../../ui/language.ts';
import { Card, ErrorNote, Figure, PageHeader, Skeleton } from '../../ui/page.tsx';
import { formatMoney, Money } from '../../ui/values.tsx';
import { FRI_DECIMALS, withDecimals } from '../amounts.tsx';
import { useEvery, useRead } from '../api.ts';
import { useSearchParam } from '../navigation.ts';
import { words } from '../words/overview.ts';
import { useWords } from '../words.ts';
import './overview.css';

const RANGES = ['24h', '7d', '30d'] as const satisfies readonly OverviewRange[];
const REFRESH_MS = 10_000;
const CENTS = [2, 2] as const;

export default function OverviewPage() {
  const text = useWords(words);
  const [chosen, setRange] = useSearchParam('range', '24h');
  const range = RANGES.find((known) => known === chosen) ?? '24h';
  const overview = useRead('GET /organization/overview', { query: { range } }, { keepPrevious: true });
  useEvery(REFRESH_MS, () => void overview.refetch());
  return (
    <div className="stack">
      <PageHeader
        title={text.title}
        description={text.description}
        actions={
          <fieldset className="row range">
            <legend className="hidden">{text.range}</legend>
            {RANGES.map((each) => (
              <Button
                key={each}
                size="s"
                kind={each === range ? 'primary' : 'plain'}
                aria-pressed={each === range}
                onClick={() => setRange(each)}
              >
                {text.ranges[each]}
              </Button>
            ))}
          </fieldset>
        }
      />
      <ErrorNote error={overview.error} retry={() => void overview.refetch()} />
      {overview.data ? <Report overview={overview.data} /> : !overview.error && <Skeleton lines={12} />}
    </div>
  );
}

function Report({ overview }: { overview: Overview }) {
  return (
    <>
      <Checklist checklist={overview.checklist} />
      <Figures overview={overview} />
      <Charts overview={overview} />
    </>
  );
}

const targets = {
  wallet: '/wallets',
  transfer: '/transactions',
  gift: '/gifts/new',
  webhook: '/developers/webhooks',
  keySet: '/developers/users',
} as const;
const steps = Object.keys(targets) as (keyof typeof targets)[];

/** Until everything is done. */
function Checklist({ checklist }: Pick<Overview, 'checklist'>) {
  const text = useWords(words);
  const done = steps.filter((step) => checklist[step]).length;
  if (done === steps.length) return null;
  return (
    <Card title={text.start} actions={<span className="soft number">{text.startNote(done, steps.length)}</span>}>
      <ul className="checklist">
        {steps.map((step) => {
          const [title, note] = text.steps[step];
          const isDone = checklist[step];
          const Icon = isDone ? CircleCheck : Circle;
          return (
            <li key={step} data-done={isDone} data-step={step}>
              <Icon size={20} aria-hidden />
              <div className="grow">
                <p>{title}</p>
                <p className="soft">{note}</p>
              </div>
              {isDone ? (
                <span className="soft">{text.done}</span>
              ) : (
                <LinkButton size="s" to={targets[step]}>
                  {text.open}
                  <span className="hidden">: {title}</span>
                </LinkButton>
              )}
            </li>
          );
        })}
      </ul>
    </Card>
  );
}

function Figures({ overview: { balance, totals, previousTotals } }: { overview: Overview }) {
  const text = useWords(words);
  const language = useLanguage();
  const number = new Intl.NumberFormat(localeOf(language));
  const change = useChangeText();
  const strk = (fri: string) => number.format(Number(withDecimals(fri, FRI_DECIMALS)));
  const usd = (amount: number) => formatMoney(String(amount), 'USD', language, { places: CENTS });
  const counts = ['wallets', 'transactions', 'failedTransactions'] as const;
  const labels = { wallets: text.wallets, transactions: text.transactions, failedTransactions: text.failures };
  return (
    <div className="figures overview-figures">
      <Figure
        label={text.available}
        value={<Money amount={balance.availableUsd} places={CENTS} />}
        note={text.held(usd(balance.heldUsd))}
      />
      {counts.map((name) => (
        <Figure
          key={name}
          label={labels[name]}
          value={number.format(totals[name])}
          note={change(totals[name], previousTotals[name])}
        />
      ))}
      <Figure
        label={text.gifts}
        value={number.format(totals.giftsRedeemed)}
        note={`${usd(totals.giftsRedeemedUsd)} · ${text.before(usd(previousTotals.giftsRedeemedUsd))}`}
      />
      <Figure
        label={text.purchases}
        value={number.format(totals.purchases)}
        note={`${usd(totals.purchasesUsd)} · ${text.before(usd(previousTotals.purchasesUsd))}`}
      />
      <Figure
        label={text.gas}
        value={strk(totals.gasFri)}
        note={`STRK · ${text.before(strk(previousTotals.gasFri))}`}
      />
    </div>
  );
}

function useChangeText(): (now: number, before: number) => string {
  const text = useWords(words);
  const language = useLanguage();
  const percent = new Intl.NumberFormat(localeOf(language), {
    style: 'percent',
    maximumFractionDigits: 0,
    signDisplay: 'exceptZero',
  });
  return (now, before) => {
    if (now === before) return text.same;
    return before === 0 ? text.before('0') : text.change(percent.format((now - before) / before));
  };
}

function Charts({ overview: { series, bucketSeconds } }: { overview: Overview }) {
  const text = useWords(words);
  const times = series.map(({ startsAt }) => startsAt);
  const gas = series.map(({ gasFri }) => Number(withDecimals(gasFri, FRI_DECIMALS)));
  const charts: readonly { title: string; series: ChartSeries[]; whole?: true }[] = [
    {
      title: text.transactions,
      whole: true,
      series: [
        {
          label: text.succeeded,
          values: series.map(({ transactions, failedTransactions }) => transactions - failedTransactions),
        },
        { label: text.failed, values: series.map(({ failedTransactions }) => failedTransactions), tone: 'bad' },
      ],
    },
    {
      title: text.wallets,
      whole: true,
      series: [{ label: text.wallets, values: series.map(({ wallets }) => wallets) }],
    },
    { title: text.gifts, series: [{ label: text.giftsUsd, values: series.map((bucket) => bucket.giftsRedeemedUsd) }] },
    {
      title: text.purchases,
      series: [{ label: text.purchasesUsd, values: series.map((bucket) => bucket.purchasesUsd) }],
    },
    { title: text.gas, series: [{ label: text.gasStrk, values: gas, tone: 'info' }] },
  ];
  return (
    <div className="grid charts">
      {charts.map((chart) => (
        <Card key={chart.title} title={chart.title}>
          <Chart {...chart} times={times} timeLabel={text.time} days={bucketSeconds >= 86_400} kind="bars" />
        </Card>
      ))}
    </div>
  );
}
