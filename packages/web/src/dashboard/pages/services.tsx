import type { OfferedSku } from '@svc/protocol';
import { Ellipsis, Pencil, Plus, ScanSearch, Store, Trash2 } from 'lucide-react';
import { useId, useState } from 'react';
import { Badge } from '../../ui/badge.tsx';
import { Button, IconButton } from '../../ui/button.tsx';
import { ConfirmDialog, Dialog } from '../../ui/dialog.tsx';
import { SelectField, SwitchField, TextAreaField, TextField } from '../../ui/fields.tsx';
import { Menu } from '../../ui/menu.tsx';
import { Card, EmptyState, ErrorNote, Note, PageHeader } from '../../ui/page.tsx';
import { type Column, DataTable, Pager } from '../../ui/table.tsx';
import { useToast } from '../../ui/toast.tsx';
import { Money } from '../../ui/values.tsx';
import { useChange, useRead } from '../api.ts';
import { useForm } from '../form.ts';
import { useSearchParam } from '../navigation.ts';
import { useSession } from '../session.tsx';
import { words } from '../words/services.ts';
import { words as shellWords } from '../words/shell.ts';
import { useWords } from '../words.ts';

const LIMIT = 25;
const refreshes = ['GET /organization/skus'] as const;
const categories = [
  ...(['TELEPEAJE', 'TELEFONICA', 'GENERAL', 'TESORERIA', 'LUZ', 'INTERNET', 'TV'] as const),
  ...(['MOVILIDAD', 'RECARGAS', 'GIFT_CARDS', 'GAMING', 'VENTAS_CATALOGO', 'DEPORTES', 'STREAMING'] as const),
];
type Category = (typeof categories)[number];
type Opened = { readonly kind: 'new' } | { readonly kind: 'edit' | 'delete' | 'check'; readonly sku: OfferedSku };

export default function ServicesPage() {
  const text = useWords(words);
  const { pages } = useWords(shellWords);
  const { can } = useSession();
  const [page, setPage] = useSearchParam('page', '1');
  const [opened, setOpened] = useState<Opened>();
  const columns = useColumns();
  const query = { page: Number(page) || 1, limit: LIMIT };
  const { data, error, refetch } = useRead('GET /organization/skus', { query }, { keepPrevious: true });
  const close = () => setOpened(undefined);
  const create = can('DEVELOPER') && (
    <Button kind="primary" icon={Plus} onClick={() => setOpened({ kind: 'new' })}>
      {text.create}
    </Button>
  );
  return (
    <>
      <PageHeader title={pages.services} description={text.description} actions={create} />
      <ErrorNote error={error} retry={() => void refetch()} />
      {!error && (
        <Card flush>
          <DataTable
            label={pages.services}
            columns={columns}
            rows={data?.data}
            rowKey={({ id }) => id}
            empty={
              <EmptyState icon={Store} title={text.none} action={create}>
                {text.noneNext}
              </EmptyState>
            }
            actions={(sku) => <RowActions sku={sku} open={setOpened} />}
          />
          {data && <Pager {...data} onPage={(next) => setPage(String(next))} />}
        </Card>
      )}
      {opened?.kind === 'new' && <ServiceDialog onClose={close} />}
      {opened?.kind === 'edit' && <ServiceDialog sku={opened.sku} onClose={close} />}
      {opened?.kind === 'check' && <CheckDialog sku={opened.sku} onClose={close} />}
      {opened?.kind === 'delete' && <DeleteDialog sku={opened.sku} onClose={close} />}
    </>
  );
}

function useColumns(): Column<OfferedSku>[] {
  const text = useWords(words);
  return [
    { key: 'name', label: text.name, main: true, cell: ({ name }) => name },
    { key: 'id', label: text.id, cell: ({ id }) => <span className="mono">{id}</span>, wideOnly: true },
    { key: 'category', label: text.category, cell: ({ category }) => <Badge>{category}</Badge> },
    {
      key: 'price',
      label: text.price,
      align: 'end',
      cell: ({ fixedAmount, currency }) =>
        fixedAmount === undefined ? (
          <span className="soft">{text.variable}</span>
        ) : (
          <Money amount={fixedAmount} unit={currency} />
        ),
    },
    { key: 'source', label: text.source, cell: ({ isOwn }) => (isOwn ? text.own : text.deployment) },
    { key: 'offered', label: text.offered, cell: (sku) => <OfferSwitch sku={sku} /> },
  ];
}

