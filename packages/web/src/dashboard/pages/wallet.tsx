import type { ListedWallet, ReplacedEncryption, WalletChainState } from '@svc/protocol';
import { ArrowUpCircle, EyeOff, RotateCcw } from 'lucide-react';
import { useState } from 'react';
import { Badge, StatusBadge } from '../../ui/badge.tsx';
import { Button, LinkButton } from '../../ui/button.tsx';
import { ConfirmDialog } from '../../ui/dialog.tsx';
import { SwitchField } from '../../ui/fields.tsx';
import { localeOf, useLanguage } from '../../ui/language.ts';
import { Card, DescriptionList, EmptyState, ErrorNote, Note, PageHeader, Section, Skeleton } from '../../ui/page.tsx';
import { DataTable } from '../../ui/table.tsx';
import { useToast } from '../../ui/toast.tsx';
import { formatMoney, Hash, Time } from '../../ui/values.tsx';
import { TokenAmount, withDecimals } from '../amounts.tsx';
import { useChange, useCursorList, useRead } from '../api.ts';
import { useParam } from '../navigation.ts';
import { useSession } from '../session.tsx';
import { TransactionTable } from '../transaction-table.tsx';
import { words } from '../words/wallets.ts';
import { useWords } from '../words.ts';
import { DeploymentBadge } from './wallets.tsx';
import './wallet.css';

export default function WalletPage() {
  const text = useWords(words);
  const id = useParam('id');
  const wallet = useRead('GET /svc-wallets/{id}', { params: { id } });
  const parents = [{ label: text.title, to: '/wallets' }];
  if (!wallet.data) {
    return (
      <div className="stack">
        <PageHeader title={id} parents={parents} />
        {wallet.error ? (
          <ErrorNote error={wallet.error} retry={() => void wallet.refetch()} />
        ) : (
          <Skeleton lines={10} />
        )}
      </div>
    );
  }
  return <WalletView wallet={wallet.data} parents={parents} />;
}

function WalletView({ wallet, parents }: { wallet: ListedWallet; parents: { label: string; to: string }[] }) {
  const text = useWords(words);
  const { can } = useSession();
  const state = useRead('GET /svc-wallets/{id}/chain-state', { params: { id: wallet.id } });
  return (
    <div className="stack">
      <PageHeader title={wallet.externalUserId} parents={parents} badge={<DeploymentBadge wallet={wallet} />} />
      {state.data && !state.data.isCurrentClass && (
        <Note icon={ArrowUpCircle}>
          <p>
            <strong>{text.upgradeTitle}</strong> {text.upgradeNote}
          </p>
        </Note>
      )}
      <Card>
        <Facts wallet={wallet} state={state.data} />
      </Card>
      <Section title={text.balances} description={text.balancesNote}>
        <ErrorNote error={state.error} retry={() => void state.refetch()} />
        {!state.error && <Balances balances={state.data?.balances} />}
        <PrivateBalance wallet={wallet} />
      </Section>
      {!state.error && <Sessions state={state.data} />}
      <History wallet={wallet} />
      {can('DEVELOPER') && <Encryptions wallet={wallet} />}
    </div>
  );
}

function Facts({ wallet, state }: { wallet: ListedWallet; state: WalletChainState | undefined }) {
  const text = useWords(words);
  const classHash = state?.classHash ?? wallet.classHash;
  return (
    <DescriptionList
      columns={2}
      rows={[
        [text.address, <Hash key="address" value={wallet.normalizedPublicKey} label={text.address} />],
        [text.id, <Hash key="id" value={wallet.id} label={text.id} />],
        [text.type, wallet.walletType],
        [
          text.classHash,
          <span key="class" className="row">
            <Hash value={classHash} label={text.classHash} />
            {state && <Badge>{state.isCurrentClass ? text.current : text.earlier}</Badge>}
          </span>,
        ],
        [
          text.deployment,
          wallet.transactionHash === null ? undefined : (
            <Hash key="hash" value={wallet.transactionHash} label={text.deployment} />
          ),
        ],
        [text.opens, wallet.authMethod ?? undefined],
        [text.created, <Time key="created" value={wallet.createdAt} exact />],
        [text.updated, <Time key="updated" value={wallet.updatedAt} exact />],
      ]}
    />
  );
}

