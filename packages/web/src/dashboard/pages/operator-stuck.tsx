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
  const language = useLanguage();
  const toast = useToast();
  const [chosen, choose] = useState<Redeem>();
  const resume = useChange('POST /operator/redeems/{id}/resume', { refreshes });
  return (
    <Section title={text.redeems} description={text.redeemsBody}>
      <Card flush>
        <DataTable
          label={text.redeems}
          rows={redeems}
          rowKey={({ id }) => id}
          columns={[
            { key: 'id', label: text.redeem, cell: ({ id }) => <Hash value={id} label={text.redeem} /> },
            { key: 'owner', label: text.organization, cell: (row) => <Owner row={row} /> },
            { key: 'amount', label: text.amount, align: 'end', cell: ({ amountUsd }) => <Money amount={amountUsd} /> },
            {
              key: 'to',
              label: text.to,
              wideOnly: true,
              cell: ({ address }) => <Hash value={address} label={text.to} />,
            },
            {
              key: 'burn',
              label: text.burn,
              wideOnly: true,
              cell: ({ burnHash }) => (burnHash ? <Hash value={burnHash} label={text.burn} /> : '–'),
            },
            { key: 'why', label: text.why, cell: ({ reason }) => reason ?? '–' },
            { key: 'burned', label: text.burned, align: 'end', cell: ({ burnedAt }) => <Time value={burnedAt} /> },
          ]}
          actions={(row) => (
            <Button size="s" icon={Play} onClick={() => choose(row)}>
              {text.resume}
            </Button>
          )}
          empty={
            <EmptyState icon={CircleCheck} title={text.noRedeems}>
              {text.noRedeemsBody}
            </EmptyState>
          }
        />
      </Card>
      <ConfirmDialog
        open={chosen !== undefined}
        onClose={() => choose(undefined)}
        title={text.resumeTitle}
        action={text.resume}
        kind="primary"
        onConfirm={async () => {
          if (!chosen) return;
          await resume.mutateAsync({ params: { id: chosen.id } });
          toast.done(text.resumed);
        }}
      >
        {text.resumeBody(formatMoney(String(chosen?.amountUsd ?? 0), 'USD', language))}
      </ConfirmDialog>
    </Section>
  );
}

function Transfers({ transfers }: { transfers: readonly Transfer[] | undefined }) {
  const { stuck: text } = useWords(words);
  const language = useLanguage();
  const toast = useToast();
  const [chosen, choose] = useState<Transfer>();
  const resume = useChange('POST /operator/solana-transfers/{id}/resume', { refreshes });
  return (
    <Section title={text.transfers} description={text.transfersBody}>
      <Card flush>
        <DataTable
          label={text.transfers}
          rows={transfers}
          rowKey={({ id }) => id}
          columns={[
            { key: 'id', label: text.transfer, cell: ({ id }) => <Hash value={id} label={text.transfer} /> },
            { key: 'owner', label: text.organization, cell: (row) => <Owner row={row} /> },
            { key: 'amount', label: text.amount, align: 'end', cell: ({ amountUsd }) => <Money amount={amountUsd} /> },
            {
              key: 'to',
              label: text.to,
              wideOnly: true,
              cell: ({ recipient }) => <Hash value={recipient} label={text.to} />,
            },
            {
              key: 'burn',
              label: text.burn,
              wideOnly: true,
              cell: ({ burnHash }) => (burnHash ? <Hash value={burnHash} label={text.burn} /> : '–'),
            },
            { key: 'why', label: text.why, cell: ({ reason }) => reason ?? '–' },
            { key: 'created', label: text.created, align: 'end', cell: ({ createdAt }) => <Time value={createdAt} /> },
          ]}
          actions={(row) => (
            <Button size="s" icon={Play} onClick={() => choose(row)}>
              {text.resume}
            </Button>
          )}
          empty={
            <EmptyState icon={CircleCheck} title={text.noTransfers}>
              {text.noRedeemsBody}
            </EmptyState>
          }
        />
      </Card>
      <ConfirmDialog
        open={chosen !== undefined}
        onClose={() => choose(undefined)}
        title={text.resumeTransferTitle}
        action={text.resume}
        kind="primary"
        onConfirm={async () => {
          if (!chosen) return;
          await resume.mutateAsync({ params: { id: chosen.id } });
          toast.done(text.transferResumed);
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
