import type { Transaction } from '@svc/protocol';
import { useId, useState } from 'react';
import { StatusBadge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { ConfirmDialog, Dialog } from '../../ui/dialog.tsx';
import { TextField } from '../../ui/fields.tsx';
import { Card, DescriptionList, ErrorNote, Note, PageHeader, Skeleton } from '../../ui/page.tsx';
import { useToast } from '../../ui/toast.tsx';
import { Hash, Money, Time } from '../../ui/values.tsx';
import { useTokenAmount } from '../amounts.tsx';
import { type ReadKey, useChange, useRead } from '../api.ts';
import { useForm } from '../form.ts';
import { useParam } from '../navigation.ts';
import { ServiceName, useServiceName } from '../service-name.tsx';
import { useSession } from '../session.tsx';
import { words } from '../words/purchases.ts';
import { words as shellWords } from '../words/shell.ts';
import { useWords } from '../words.ts';

const affected: readonly ReadKey[] = [
  'GET /sku-purchases',
  'GET /sku-purchases/{id}',
  'GET /organization/provider-status',
];

export default function PurchasePage() {
  const text = useWords(words);
  const { pages } = useWords(shellWords);
  const id = useParam('id');
  const { data, error, refetch } = useRead('GET /sku-purchases/{id}', { params: { id } }, { live: true });
  const name = useServiceName(data?.skuId);
  const parents = [{ label: pages.purchases, to: '/purchases' }];
  if (!data) {
    return (
      <>
        <PageHeader title={pages.purchase} parents={parents} />
        {error ? <ErrorNote error={error} retry={() => void refetch()} /> : <Skeleton lines={8} />}
      </>
    );
  }
  return (
    <>
      <PageHeader
        title={name ?? pages.purchase}
        parents={parents}
        badge={
          <>
            <StatusBadge status={data.status} />
            {data.refundStatus && <StatusBadge status={data.refundStatus} />}
          </>
        }
        actions={<Actions purchase={data} />}
      />
      <div className="stack">
        {data.refundStatus === 'DUE' && <Note tone="warn">{text.dueNote}</Note>}
        <Facts purchase={data} />
      </div>
    </>
  );
}

function Facts({ purchase }: { purchase: Transaction }) {
  const text = useWords(words);
  const paid = usePaid(purchase);
  return (
    <>
      <Card title={text.facts}>
        <DescriptionList
          columns={2}
          rows={[
            [text.service, purchase.skuId && <ServiceName key="n" id={purchase.skuId} />],
            [
              text.serviceId,
              purchase.skuId && (
                <span key="k" className="mono">
                  {purchase.skuId}
                </span>
              ),
            ],
            [
              text.reference,
              <span key="r" className="mono">
                {purchase.skuReference}
              </span>,
            ],
            [
              text.price,
              <Money key="p" amount={purchase.skuPurchaseAmount ?? 0} unit={purchase.skuPurchaseCurrency ?? 'MXN'} />,
            ],
            [text.fileNumber, purchase.skuFileNumber],
            [text.failure, purchase.failureReason],
            [text.recorded, <Time key="c" value={purchase.createdAt} exact />],
            [text.confirmed, purchase.confirmedAt && <Time key="d" value={purchase.confirmedAt} exact />],
            [text.updated, <Time key="u" value={purchase.updatedAt} exact />],
            [text.id, <Hash key="i" value={purchase.id} label={text.id} />],
          ]}
        />
      </Card>
      <Card title={text.payment}>
        <DescriptionList
          rows={[
            [text.paid, paid && <Money key="a" amount={paid} unit={purchase.token ?? ''} />],
            [text.payer, <Hash key="s" value={purchase.senderAddress} label={text.payer} full />],
            [text.hash, <Hash key="h" value={purchase.transactionHash} label={text.hash} full />],
            [
              text.refundHash,
              purchase.refundTransactionHash && (
                <Hash key="b" value={purchase.refundTransactionHash} label={text.refundHash} full />
              ),
            ],
          ]}
        />
      </Card>
    </>
  );
}

function usePaid({ amount, token }: Transaction): string | undefined {
  const format = useTokenAmount();
  return amount === undefined ? undefined : format(amount, token);
}

function Actions({ purchase }: { purchase: Transaction }) {
  const text = useWords(words);
  const toast = useToast();
  const { can } = useSession();
  const [open, setOpen] = useState<'cancel' | 'refund' | 'own'>();
  const cancel = useChange('POST /sku-purchases/{id}/cancel', { refreshes: affected });
  const refund = useChange('POST /sku-purchases/{id}/refund', { refreshes: affected });
  const paid = usePaid(purchase);
  const params = { id: purchase.id };
  const close = () => setOpen(undefined);
  if (!can('DEVELOPER')) return null;
  return (
    <>
      {purchase.status === 'PENDING' && <Button onClick={() => setOpen('cancel')}>{text.cancel}</Button>}
      {purchase.refundStatus === 'DUE' && (
        <>
          <Button onClick={() => setOpen('own')}>{text.ownRefund}</Button>
          <Button kind="primary" onClick={() => setOpen('refund')}>
            {text.refundAction}
          </Button>
        </>
      )}
      <ConfirmDialog
        open={open === 'cancel'}
        onClose={close}
        title={text.cancelTitle}
        action={text.cancel}
        onConfirm={async () => {
          await cancel.mutateAsync({ params });
          toast.done(text.cancelled);
        }}
      >
        {text.cancelBody}
      </ConfirmDialog>
      <ConfirmDialog
        open={open === 'refund'}
        onClose={close}
        title={text.refundTitle}
        action={text.refundAction}
        kind="primary"
        onConfirm={async () => {
          await refund.mutateAsync({ params, body: {} });
          toast.done(text.refundStarted);
        }}
      >
        {text.refundBody(`${paid ?? ''} ${purchase.token ?? ''}`)}
      </ConfirmDialog>
      {open === 'own' && <OwnRefund id={purchase.id} onClose={close} />}
    </>
  );
}

function OwnRefund({ id, onClose }: { id: string; onClose: () => void }) {
  const text = useWords(words);
  const toast = useToast();
  const formId = useId();
  const refund = useChange('POST /sku-purchases/{id}/refund', { refreshes: affected });
  const form = useForm({
    initial: { transactionHash: '' },
    check: ({ transactionHash }) => (transactionHash.trim() === '' ? { transactionHash: text.ownHash } : {}),
    onSubmit: async ({ transactionHash }) => {
      await refund.mutateAsync({ params: { id }, body: { transactionHash: transactionHash.trim() } });
      toast.done(text.recordedDone);
      onClose();
    },
  });
  const footer = (
    <Button type="submit" form={formId} kind="primary" pending={form.pending}>
      {text.record}
    </Button>
  );
  return (
    <Dialog open onClose={onClose} title={text.ownRefundTitle} description={text.ownRefundBody} footer={footer}>
      <form id={formId} className="form" onSubmit={form.onSubmit} noValidate>
        <TextField label={text.ownHash} mono {...form.field('transactionHash')} />
        <ErrorNote error={form.failure} />
      </form>
    </Dialog>
  );
}