function Balances({ balances }: { balances: WalletChainState['balances'] | undefined }) {
  const text = useWords(words);
  const [isAll, setAll] = useState(false);
  const filled = balances?.filter(({ balance }) => balance !== '0');
  return (
    <>
      <Card flush>
        <DataTable
          label={text.balances}
          rows={isAll ? balances : filled}
          rowKey={({ chainToken }) => chainToken}
          columns={[
            { key: 'token', label: text.token, cell: ({ chainToken }) => chainToken },
            {
              key: 'address',
              label: text.address,
              cell: ({ chainTokenAddress }) => <Hash value={chainTokenAddress} label={text.address} />,
              wideOnly: true,
            },
            {
              key: 'balance',
              label: text.balance,
              align: 'end',
              cell: ({ balance, decimals, chainToken }) => (
                <TokenAmount raw={balance} token={chainToken} decimals={decimals} />
              ),
            },
          ]}
          empty={<EmptyState title={text.onlyEmpty} />}
        />
      </Card>
      {balances && filled && filled.length < balances.length && (
        <SwitchField label={text.showAll} checked={isAll} onChange={setAll} />
      )}
    </>
  );
}

/** That there is one is public; how much is known to the owner alone. */
function PrivateBalance({ wallet }: { wallet: ListedWallet }) {
  const text = useWords(words);
  const query = { walletAddress: wallet.normalizedPublicKey, status: 'SUCCESS', limit: 1 } as const;
  const shields = useRead('GET /transactions', { query: { ...query, type: 'SHIELD' } });
  if (!shields.data?.data.length) return null;
  return (
    <Note icon={EyeOff}>
      <p>
        <strong>{text.privateTitle}</strong> {text.privateNote}
      </p>
    </Note>
  );
}

type SessionOnChain = WalletChainState['sessions'][number];

function Sessions({ state }: { state: WalletChainState | undefined }) {
  const text = useWords(words);
  const number = new Intl.NumberFormat(localeOf(useLanguage()));
  return (
    <Section title={text.sessions} description={text.sessionsNote}>
      {state && !state.hasAllSessions && <Note tone="warn">{text.notAll}</Note>}
      <Card flush>
        <DataTable
          label={text.sessions}
          rows={state?.sessions}
          rowKey={({ publicKey }) => publicKey}
          columns={[
            {
              key: 'key',
              label: text.sessionKey,
              cell: ({ publicKey }) => <Hash value={publicKey} label={text.sessionKey} />,
            },
            {
              key: 'state',
              label: text.status,
              cell: (session) => (
                <StatusBadge status={session.state} {...(session.state === 'EXHAUSTED' && { label: text.exhausted })} />
              ),
            },
            {
              key: 'until',
              label: text.validUntil,
              cell: ({ validUntil }) => <Time value={validUntil} exact />,
            },
            {
              key: 'calls',
              label: text.calls,
              align: 'end',
              cell: ({ callsUsed, maxCalls, state: at }) =>
                at === 'REVOKED' ? '–' : text.callsOf(number.format(callsUsed), number.format(maxCalls)),
            },
            { key: 'functions', label: text.functions, cell: (session) => <Functions session={session} /> },
            { key: 'policies', label: text.policies, cell: (session) => <Policies session={session} /> },
          ]}
          empty={<EmptyState title={text.noSessions}>{text.noSessionsNote}</EmptyState>}
        />
      </Card>
    </Section>
  );
}

function Functions({ session: { state, allowedEntrypoints } }: { session: SessionOnChain }) {
  const text = useWords(words);
  if (state === 'REVOKED') return <>–</>;
  if (allowedEntrypoints.length === 0) return <>{text.allFunctions}</>;
  return <span className="mono">{allowedEntrypoints.map(({ name, selector }) => name ?? selector).join(', ')}</span>;
}

