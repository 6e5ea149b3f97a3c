import { Ban, Check, CircleCheck, CircleX, Play } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { Badge, StatusBadge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { ConfirmDialog } from '../../ui/dialog.tsx';
import { TextField } from '../../ui/fields.tsx';
import { useLanguage } from '../../ui/language.ts';
import { Card, EmptyState, ErrorNote, PageHeader, Section } from '../../ui/page.tsx';
import { DataTable } from '../../ui/table.tsx';
import { useToast } from '../../ui/toast.tsx';
import { formatMoney, Hash, Money, Time } from '../../ui/values.tsx';
import { type AnswerTo, useChange, useRead } from '../api.ts';
import { WATCH_MS } from '../measures.ts';
import { words } from '../words/operator-money.ts';
import { words as shell } from '../words/shell.ts';
import { useWords } from '../words.ts';

type Stuck = AnswerTo<'GET /operator/stuck'>;
type Redeem = Stuck['redeems'][number];
type Transfer = Stuck['solanaTransfers'][number];
type Purchase = Stuck['purchases'][number];

export default function OperatorStuckPage() {
  const { stuck: text } = useWords(words);
  const { pages } = useWords(shell);
  const { data, error, refetch } = useRead('GET /operator/stuck', {}, { every: WATCH_MS });
  return (
    <>
      <PageHeader title={pages.operatorStuck} description={text.intro} />
      <ErrorNote error={error} retry={() => void refetch()} />
      {!error && (
        <>
          <Redeems redeems={data?.redeems} />
          <Transfers transfers={data?.solanaTransfers} />
          <Purchases purchases={data?.purchases} />
        </>
      )}
    </>
  );
}

const refreshes = ['GET /operator/stuck', 'GET /operator/health'] as const;

/** The organisation with the environment, so that play money is never taken for live money. */
function Owner({ row: { organizationId, organizationName, environment } }: { row: Redeem | Transfer | Purchase }) {
  const { environments } = useWords(words);
  return (
    <span>
      {organizationName || organizationId}
      <br />
      <Badge tone={environment === 'production' ? 'warn' : 'plain'}>{environments[environment]}</Badge>
    </span>
  );
}

function Redeems({ redeems }: { redeems: readonly Redeem[] | undefined }) {
  const { stuck: text } = useWords(words);
  const resume = useChange('POST /operator/redeems/{id}/resume', { refreshes });
  return (
    <Burned
      rows={redeems}
      texts={{
        ...{ title: text.redeems, body: text.redeemsBody, row: text.redeem, none: text.noRedeems },
        ...{ since: text.burned, resume: text.resumeTitle, resumed: text.resumed },
      }}
      to={({ address }) => address}
      since={({ burnedAt }) => burnedAt}
      resume={(id) => resume.mutateAsync({ params: { id } })}
    />
  );
}

function Transfers({ transfers }: { transfers: readonly Transfer[] | undefined }) {
  const { stuck: text } = useWords(words);
  const resume = useChange('POST /operator/solana-transfers/{id}/resume', { refreshes });
  return (
    <Burned
      rows={transfers}
      texts={{
        ...{ title: text.transfers, body: text.transfersBody, row: text.transfer, none: text.noTransfers },
        ...{ since: text.created, resume: text.resumeTransferTitle, resumed: text.transferResumed },
      }}
      to={({ recipient }) => recipient}
      since={({ createdAt }) => createdAt}
      resume={(id) => resume.mutateAsync({ params: { id } })}
    />
  );
}

interface BurnedProps<Row> {
  rows: readonly Row[] | undefined;
  texts: Record<'title' | 'body' | 'row' | 'none' | 'since' | 'resume' | 'resumed', string>;
  /** Who gets it on Solana. */
  to: (row: Row) => string;
  since: (row: Row) => string;
  resume: (id: string) => Promise<unknown>;
}

/** Burned on Starknet and not minted on Solana. */
function Burned<Row extends Redeem | Transfer>({ rows, texts, to, since, resume }: BurnedProps<Row>) {
  const { stuck: text } = useWords(words);
  const language = useLanguage();
  const toast = useToast();
  const [chosen, choose] = useState<Row>();
  return (
    <Section title={texts.title} description={texts.body}>
      <Card flush>
        <DataTable
          label={texts.title}
          rows={rows}
          rowKey={({ id }) => id}
          columns={[
            { key: 'id', label: texts.row, cell: ({ id }) => <Hash value={id} label={texts.row} /> },
            { key: 'owner', label: text.organization, cell: (row) => <Owner row={row} /> },
            { key: 'amount', label: text.amount, align: 'end', cell: ({ amountUsd }) => <Money amount={amountUsd} /> },
            { key: 'to', label: text.to, wideOnly: true, cell: (row) => <Hash value={to(row)} label={text.to} /> },
            {
              key: 'burn',
              label: text.burn,
              wideOnly: true,
              cell: ({ burnHash }) => (burnHash ? <Hash value={burnHash} label={text.burn} /> : '–'),
            },
            { key: 'why', label: text.why, cell: ({ reason }) => reason ?? '–' },
            { key: 'since', label: texts.since, align: 'end', cell: (row) => <Time value={since(row)} /> },
          ]}
          actions={(row) => (
            <Button size="s" icon={Play} onClick={() => choose(row)}>
              {text.resume}
            </Button>
          )}
          empty={
            <EmptyState icon={CircleCheck} title={texts.none}>
              {text.noRedeemsBody}
            </EmptyState>
          }
        />
      </Card>
      <ConfirmDialog
        open={chosen !== undefined}
        onClose={() => choose(undefined)}
        title={texts.resume}
        action={text.resume}
        kind="primary"
        onConfirm={async () => {
          if (!chosen) return;
          await resume(chosen.id);
          toast.done(texts.resumed);
        }}
      >
        {text.resumeBody(formatMoney(String(chosen?.amountUsd ?? 0), 'USD', language))}
      </ConfirmDialog>
    </Section>
  );
}

type End = 'complete' | 'fail' | 'cancel';

function Purchases({ purchases }: { purchases: readonly Purchase[] | undefined }) {
  const { stuck: text } = useWords(words);
  const [chosen, choose] = useState<{ purchase: Purchase; end: End }>();
  return (
    <Section title={text.purchases} description={text.purchasesBody}>
      <Card flush>
        <DataTable
          label={text.purchases}
          rows={purchases}
          rowKey={({ id }) => id}
          columns={[
            { key: 'id', label: text.purchase, cell: ({ id }) => <Hash value={id} label={text.purchase} /> },
            { key: 'owner', label: text.organization, cell: (row) => <Owner row={row} /> },
            {
              key: 'service',
              label: text.service,
              cell: ({ skuId, reference }) => (
                <span>
                  {skuId}
                  <br />
                  <span className="soft mono">{reference}</span>
                </span>
              ),
            },
            {
              key: 'amount',
              label: text.amount,
              align: 'end',
              cell: ({ amount, currency }) => <Money amount={amount} unit={currency} />,
            },
            { key: 'status', label: text.status, cell: ({ status }) => <StatusBadge status={status} /> },
            {
              key: 'paid',
              label: text.paidAt,
              align: 'end',
              cell: ({ paidAt }) => <Time value={paidAt} none={text.notPaid} />,
            },
          ]}
          actions={(purchase) => <PurchaseActions purchase={purchase} onChoose={(end) => choose({ purchase, end })} />}
          empty={
            <EmptyState icon={CircleCheck} title={text.noPurchases}>
              {text.noPurchasesBody}
            </EmptyState>
          }
        />
      </Card>
      {chosen && <EndDialog key={chosen.purchase.id + chosen.end} {...chosen} onClose={() => choose(undefined)} />}
    </Section>
  );
}

function PurchaseActions({ purchase, onChoose }: { purchase: Purchase; onChoose: (end: End) => void }) {
  const { stuck: text } = useWords(words);
  const action = (end: End, icon: typeof Check, label: string): ReactNode => (
    <Button size="s" icon={icon} kind={end === 'complete' ? 'plain' : 'danger'} onClick={() => onChoose(end)}>
      {label}
    </Button>
  );
  if (purchase.status === 'PENDING') return action('cancel', Ban, text.cancel);
  return (
    <div className="row">
      {action('complete', Check, text.complete)}
      {action('fail', CircleX, text.fail)}
    </div>
  );
}

interface EndDialogProps {
  readonly purchase: Purchase;
  readonly end: End;
  readonly onClose: () => void;
}

function EndDialog({ purchase: { id }, end, onClose }: EndDialogProps) {
  const { stuck: text } = useWords(words);
  const toast = useToast();
  const [value, setValue] = useState('');
  const complete = useChange('POST /operator/purchases/{id}/complete', { refreshes });
  const fail = useChange('POST /operator/purchases/{id}/fail', { refreshes });
  const cancel = useChange('POST /operator/purchases/{id}/cancel', { refreshes });
  const needed = (message: string) => {
    if (value.trim() === '') throw new Error(message);
    return value.trim();
  };
  const ends = {
    complete: {
      title: text.completeTitle,
      body: text.completeBody,
      action: text.complete,
      field: text.fileNumber,
      done: text.completed,
      run: () => complete.mutateAsync({ params: { id }, body: { fileNumber: needed(text.fileNumberMissing) } }),
    },
    fail: {
      title: text.failTitle,
      body: text.failBody,
      action: text.fail,
      field: text.failReason,
      done: text.failed,
      run: () => fail.mutateAsync({ params: { id }, body: { reason: needed(text.failReasonMissing) } }),
    },
    cancel: {
      title: text.cancelTitle,
      body: text.cancelBody,
      action: text.cancel,
      field: undefined,
      done: text.cancelled,
      run: () => cancel.mutateAsync({ params: { id } }),
    },
  };
  const { title, body, action, field, done, run } = ends[end];
  return (
    <ConfirmDialog
      open
      onClose={onClose}
      title={title}
      action={action}
      kind={end === 'complete' ? 'primary' : 'danger'}
      onConfirm={async () => {
        await run();
        toast.done(done);
      }}
    >
      <div className="stack">
        <p>{body}</p>
        {field !== undefined && (
          <TextField label={field} value={value} onChange={setValue} autoComplete="off" maxLength={255} />
        )}
      </div>
    </ConfirmDialog>
  );
}
