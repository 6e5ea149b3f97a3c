import type { Gift as GiftRecord, GiftRedeem } from '@svc/protocol';
import { FileUp, Gift, Plus, Printer } from 'lucide-react';
import { Badge, StatusBadge } from '../../ui/badge.tsx';
import { LinkButton } from '../../ui/button.tsx';
import { SearchField, SelectField } from '../../ui/fields.tsx';
import { localeOf, useLanguage } from '../../ui/language.ts';
import { Card, EmptyState, ErrorNote, Figure, PageHeader } from '../../ui/page.tsx';
import { type Column, DataTable, More, Pager } from '../../ui/table.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { Hash, Money, Time } from '../../ui/values.tsx';
import { useCursorList, useRead } from '../api.ts';
import { statusOfGift } from '../gift-codes.ts';
import { useSearchParam } from '../navigation.ts';
import { NoMatches } from '../no-matches.tsx';
import { useSession } from '../session.tsx';
import { words } from '../words/gifts.ts';
import { words as shellWords } from '../words/shell.ts';
import { useWords } from '../words.ts';
import './gifts.css';

const LIMIT = 25;
const giftTypes = ['GIFT_CARD', 'PROMOTIONAL', 'REFERRAL', 'LOYALTY', 'COMPENSATION'] as const;

export default function GiftsPage() {
  const text = useWords(words);
  const { pages } = useWords(shellWords);
  const { can } = useSession();
  const [tab, setTab] = useSearchParam('tab', 'gifts');
  const actions = (
    <>
      <LinkButton to="/gifts/cards" icon={Printer}>
        {text.cards}
      </LinkButton>
      {can('DEVELOPER') && (
        <>
          <LinkButton to="/gifts/import" icon={FileUp}>
            {text.import}
          </LinkButton>
          <LinkButton to="/gifts/new" icon={Plus} kind="primary">
            {text.create}
          </LinkButton>
        </>
      )}
    </>
  );
  return (
    <div className="stack">
      <PageHeader title={pages.gifts} description={text.description} actions={actions} />
      <Usage />
      <Tabs
        label={text.view}
        value={tab}
        onChange={setTab}
        tabs={[
          { value: 'gifts', label: text.tabs.gifts, content: <GiftList /> },
          { value: 'campaigns', label: text.tabs.campaigns, content: <CampaignList /> },
          { value: 'redeems', label: text.tabs.redeems, content: <RedeemList /> },
        ]}
      />
    </div>
  );
}

function Usage() {
  const text = useWords(words);
  const number = new Intl.NumberFormat(localeOf(useLanguage()));
  const { data } = useRead('GET /gifts/usage');
  const count = (value: number | undefined) => (value === undefined ? '–' : number.format(value));
  return (
    <div className="figures">
      <Figure
        label={text.usage.active}
        value={count(data?.activeGifts)}
        note={data && text.ofAll(number.format(data.totalGifts))}
      />
      <Figure label={text.usage.redeems} value={count(data?.totalRedeems)} />
      <Figure label={text.usage.held} value={data ? <Money amount={data.totalHeldUsd} places={[2, 2]} /> : '–'} />
      <Figure
        label={text.usage.redeemed}
        value={data ? <Money amount={data.totalRedeemedUsd} places={[2, 2]} /> : '–'}
      />
    </div>
  );
}

function GiftList() {
  const text = useWords(words);
  const [search, setSearch] = useSearchParam('q');
  const [state, setState] = useSearchParam('state');
  const [type, setType] = useSearchParam('type');
  const [campaign, setCampaign] = useSearchParam('campaign');
  const [page, setPage] = useSearchParam('page', '1');
  const columns = useGiftColumns();
  const campaigns = useCursorList('GET /gifts/campaigns', { query: { limit: 100 } });
  const query = {
    page: Number(page) || 1,
    limit: LIMIT,
    ...(search !== '' && { search }),
    ...(state !== '' && { isActive: state === 'on' }),
    ...(giftTypes.some((known) => known === type) && { type: type as (typeof giftTypes)[number] }),
    ...(campaign !== '' && { campaignName: campaign }),
  };
  const { data, error, refetch } = useRead('GET /gifts', { query }, { keepPrevious: true });
  const isFiltered = [search, state, type, campaign].some((value) => value !== '');
  const filter = (set: (value: string) => void) => (value: string) => {
    set(value);
    setPage('1');
  };
  const names = new Set([...(campaigns.rows ?? []).map(({ name }) => name), ...(campaign ? [campaign] : [])]);
  return (
    <div>
      <div className="filters">
        <SearchField label={text.search} value={search} onChange={filter(setSearch)} />
        <SelectField
          hideLabel
          label={text.state}
          value={state}
          onChange={filter(setState)}
          options={[
            ['', text.allStates],
            ['on', text.on],
            ['off', text.off],
          ]}
        />
        <SelectField
          hideLabel
          label={text.type}
          value={type}
          onChange={filter(setType)}
          options={[['', text.allTypes], ...giftTypes.map((name) => [name, text.types[name]] as const)]}
        />
        {names.size > 0 && (
          <SelectField
            hideLabel
            label={text.campaign}
            value={campaign}
            onChange={filter(setCampaign)}
            options={[['', text.allCampaigns], ...[...names].map((name) => [name, name] as const)]}
          />
        )}
      </div>
      <ErrorNote error={error} retry={() => void refetch()} />
      {!error && (
        <Card flush>
          <DataTable
            label={text.tabs.gifts}
            columns={columns}
            rows={data?.data}
            rowKey={({ id }) => id}
            rowTo={({ id }) => `/gifts/${id}`}
            empty={
              isFiltered ? (
                <NoMatches icon={Gift} title={text.noMatches} hint={text.noMatchesNext} to="/gifts" />
              ) : (
                <NoGifts />
              )
            }
          />
          {data && <Pager {...data} onPage={(next) => setPage(String(next))} />}
        </Card>
      )}
    </div>
  );
}

