import type { Gift } from '@svc/protocol';
import { Pencil, Power, Printer, Trash2 } from 'lucide-react';
import { useId, useState } from 'react';
import { Badge } from '../../ui/badge.tsx';
import { Button, LinkButton } from '../../ui/button.tsx';
import { ConfirmDialog, Dialog } from '../../ui/dialog.tsx';
import { TextField } from '../../ui/fields.tsx';
import { useLanguage } from '../../ui/language.ts';
import { Link } from '../../ui/link.tsx';
import { Card, DescriptionList, ErrorNote, PageHeader, Section, Skeleton } from '../../ui/page.tsx';
import { useToast } from '../../ui/toast.tsx';
import { formatMoney, Hash, Money, Time } from '../../ui/values.tsx';
import { type ReadKey, useChange, useRead } from '../api.ts';
import { useForm } from '../form.ts';
import { useNavigateTo, useParam } from '../navigation.ts';
import { useSession } from '../session.tsx';
import { words } from '../words/gifts.ts';
import { words as shellWords } from '../words/shell.ts';
import { useWords } from '../words.ts';
import { ClaimLink } from './gift-new.tsx';
import { GiftBadge, RedeemList } from './gifts.tsx';
import './gifts.css';

const affected: readonly ReadKey[] = [
  'GET /gifts',
  'GET /gifts/{id}',
  'GET /gifts/usage',
  'GET /gifts/campaigns',
  'GET /organization',
  'GET /organization/holds',
  'GET /organization/ledger',
];

export default function GiftPage() {
  const text = useWords(words);
  const { pages } = useWords(shellWords);
  const id = useParam('id');
  const { data: gift, error, refetch } = useRead('GET /gifts/{id}', { params: { id } });
  const parents = [{ label: pages.gifts, to: '/gifts' }];
  if (!gift) {
    return (
      <>
        <PageHeader title={pages.gift} parents={parents} />
        {error ? <ErrorNote error={error} retry={() => void refetch()} /> : <Skeleton lines={8} />}
      </>
    );
  }
  return (
    <>
      <PageHeader
        title={gift.name}
        parents={parents}
        badge={<GiftBadge gift={gift} />}
        actions={<Actions gift={gift} />}
      />
      <div className="stack">
        <Card>
          <ClaimLink gift={gift} />
        </Card>
        <Card title={text.facts}>
          <DescriptionList columns={2} rows={factsOf(gift, text)} />
        </Card>
        <Section title={text.redemptions}>
          <RedeemList giftId={gift.id} />
        </Section>
      </div>
    </>
  );
}

type Texts = ReturnType<typeof useWords<(typeof words)['en']>>;

const factsOf = (gift: Gift, text: Texts) =>
  [
    [text.amount, <Money key="amount" amount={gift.amount} unit="USDC" />],
    [text.redeemed, `${gift.totalRedeems} / ${gift.maxRedeems}`],
    [text.perWallet, gift.maxRedeemsPerUser],
    [text.held, gift.totalHeldUsd === null ? '–' : <Money key="held" amount={gift.totalHeldUsd} />],
    [text.paidOut, <Money key="paid" amount={gift.totalRedeemedUsd ?? 0} />],
    [text.starts, <Time key="starts" value={gift.startsAt} exact />],
    [text.expires, <Time key="expires" value={gift.expiresAt} exact none={text.never} />],
    [text.type, <Badge key="type">{text.types[gift.type]}</Badge>],
    [
      text.campaign,
      gift.campaignName === null ? undefined : (
        <Link key="campaign" to={`/gifts?campaign=${encodeURIComponent(gift.campaignName)}`}>
          {gift.campaignName}
        </Link>
      ),
    ],
    [text.recipient, gift.recipientEmail ?? undefined],
    [text.id, <Hash key="id" value={gift.id} label={text.id} />],
  ] as const;

function Actions({ gift }: { gift: Gift }) {
  const text = useWords(words);
  const language = useLanguage();
  const toast = useToast();
  const navigate = useNavigateTo();
  const { can } = useSession();
  const [open, setOpen] = useState<'edit' | 'off' | 'delete'>();
  const update = useChange('PATCH /gifts/{id}', { refreshes: affected });
  const remove = useChange('DELETE /gifts/{id}', { refreshes: affected.filter((key) => key !== 'GET /gifts/{id}') });
  const params = { id: gift.id };
  const setActive = async (isActive: boolean) => {
    await update.mutateAsync({ params, body: { isActive } });
    toast.done(text.saved);
  };
  const held = formatMoney(String(gift.totalHeldUsd ?? 0), 'USD', language);
  const close = () => setOpen(undefined);
  return (
    <>
      <LinkButton to={`/gifts/cards?gifts=${gift.id}`} icon={Printer}>
        {text.card}
      </LinkButton>
      {can('DEVELOPER') && (
        <>
          <Button icon={Pencil} onClick={() => setOpen('edit')}>
            {text.edit}
          </Button>
          <Button
            icon={Power}
            pending={update.isPending}
            onClick={() =>
              gift.isActive
                ? setOpen('off')
                : void setActive(true).catch((error: Error) => toast.failed(text.switchOn, error.message))
            }
          >
            {gift.isActive ? text.switchOff : text.switchOn}
          </Button>
          <Button icon={Trash2} kind="danger" onClick={() => setOpen('delete')}>
            {text.delete}
          </Button>
          {open === 'edit' && <EditDialog gift={gift} onClose={close} />}
          <ConfirmDialog
            open={open === 'off'}
            onClose={close}
            title={text.switchOffTitle}
            action={text.switchOff}
            onConfirm={() => setActive(false)}
          >
            {text.switchOffBody}
          </ConfirmDialog>
          <ConfirmDialog
            open={open === 'delete'}
            onClose={close}
            title={text.deleteTitle}
            action={text.delete}
            onConfirm={async () => {
              const { releasedUsd } = await remove.mutateAsync({ params });
              toast.done(text.deleted(formatMoney(String(releasedUsd), 'USD', language)));
              navigate('/gifts', true);
            }}
          >
            {text.deleteBody(held)}
          </ConfirmDialog>
        </>
      )}
    </>
  );
}

function EditDialog({ gift, onClose }: { gift: Gift; onClose: () => void }) {
  const text = useWords(words);
  const toast = useToast();
  const formId = useId();
  const update = useChange('PATCH /gifts/{id}', { refreshes: affected });
  const form = useForm({
    initial: { name: gift.name, expiresAt: toLocal(gift.expiresAt) },
    check: ({ name }) => (name.trim() === '' ? { name: text.wrongName } : {}),
    onSubmit: async ({ name, expiresAt }) => {
      const expiry = expiresAt === '' ? null : new Date(expiresAt).toISOString();
      const isMoved = expiresAt !== toLocal(gift.expiresAt);
      await update.mutateAsync({ params: { id: gift.id }, body: { name, ...(isMoved && { expiresAt: expiry }) } });
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
    <Dialog open onClose={onClose} title={text.editTitle} footer={footer} size="s">
      <form id={formId} className="form" onSubmit={form.onSubmit} noValidate>
        <TextField label={text.name} maxLength={200} {...form.field('name')} />
        <TextField
          label={text.expires}
          hint={text.expiresHint}
          type="datetime-local"
          optional
          {...form.field('expiresAt')}
        />
        <ErrorNote error={form.failure} />
      </form>
    </Dialog>
  );
}

/** As a `datetime-local` field wants it: the reader's time, without a zone. */
function toLocal(moment: string | null): string {
  if (moment === null) return '';
  const date = new Date(moment);
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}
