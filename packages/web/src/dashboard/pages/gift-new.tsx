import type { Gift } from '@svc/protocol';
import { formatUsd, GIFT_CODE, readGiftAmount } from '@svc/protocol/values';
import { RefreshCw } from 'lucide-react';
import { useState } from 'react';
import { Button, LinkButton } from '../../ui/button.tsx';
import { SelectField, SwitchField, TextField } from '../../ui/fields.tsx';
import { useLanguage } from '../../ui/language.ts';
import { Card, ErrorNote, Note, PageHeader } from '../../ui/page.tsx';
import { QrCode } from '../../ui/qr-code.tsx';
import { CopyButton, formatMoney, Hash } from '../../ui/values.tsx';
import { useChange, useRead } from '../api.ts';
import { useForm } from '../form.ts';
import { suggestCode } from '../gift-codes.ts';
import { words } from '../words/gifts.ts';
import { words as shellWords } from '../words/shell.ts';
import { useWords } from '../words.ts';
import './gifts.css';

const giftTypes = ['GIFT_CARD', 'PROMOTIONAL', 'REFERRAL', 'LOYALTY', 'COMPENSATION'] as const;
type GiftType = (typeof giftTypes)[number];

export default function GiftNewPage() {
  const text = useWords(words);
  const { pages } = useWords(shellWords);
  const [created, setCreated] = useState<Gift>();
  return (
    <>
      <PageHeader
        title={pages.giftNew}
        description={text.newDescription}
        parents={[{ label: pages.gifts, to: '/gifts' }]}
      />
      {created ? (
        <Created gift={created} another={() => setCreated(undefined)} />
      ) : (
        <Card>
          <NewGift onCreated={setCreated} />
        </Card>
      )}
    </>
  );
}

const initial = () => ({
  name: '',
  code: suggestCode(),
  amount: '',
  type: 'GIFT_CARD' as GiftType,
  maxRedeems: '1',
  maxRedeemsPerUser: '1',
  startsAt: '',
  expiresAt: '',
  cctpFast: true,
});

function NewGift({ onCreated }: { onCreated: (gift: Gift) => void }) {
  const text = useWords(words);
  const language = useLanguage();
  const [start] = useState(initial);
  const organization = useRead('GET /organization');
  const create = useChange('POST /gifts', {
    refreshes: ['GET /gifts', 'GET /gifts/usage', 'GET /organization', 'GET /organization/holds'],
  });
  const form = useForm({
    initial: start,
    check: (values) => faults(values, text),
    onSubmit: async ({ amount, maxRedeems, maxRedeemsPerUser, startsAt, expiresAt, ...rest }) =>
      onCreated(
        await create.mutateAsync({
          body: {
            ...rest,
            // Exact: at most eleven digits.
            amount: Number(amount.trim()),
            maxRedeems: Number(maxRedeems),
            maxRedeemsPerUser: Number(maxRedeemsPerUser),
            startsAt: (startsAt === '' ? new Date() : new Date(startsAt)).toISOString(),
            expiresAt: expiresAt === '' ? null : new Date(expiresAt).toISOString(),
            isActive: true,
          },
        }),
      ),
  });
  const micros = readGiftAmount(form.values.amount);
  const count = readCount(form.values.maxRedeems);
  const available = organization.data?.balance.availableUsd;
  return (
    <form className="form" onSubmit={form.onSubmit} noValidate>
      <TextField label={text.name} hint={text.nameHint} autoFocus maxLength={200} {...form.field('name')} />
      <TextField
        label={text.code}
        hint={text.codeHint}
        mono
        autoComplete="off"
        {...form.field('code')}
        after={
          <Button size="s" kind="quiet" icon={RefreshCw} onClick={() => form.set({ code: suggestCode() })}>
            {text.suggest}
          </Button>
        }
      />
      <TextField label={text.amountLabel} inputMode="decimal" after="USDC" {...form.field('amount')} />
      <div className="grid">
        <TextField label={text.maxRedeems} inputMode="numeric" {...form.field('maxRedeems')} />
        <TextField label={text.maxPerUser} inputMode="numeric" {...form.field('maxRedeemsPerUser')} />
      </div>
      <SelectField
        label={text.type}
        options={giftTypes.map((type) => [type, text.types[type]] as const)}
        {...form.field('type')}
      />
      <div className="grid">
        <TextField
          label={text.starts}
          hint={text.startsHint}
          type="datetime-local"
          optional
          {...form.field('startsAt')}
        />
        <TextField label={text.expires} type="datetime-local" optional {...form.field('expiresAt')} />
      </div>
      <SwitchField
        label={text.fast}
        hint={text.fastHint}
        checked={form.values.cctpFast}
        onChange={(cctpFast) => form.set({ cctpFast })}
      />
      {micros !== undefined && count !== undefined && (
        <Note tone="plain">
          <p>{text.needed(formatMoney(formatUsd(micros * BigInt(count)), 'USD', language))}</p>
          {available !== undefined && (
            <p className="soft">{text.available(formatMoney(String(available), 'USD', language))}</p>
          )}
        </Note>
      )}
      <ErrorNote error={form.failure} />
      <div className="row">
        <Button type="submit" kind="primary" pending={form.pending}>
          {text.createAction}
        </Button>
      </div>
    </form>
  );
}