function useGiftColumns(): Column<GiftRecord>[] {
  const text = useWords(words);
  return [
    { key: 'name', label: text.name, cell: ({ name }) => name, main: true },
    { key: 'code', label: text.code, cell: ({ code }) => <Hash value={code} label={text.code} /> },
    { key: 'type', label: text.type, cell: ({ type }) => <Badge>{text.types[type]}</Badge>, wideOnly: true },
    { key: 'amount', label: text.amount, align: 'end', cell: ({ amount }) => <Money amount={amount} unit="USDC" /> },
    {
      key: 'redeemed',
      label: text.redeemed,
      align: 'end',
      cell: ({ totalRedeems, maxRedeems }) => `${totalRedeems} / ${maxRedeems}`,
    },
    {
      key: 'expires',
      label: text.expires,
      wideOnly: true,
      cell: ({ expiresAt }) => <Time value={expiresAt} none={text.never} />,
    },
    { key: 'status', label: text.status, cell: (gift) => <GiftBadge gift={gift} /> },
  ];
}

export function GiftBadge({ gift }: { gift: GiftRecord }) {
  const { statuses } = useWords(words);
  const status = statusOfGift(gift);
  return <StatusBadge status={status} label={statuses[status]} />;
}

function NoGifts() {
  const text = useWords(words);
  const { can } = useSession();
  const action = can('DEVELOPER') && (
    <>
      <LinkButton to="/gifts/new" icon={Plus} kind="primary">
        {text.create}
      </LinkButton>
      <LinkButton to="/gifts/import" icon={FileUp}>
        {text.import}
      </LinkButton>
    </>
  );
  return (
    <EmptyState icon={Gift} title={text.noGifts} action={action}>
      {text.noGiftsNext}
    </EmptyState>
  );
}

function CampaignList() {
  const text = useWords(words);
  const { can } = useSession();
  const list = useCursorList('GET /gifts/campaigns');
  const action = can('DEVELOPER') && (
    <LinkButton to="/gifts/import" icon={FileUp}>
      {text.import}
    </LinkButton>
  );
  return (
    <>
      <ErrorNote error={list.error} retry={list.refetch} />
      {!list.error && (
        <Card flush>
          <DataTable
            label={text.tabs.campaigns}
            rows={list.rows}
            rowKey={({ name }) => name}
            rowTo={({ name }) => `/gifts?campaign=${encodeURIComponent(name)}`}
            columns={[
              { key: 'name', label: text.name, cell: ({ name }) => name, main: true },
              {
                key: 'gifts',
                label: text.gifts,
                align: 'end',
                cell: ({ gifts, activeGifts }) => `${activeGifts} / ${gifts}`,
              },
              { key: 'redeems', label: text.redeems, align: 'end', cell: ({ redeems }) => redeems },
              { key: 'total', label: text.total, align: 'end', cell: ({ totalUsd }) => <Money amount={totalUsd} /> },
              {
                key: 'paid',
                label: text.paidOut,
                align: 'end',
                cell: ({ redeemedUsd }) => <Money amount={redeemedUsd} />,
              },
              { key: 'last', label: text.lastCreated, cell: ({ lastCreatedAt }) => <Time value={lastCreatedAt} /> },
            ]}
            actions={({ name }) => (
              <LinkButton size="s" kind="quiet" icon={Printer} to={`/gifts/cards?campaign=${encodeURIComponent(name)}`}>
                {text.cards}
              </LinkButton>
            )}
            empty={
              <EmptyState icon={FileUp} title={text.noCampaigns} action={action}>
                {text.noCampaignsNext}
              </EmptyState>
            }
          />
          <More hasMore={list.hasMore} pending={list.isLoadingMore} onMore={list.loadMore} />
        </Card>
      )}
    </>
  );
}

/** Of one gift, or of all. */
export function RedeemList({ giftId }: { giftId?: string }) {
  const text = useWords(words);
  const [page, setPage] = useSearchParam('redeems', '1');
  const query = { page: Number(page) || 1, limit: LIMIT, ...(giftId !== undefined && { giftId }) };
  const { data, error, refetch } = useRead('GET /gifts/history/redeems', { query }, { live: true, keepPrevious: true });
  const columns: Column<GiftRedeem>[] = [
    {
      key: 'wallet',
      label: text.wallet,
      main: true,
      cell: ({ walletAddress }) => <Hash value={walletAddress} copy={false} />,
    },
    ...(giftId === undefined
      ? [{ key: 'code', label: text.code, cell: ({ code }: GiftRedeem) => <span className="mono">{code}</span> }]
      : []),
    { key: 'chain', label: text.chain, cell: ({ destinationChain }) => text.chains[destinationChain] },
    { key: 'amount', label: text.amount, align: 'end', cell: ({ amount }) => <Money amount={amount} unit="USDC" /> },
    { key: 'status', label: text.status, cell: ({ status }) => <StatusBadge status={status} /> },
    { key: 'time', label: text.time, cell: ({ createdAt }) => <Time value={createdAt} /> },
  ];
  if (error) return <ErrorNote error={error} retry={() => void refetch()} />;
  return (
    <Card flush>
      <DataTable
        label={text.redemptions}
        columns={columns}
        rows={data?.data}
        rowKey={({ id }) => id}
        rowTo={({ id }) => `/redeems/${id}`}
        empty={<EmptyState title={text.noRedeems}>{text.noRedeemsNext}</EmptyState>}
      />
      {data && <Pager {...data} onPage={(next) => setPage(String(next))} />}
    </Card>
  );
}
