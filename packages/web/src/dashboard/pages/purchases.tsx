import type { Transaction } from '@svc/protocol';
import { ShoppingBag } from 'lucide-react';
import { StatusBadge } from '../../ui/badge.tsx';
import { LinkButton } from '../../ui/button.tsx';
import { SelectField } from '../../ui/fields.tsx';
import { Card, DescriptionList, EmptyState, ErrorNote, Note, PageHeader, Skeleton } from '../../ui/page.tsx';
import { type Column, DataTable, Pager } from '../../ui/table.tsx';
import { Hash, Money, Time } from '../../ui/values.tsx';
import { useRead } from '../api.ts';
import { useSearchParam } from '../navigation.ts';
import { NoMatches } from '../no-matches.tsx';
import { ServiceName } from '../service-name.tsx';
import { words } from '../words/purchases.ts';
import { words as shellWords } from '../words/shell.ts';
import { useWords } from '../words.ts';

const LIMIT = 25;
const statuses = ['PENDING', 'PROCESSING', 'SUCCESS', 'FAILED', 'CANCELLED'] as const;
const refunds = ['DUE', 'REFUNDING', 'REFUNDED'] as const;

export default function PurchasesPage() {
  const text = useWords(words);
  const { pages } = useWords(shellWords);
  const [status, setStatus] = useSearchParam('status');
  const [refund, setRefund] = useSearchParam('refund');
  const [page, setPage] = useSearchParam('page', '1');
  const columns = usePurchaseColumns();
  const query = {
    page: Number(page) || 1,
    limit: LIMIT,
    ...(statuses.some((known) => known === status) && { status: status as (typeof statuses)[number] }),
    ...(refunds.some((known) => known === refund) && { refundStatus: refund as (typeof refunds)[number] }),
  };
  const { data, error, refetch } = useRead('GET /sku-purchases', { query }, { live: true, keepPrevious: true });
  const filter = (set: (value: string) => void) => (value: string) => {
    set(value);
    setPage('1');
  };
  const none = (
    <EmptyState icon={ShoppingBag} title={text.none} action={<LinkButton to="/services">{text.toServices}</LinkButton>}>
      {text.noneNext}
    </EmptyState>
  );
  return (
    <>
      <PageHeader title={pages.purchases} description={text.description} />
      <div className="stack">
        <Provider />
        <div>
          <div className="filters">
            <SelectField
              hideLabel
              label={text.status}
              value={status}
              onChange={filter(setStatus)}
              options={[['', text.allStatuses], ...statuses.map((name) => [name, text.statuses[name]] as const)]}
            />
            <SelectField
              hideLabel
              label={text.refund}
              value={refund}
              onChange={filter(setRefund)}
              options={[['', text.allRefunds], ...refunds.map((name) => [name, text.refunds[name]] as const)]}
            />
          </div>
          <ErrorNote error={error} retry={() => void refetch()} />
          {!error && (
            <Card flush>
              <DataTable
                label={pages.purchases}
                columns={columns}
                rows={data?.data}
                rowKey={({ id }) => id}
                rowTo={({ id }) => `/purchases/${id}`}
                empty={
                  status === '' && refund === '' ? (
                    none
                  ) : (
                    <NoMatches icon={ShoppingBag} title={text.noMatches} to="/purchases" />
                  )
                }
              />
              {data && <Pager {...data} onPage={(next) => setPage(String(next))} />}
            </Card>
          )}
        </div>
      </div>
    </>
  );
}

function usePurchaseColumns(): Column<Transaction>[] {
  const text = useWords(words);
  return [
    {
      key: 'service',
      label: text.service,
      main: true,
      cell: ({ skuId }) => (skuId ? <ServiceName id={skuId} /> : '–'),
    },
    {
      key: 'reference',
      label: text.reference,
      cell: ({ skuReference }) => <span className="mono">{skuReference}</span>,
    },
    {
      key: 'price',
      label: text.price,
      align: 'end',
      cell: ({ skuPurchaseAmount, skuPurchaseCurrency }) => (
        <Money amount={skuPurchaseAmount ?? 0} unit={skuPurchaseCurrency ?? 'MXN'} />
      ),
    },
    {
      key: 'payer',
      label: text.payer,
      wideOnly: true,
      cell: ({ senderAddress }) => <Hash value={senderAddress} label={text.payer} />,
    },
    {
      key: 'status',
      label: text.status,
      cell: ({ status, refundStatus }) => (
        <span className="row">
          <StatusBadge status={status} />
          {refundStatus && <StatusBadge status={refundStatus} />}
        </span>
      ),
    },
    { key: 'time', label: text.time, cell: ({ createdAt }) => <Time value={createdAt} /> },
  ];
}

function Provider() {
  const { provider: text } = useWords(words);
  const { data, error, refetch } = useRead('GET /organization/provider-status');
  if (error) return <ErrorNote error={error} retry={() => void refetch()} />;
  if (!data) return <Skeleton lines={3} />;
  return (
    <Card
      title={text.title}
      actions={
        <StatusBadge
          status={data.configured ? 'ACTIVE' : 'INACTIVE'}
          label={data.configured ? text.ready : text.missing}
        />
      }
    >
      <div className="stack">
        {!data.configured && <Note tone="warn">{text.missingNote}</Note>}
        <DescriptionList
          columns={2}
          rows={[
            [text.pending, data.pending],
            [text.oldest, data.oldestPendingAt === null ? undefined : <Time key="t" value={data.oldestPendingAt} />],
            [text.completed, <Time key="c" value={data.lastCompletedAt} none={text.never} />],
            [text.failed, <Time key="f" value={data.lastFailedAt} none={text.never} />],
            [text.reason, data.lastFailure ?? undefined],
          ]}
        />
      </div>
    </Card>
  );
}