function OfferSwitch({ sku }: { sku: OfferedSku }) {
  const text = useWords(words);
  const toast = useToast();
  const { can } = useSession();
  const update = useChange('PATCH /organization/skus/{id}', { refreshes });
  const change = (isOffered: boolean) =>
    update.mutate({ params: { id: sku.id }, body: { isOffered } }, { onError: ({ message }) => toast.failed(message) });
  return (
    <SwitchField
      label={text.offer(sku.name)}
      hideLabel
      checked={update.isPending ? !sku.isOffered : sku.isOffered}
      onChange={change}
      disabled={!can('DEVELOPER') || update.isPending}
    />
  );
}

function RowActions({ sku, open }: { sku: OfferedSku; open: (opened: Opened) => void }) {
  const text = useWords(words);
  const { can } = useSession();
  const isEditable = sku.isOwn && can('DEVELOPER');
  return (
    <Menu
      trigger={<IconButton icon={Ellipsis} label={`${text.actions}: ${sku.name}`} size="s" />}
      items={[
        { label: text.check, icon: ScanSearch, onSelect: () => open({ kind: 'check', sku }) },
        ...(isEditable
          ? [
              { label: text.edit, icon: Pencil, onSelect: () => open({ kind: 'edit', sku }) },
              { label: text.delete, icon: Trash2, danger: true, onSelect: () => open({ kind: 'delete', sku }) },
            ]
          : []),
      ]}
    />
  );
}

function DeleteDialog({ sku, onClose }: { sku: OfferedSku; onClose: () => void }) {
  const text = useWords(words);
  const toast = useToast();
  const remove = useChange('DELETE /organization/skus/{id}', { refreshes });
  return (
    <ConfirmDialog
      open
      onClose={onClose}
      title={text.deleteTitle(sku.name)}
      action={text.delete}
      onConfirm={async () => {
        await remove.mutateAsync({ params: { id: sku.id } });
        toast.done(text.deleted);
      }}
    >
      {text.deleteBody}
    </ConfirmDialog>
  );
}

function CheckDialog({ sku, onClose }: { sku: OfferedSku; onClose: () => void }) {
  const text = useWords(words);
  const formId = useId();
  const check = useChange('POST /skus/{id}/check-reference');
  const form = useForm({
    initial: { reference: '' },
    onSubmit: ({ reference }) => check.mutateAsync({ params: { id: sku.id }, body: { reference } }),
  });
  const footer = (
    <Button type="submit" form={formId} kind="primary" pending={form.pending}>
      {text.checkAction}
    </Button>
  );
  return (
    <Dialog open onClose={onClose} title={text.checkTitle(sku.name)} footer={footer}>
      <form id={formId} className="form" onSubmit={form.onSubmit} noValidate>
        <TextField label={sku.referenceLabel || text.reference} {...form.field('reference')} />
        <div role="status">
          {check.data && (
            <Note tone={check.data.valid ? 'good' : 'bad'}>
              {check.data.valid ? text.valid : (check.data.reason ?? text.invalid)}
            </Note>
          )}
        </div>
        <ErrorNote error={form.failure} />
      </form>
    </Dialog>
  );
}

const ANY_AMOUNT = '^[1-9][0-9]{0,5}(\\.[0-9]{1,2})?$';

const initialOf = (sku?: OfferedSku) => ({
  id: sku?.id ?? '',
  name: sku?.name ?? '',
  description: sku?.description ?? '',
  providerId: sku?.providerId ?? '',
  category: (sku?.category ?? 'GENERAL') as Category,
  referenceLabel: sku?.referenceLabel ?? '',
  referenceRegexValidation: sku?.referenceRegexValidation ?? '',
  amountLabel: sku?.amountLabel ?? '',
  amountRegexValidation: sku?.amountRegexValidation ?? ANY_AMOUNT,
  fixedAmount: sku?.fixedAmount === undefined ? '' : String(sku.fixedAmount),
  currency: sku?.currency ?? ('MXN' as const),
  canCheckSkuReference: sku?.canCheckSkuReference ?? true,
  logoUrl: sku?.logoUrl ?? '',
  isOffered: sku?.isOffered ?? true,
});

