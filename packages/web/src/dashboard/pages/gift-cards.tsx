import type { Gift } from '@svc/protocol';
import { useQuery } from '@tanstack/react-query';
import { Printer } from 'lucide-react';
import { useState } from 'react';
import { Button, LinkButton } from '../../ui/button.tsx';
import { CheckboxField, SelectField } from '../../ui/fields.tsx';
import { type Language, languages, localeOf, useLanguage } from '../../ui/language.ts';
import { EmptyState, ErrorNote, Note, PageHeader, Skeleton } from '../../ui/page.tsx';
import { QrCode } from '../../ui/qr-code.tsx';
import { type ApiFailure, request, useCursorList, useRead } from '../api.ts';
import { useEnvironment } from '../environment.ts';
import { statusOfGift } from '../gift-codes.ts';
import { useSearchParam } from '../navigation.ts';
import { cardTexts, words } from '../words/gifts.ts';
import { words as shellWords } from '../words/shell.ts';
import { useWords } from '../words.ts';
import './gift-cards.css';

const PAGE_SIZE = 100;
const MAX_CARDS = 1_000;
const ACTIVE = 'active';
const SELECTED = 'selected';

/** Gifts of the address (`gifts=id,id`), of a campaign, or all that are active. */
export default function GiftCardsPage() {
  const text = useWords(words);
  const { pages } = useWords(shellWords);
  const reader = useLanguage();
  const number = new Intl.NumberFormat(localeOf(reader));
  const [ids, setIds] = useSearchParam('gifts');
  const [campaign, setCampaign] = useSearchParam('campaign');
  const [language, setLanguage] = useState<Language>(reader);
  const [left, setLeft] = useState<ReadonlySet<string>>(new Set());
  const campaigns = useCursorList('GET /gifts/campaigns', { query: { limit: 100 } });
  const { data, error, refetch } = useGifts(ids, campaign);
  const orgName = useRead('GET /organization').data?.name ?? '';
  const cards = (data?.gifts ?? []).filter((gift) => statusOfGift(gift) === 'ACTIVE');
  const printed = cards.filter(({ id }) => !left.has(id));
  const names = new Set([...(campaigns.rows ?? []).map(({ name }) => name), ...(campaign ? [campaign] : [])]);
  const source = ids !== '' ? SELECTED : campaign !== '' ? `campaign ${campaign}` : ACTIVE;
  const choose = (value: string) => {
    if (value === SELECTED) return;
    setIds('');
    setCampaign(value === ACTIVE ? '' : value.slice('campaign '.length));
  };
  return (
    <>
      <div className="no-print">
        <PageHeader
          title={pages.giftCards}
          description={text.cardsDescription}
          parents={[{ label: pages.gifts, to: '/gifts' }]}
          actions={
            <Button kind="primary" icon={Printer} disabled={printed.length === 0} onClick={() => print()}>
              {text.print}
            </Button>
          }
        />
        <div className="filters">
          <SelectField
            label={text.cardsOf}
            value={source}
            onChange={choose}
            options={[
              ...(ids !== '' ? [[SELECTED, text.cardsSelected] as const] : []),
              [ACTIVE, text.cardsActive],
              ...[...names].map((name) => [`campaign ${name}`, name] as const),
            ]}
          />
          <SelectField
            label={text.cardLanguage}
            value={language}
            onChange={setLanguage}
            options={Object.entries(languages) as [Language, string][]}
          />
          <span className="soft" role="status">
            {data && text.cardCount(number.format(printed.length))}
          </span>
        </div>
        {data?.isCut && <Note tone="warn">{text.tooManyCards(number.format(MAX_CARDS))}</Note>}
        <ErrorNote error={error} retry={() => void refetch()} />
        {!data && !error && <Skeleton lines={8} />}
        {data && cards.length === 0 && (
          <EmptyState title={text.noCards} action={<LinkButton to="/gifts/new">{text.create}</LinkButton>}>
            {text.noCardsNext}
          </EmptyState>
        )}
      </div>
      <ul className="gift-cards" lang={language}>
        {cards.map((gift) => (
          <li key={gift.id} className="gift-card-place" data-left={left.has(gift.id) || undefined}>
            <GiftCard gift={gift} orgName={orgName} language={language} />
            <div className="no-print">
              <CheckboxField
                label={<span className="hidden">{text.includeCard(gift.code)}</span>}
                checked={!left.has(gift.id)}
                onChange={(isIn) =>
                  setLeft(new Set(isIn ? [...left].filter((id) => id !== gift.id) : [...left, gift.id]))
                }
              />
            </div>
          </li>
        ))}
      </ul>
    </>
  );
}

function useGifts(ids: string, campaign: string) {
  const environment = useEnvironment();
  return useQuery<{ gifts: Gift[]; isCut: boolean }, ApiFailure>({
    queryKey: ['GET /gifts', environment, 'cards', ids, campaign],
    queryFn: ({ signal }) => (ids !== '' ? readSelected(ids.split(','), signal) : readAll(campaign, signal)),
  });
}

async function readSelected(ids: readonly string[], signal: AbortSignal) {
  const known = ids.slice(0, PAGE_SIZE);
  const gifts = await Promise.all(known.map((id) => request('GET /gifts/{id}', { params: { id } }, signal)));
  return { gifts, isCut: ids.length > known.length };
}

async function readAll(campaign: string, signal: AbortSignal) {
  const gifts: Gift[] = [];
  for (let page = 1; gifts.length < MAX_CARDS; page++) {
    const query = { page, limit: PAGE_SIZE, isActive: true, ...(campaign !== '' && { campaignName: campaign }) };
    const { data, totalPages } = await request('GET /gifts', { query }, signal);
    gifts.push(...data);
    if (page >= totalPages) return { gifts, isCut: false };
  }
  return { gifts, isCut: true };
}

function GiftCard({ gift, orgName, language }: { gift: Gift; orgName: string; language: Language }) {
  const text = cardTexts[language];
  const expires =
    gift.expiresAt &&
    new Intl.DateTimeFormat(localeOf(language), { dateStyle: 'long' }).format(new Date(gift.expiresAt));
  return (
    <article className="gift-card">
      <div className="gift-card-text">
        <p className="gift-card-org">{orgName}</p>
        <h2 className="gift-card-name">{gift.name}</h2>
        <p className="gift-card-amount">{text.worth(gift.amount)}</p>
        <p className="gift-card-how">{text.how}</p>
        <p className="gift-card-code">{gift.code}</p>
        <p className="gift-card-link">{gift.claimUrl.replace(/^https?:\/\//, '')}</p>
        {expires && <p className="gift-card-how">{text.expires(expires)}</p>}
      </div>
      <QrCode value={gift.claimUrl} size={120} />
    </article>
  );
}