const MAX_REDEEMS = 1_000_000;

function readCount(text: string): number | undefined {
  const count = /^\d{1,7}$/.test(text) ? Number(text) : 0;
  return count >= 1 && count <= MAX_REDEEMS ? count : undefined;
}

type Values = ReturnType<typeof initial>;
type Texts = Record<'wrongName' | 'wrongCode' | 'wrongAmount' | 'wrongCount' | 'wrongPerUser' | 'wrongExpiry', string>;

function faults(values: Values, text: Texts): Partial<Record<keyof Values, string>> {
  const [total, perUser] = [readCount(values.maxRedeems), readCount(values.maxRedeemsPerUser)];
  const starts = values.startsAt === '' ? Date.now() : Date.parse(values.startsAt);
  const isPast = values.expiresAt !== '' && Date.parse(values.expiresAt) <= Math.max(starts, Date.now());
  return {
    ...(values.name.trim() === '' && { name: text.wrongName }),
    ...(!GIFT_CODE.test(values.code) && { code: text.wrongCode }),
    ...(readGiftAmount(values.amount) === undefined && { amount: text.wrongAmount }),
    ...(total === undefined && { maxRedeems: text.wrongCount }),
    ...((perUser === undefined || (total !== undefined && perUser > total)) && {
      maxRedeemsPerUser: perUser === undefined ? text.wrongCount : text.wrongPerUser,
    }),
    ...(isPast && { expiresAt: text.wrongExpiry }),
  };
}

function Created({ gift, another }: { gift: Gift; another: () => void }) {
  const text = useWords(words);
  return (
    <Card>
      <div className="stack" role="status">
        <div>
          <h2>{text.createdTitle}</h2>
          <p className="soft">{text.createdNote}</p>
        </div>
        <ClaimLink gift={gift} />
        <div className="row">
          <CopyButton text value={gift.claimUrl} label={text.claimLink} />
          <LinkButton to={`/gifts/${gift.id}`}>{text.open}</LinkButton>
          <LinkButton to={`/gifts/cards?gifts=${gift.id}`}>{text.card}</LinkButton>
          <Button onClick={another}>{text.another}</Button>
        </div>
      </div>
    </Card>
  );
}

/** The link, its QR code and the code. */
export function ClaimLink({ gift }: { gift: Pick<Gift, 'claimUrl' | 'code' | 'name'> }) {
  const text = useWords(words);
  return (
    <div className="claim-link">
      <QrCode value={gift.claimUrl} size={176} label={text.qrOf(gift.name)} />
      <div className="stack">
        <div>
          <p className="soft">{text.claimLink}</p>
          <Hash value={gift.claimUrl} label={text.claimLink} href={gift.claimUrl} full />
        </div>
        <div>
          <p className="soft">{text.code}</p>
          <Hash value={gift.code} label={text.code} full />
        </div>
      </div>
    </div>
  );
}