const required = ['id', 'name', 'providerId', 'referenceLabel', 'referenceRegexValidation', 'amountLabel'] as const;

function ServiceDialog({ sku, onClose }: { sku?: OfferedSku; onClose: () => void }) {
  const text = useWords(words);
  const toast = useToast();
  const formId = useId();
  const create = useChange('POST /organization/skus', { refreshes });
  const update = useChange('PATCH /organization/skus/{id}', { refreshes });
  const form = useForm({
    initial: initialOf(sku),
    check: (values) => ({
      ...Object.fromEntries(required.filter((name) => values[name].trim() === '').map((name) => [name, text.missing])),
      ...(values.fixedAmount !== '' && !(Number(values.fixedAmount) > 0) && { fixedAmount: text.wrongNumber }),
    }),
    onSubmit: async ({ id, description, logoUrl, fixedAmount, ...rest }) => {
      const fixed = fixedAmount === '' ? undefined : Number(fixedAmount);
      if (sku) {
        const cleared = { description: description || null, logoUrl: logoUrl || null, fixedAmount: fixed ?? null };
        await update.mutateAsync({ params: { id }, body: { ...rest, ...cleared } });
      } else {
        const given = { ...(description && { description }), ...(logoUrl && { logoUrl }) };
        await create.mutateAsync({
          body: { id, ...rest, ...given, ...(fixed !== undefined && { fixedAmount: fixed }) },
        });
      }
      toast.done(text.saved);
      onClose();
    },
  });
  const footer = (
    <Button type="submit" form={formId} kind="primary" pending={form.pending}>
      {text.save}
    </Button>
  );
  return (
    <Dialog open onClose={onClose} title={sku ? text.editTitle : text.newTitle} footer={footer} size="l">
      <form id={formId} className="stack" onSubmit={form.onSubmit} noValidate>
        <div className="grid">
          <TextField label={text.name} maxLength={200} {...form.field('name')} />
          <TextField label={text.id} hint={text.idHint} mono maxLength={31} disabled={!!sku} {...form.field('id')} />
          <TextField label={text.provider} hint={text.providerHint} maxLength={64} {...form.field('providerId')} />
          <SelectField
            label={text.category}
            options={categories.map((name) => [name, name] as const)}
            {...form.field('category')}
          />
        </div>
        <TextAreaField
          label={text.descriptionLabel}
          optional
          rows={2}
          maxLength={2000}
          {...form.field('description')}
        />
        <div className="grid">
          <TextField label={text.referenceLabel} maxLength={200} {...form.field('referenceLabel')} />
          <TextField
            label={text.referencePattern}
            hint={text.patternHint}
            mono
            maxLength={256}
            {...form.field('referenceRegexValidation')}
          />
          <TextField label={text.amountLabel} maxLength={200} {...form.field('amountLabel')} />
          <TextField label={text.amountPattern} mono maxLength={256} {...form.field('amountRegexValidation')} />
          <TextField
            label={text.fixedAmount}
            hint={text.fixedHint}
            optional
            inputMode="decimal"
            {...form.field('fixedAmount')}
          />
          <SelectField
            label={text.currency}
            options={[
              ['MXN', 'MXN'],
              ['USD', 'USD'],
            ]}
            {...form.field('currency')}
          />
        </div>
        <TextField label={text.logoUrl} optional type="url" maxLength={2000} {...form.field('logoUrl')} />
        <SwitchField
          label={text.canCheck}
          checked={form.values.canCheckSkuReference}
          onChange={(canCheckSkuReference) => form.set({ canCheckSkuReference })}
        />
        <SwitchField
          label={text.isOffered}
          checked={form.values.isOffered}
          onChange={(isOffered) => form.set({ isOffered })}
        />
        <ErrorNote error={form.failure} />
      </form>
    </Dialog>
  );
}