function Policies({ session: { policies } }: { session: SessionOnChain }) {
  const text = useWords(words);
  const language = useLanguage();
  if (policies.length === 0) return <>{text.none}</>;
  const hours = (seconds: number) =>
    new Intl.NumberFormat(localeOf(language), {
      style: 'unit',
      unit: seconds >= 3_600 ? 'hour' : 'minute',
      unitDisplay: 'short',
      maximumFractionDigits: 1,
    }).format(seconds / (seconds >= 3_600 ? 3_600 : 60));
  return (
    <ul className="policies">
      {policies.map((policy) => {
        const amount = (raw: string) =>
          policy.token && policy.decimals !== null
            ? formatMoney(withDecimals(raw, policy.decimals), policy.token, language)
            : raw;
        const { maxPerCall, maxPerWindow, windowSeconds, spentInWindow } = policy;
        return (
          <li key={policy.tokenAddress}>
            {text.policy(amount(maxPerCall), amount(maxPerWindow), hours(windowSeconds))}
            <span className="soft"> · {text.spent(amount(spentInWindow))}</span>
          </li>
        );
      })}
    </ul>
  );
}

const SHOWN_TRANSACTIONS = 10;

function History({ wallet }: { wallet: ListedWallet }) {
  const text = useWords(words);
  const walletAddress = wallet.normalizedPublicKey;
  const list = useCursorList(
    'GET /transactions',
    { query: { walletAddress, limit: SHOWN_TRANSACTIONS } },
    { live: true },
  );
  return (
    <Section
      title={text.history}
      description={text.historyNote}
      actions={
        <LinkButton size="s" to={`/transactions?address=${walletAddress}`}>
          {text.all}
        </LinkButton>
      }
    >
      <ErrorNote error={list.error} retry={list.refetch} />
      <Card flush>
        <TransactionTable
          label={text.history}
          rows={list.rows}
          of={walletAddress}
          empty={<EmptyState title={text.noHistory} />}
        />
      </Card>
    </Section>
  );
}

function Encryptions({ wallet }: { wallet: ListedWallet }) {
  const text = useWords(words);
  const toast = useToast();
  const [chosen, setChosen] = useState<ReplacedEncryption>();
  const owner = { externalUserId: wallet.externalUserId, publicKey: wallet.normalizedPublicKey };
  const history = useRead('GET /svc-wallets/encryption-history', { query: owner });
  const restore = useChange('POST /svc-wallets/restore-encryption', {
    refreshes: ['GET /svc-wallets/encryption-history', 'GET /svc-wallets/{id}'],
    onSuccess: () => toast.done(text.restored),
  });
  return (
    <Section title={text.encryptions} description={text.encryptionsNote}>
      <ErrorNote error={history.error} retry={() => void history.refetch()} />
      {!history.error && (
        <Card flush>
          <DataTable
            label={text.encryptions}
            rows={history.data?.data}
            rowKey={({ id }) => id}
            columns={[
              { key: 'at', label: text.replaced, cell: ({ replacedAt }) => <Time value={replacedAt} exact /> },
              { key: 'by', label: text.replacedBy, cell: ({ replacedBy }) => text.replacers[replacedBy] },
              { key: 'method', label: text.method, cell: ({ authMethod }) => authMethod ?? '–' },
              { key: 'deleted', label: text.deleted, cell: ({ deletedAt }) => <Time value={deletedAt} /> },
            ]}
            actions={(encryption) => (
              <Button size="s" icon={RotateCcw} onClick={() => setChosen(encryption)}>
                {text.restore}
              </Button>
            )}
            empty={<EmptyState title={text.noEncryptions} />}
          />
        </Card>
      )}
      <ConfirmDialog
        open={chosen !== undefined}
        onClose={() => setChosen(undefined)}
        title={text.restoreTitle}
        action={text.restore}
        kind="primary"
        onConfirm={() => restore.mutateAsync({ body: { ...owner, id: chosen?.id ?? '' } })}
      >
        {text.restoreNote(wallet.externalUserId)}
      </ConfirmDialog>
    </Section>
  );
}
