import { KeyRound, Wallet } from 'lucide-react';
import { useEffect } from 'react';
import { Badge, StatusBadge } from '../../ui/badge.tsx';
import { useWords } from '../../ui/language.ts';
import { Card, DescriptionList, EmptyState, ErrorNote, Note, PageHeader, Section, Skeleton } from '../../ui/page.tsx';
import { type Column, DataTable } from '../../ui/table.tsx';
import { Hash } from '../../ui/values.tsx';
import { ClassLink } from '../calls.tsx';
import { type Account, type Policy, readAccount, readSessions, type Session } from '../chain.ts';
import { hex, type Token } from '../decode.ts';
import { useParam } from '../navigation.tsx';
import { Address, Amount, ChainTime, isoOf, useBook, useChain, useDuration, useNumber } from '../shared.tsx';
import { words } from '../words.ts';
import { Missing } from './not-found.tsx';
import { TransactionList } from './transactions.tsx';

export default function AccountPage() {
  const text = useWords(words);
  const given = useParam('address').toLowerCase();
  const address = /^0x[0-9a-f]{1,64}$/.test(given) ? BigInt(given) : undefined;
  const book = useBook();
  const { data, error, refetch, isPending } = useChain(['account', given], async () =>
    address === undefined ? null : readAccount(book, address),
  );
  if (error) return <ErrorNote error={error} retry={() => void refetch()} />;
  if (data) return <AccountView account={data} />;
  if (isPending) return <Skeleton lines={10} />;
  return <Missing>{text.nothingForm}</Missing>;
}

function AccountView({ account }: { account: Account }) {
  const text = useWords(words);
  const book = useBook();
  const { address, classHash, nonce, publicKey } = account;
  const token = book.token(address);
  const known = classHash === undefined ? undefined : book.class(classHash);
  const hasSessions = known?.functions.some(({ name }) => name === 'get_session_data') ?? false;
  const isAccount = known?.functions.some(({ name }) => name === '__execute__') ?? classHash === undefined;
  const name = token?.name ?? capital(book.name(address));
  const kind = token ? text.token : isAccount ? text.account : text.contract;
  return (
    <>
      <PageHeader
        title={name ?? kind}
        badge={
          <>
            {name !== undefined && <Badge>{kind}</Badge>}
            <StatusBadge
              status={classHash === undefined ? 'INACTIVE' : 'ACTIVE'}
              label={classHash === undefined ? text.notDeployed : text.deployed}
            />
          </>
        }
        description={<Hash value={hex(address)} full label={text.address} />}
      />
      {classHash === undefined && <Note tone="plain">{text.notDeployedHint}</Note>}
      <Card>
        <DescriptionList
          columns={2}
          rows={[
            [text.class, classHash === undefined ? undefined : <ClassLink key="class" value={classHash} />],
            [
              text.nonce,
              nonce === undefined || !isAccount ? undefined : (
                <span key="nonce" className="mono">
                  {nonce.toString()}
                </span>
              ),
            ],
            [
              text.ownerKey,
              publicKey === undefined ? undefined : <Hash key="owner" value={hex(publicKey)} label={text.ownerKey} />,
            ],
            [text.symbol, token?.symbol],
            [text.decimals, token && String(token.decimals)],
            [
              text.supply,
              token && account.totalSupply !== undefined ? (
                <Amount key="supply" value={account.totalSupply} token={token} />
              ) : undefined,
            ],
          ]}
        />
      </Card>
      {!token && <Balances account={account} />}
      {hasSessions && <Sessions address={address} />}
      <Section title={text.transactions}>
        <TransactionList address={hex(address)} limit={10} />
      </Section>
    </>
  );
}

const capital = (name: string | undefined) => name && name.charAt(0).toUpperCase() + name.slice(1);

function Balances({ account }: { account: Account }) {
  const text = useWords(words);
  const { tokens } = useBook();
  const held = tokens.filter(({ token }) => (account.balances.get(token) ?? 0n) > 0n);
  const columns: Column<Token>[] = [
    { key: 'token', label: text.token, cell: ({ symbol, name }) => `${symbol} · ${name}` },
    {
      key: 'balance',
      label: text.balance,
      align: 'end',
      cell: (token) => <Amount value={account.balances.get(token.token) ?? 0n} token={token} />,
    },
  ];
  return (
    <Section title={text.balances}>
      <Card flush>
        <DataTable
          label={text.balances}
          columns={columns}
          rows={held}
          rowKey={({ token }) => token}
          rowTo={({ address }) => `/account/${address}`}
          empty={
            <EmptyState icon={Wallet} title={text.noBalances}>
              {text.getTokens}
            </EmptyState>
          }
        />
      </Card>
    </Section>
  );
}

function Sessions({ address }: { address: bigint }) {
  const text = useWords(words);
  const book = useBook();
  const { data, error, refetch } = useChain(['sessions', hex(address)], () => readSessions(book, address));
  const isThere = data !== undefined;
  useEffect(() => {
    // The address' hash names a session that exists only now.
    if (isThere && location.hash.startsWith('#session-')) {
      document.getElementById(location.hash.slice(1))?.scrollIntoView({ block: 'center' });
    }
  }, [isThere]);
  return (
    <Section title={text.sessions} description={text.sessionsHint}>
      {error ? (
        <ErrorNote error={error} retry={() => void refetch()} />
      ) : !data ? (
        <Skeleton lines={3} />
      ) : data.length === 0 ? (
        <Card>
          <EmptyState icon={KeyRound} title={text.noSessions} />
        </Card>
      ) : (
        <div className="stack">
          {data.map((session) => (
            <SessionCard key={hex(session.key)} session={session} />
          ))}
        </div>
      )}
    </Section>
  );
}

function SessionCard({ session }: { session: Session }) {
  const text = useWords(words);
  const number = useNumber();
  const { key, validUntil, maxCalls, callsUsed, entrypoints, policies } = session;
  const state = stateOf(session);
  return (
    <div id={`session-${hex(key)}`} className="card session">
      <div className="row">
        <Hash value={hex(key)} label={text.sessionKey} />
        <StatusBadge status={state === 'active' ? 'ACTIVE' : 'EXPIRED'} label={text.sessionState[state]} />
      </div>
      <DescriptionList
        rows={[
          [text.validUntil, validUntil > 0n ? <ChainTime key="until" seconds={validUntil} exact /> : undefined],
          [text.callsUsed, maxCalls > 0n ? text.ofCalls(number(callsUsed), number(maxCalls)) : undefined],
          [
            text.entrypoints,
            validUntil === 0n ? undefined : entrypoints.length === 0 ? (
              text.anyEntrypoint
            ) : (
              <span key="entrypoints" className="row">
                {entrypoints.map((name) => (
                  <code key={name}>{name}</code>
                ))}
              </span>
            ),
          ],
        ]}
      />
      {policies.length > 0 ? (
        <Policies policies={policies} />
      ) : (
        validUntil > 0n && (
          <p className="soft">
            {text.policies}: {text.noPolicies}
          </p>
        )
      )}
    </div>
  );
}

function stateOf({ validUntil, maxCalls, callsUsed }: Session): 'active' | 'expired' | 'revoked' | 'used' {
  if (validUntil === 0n) return 'revoked';
  if (isoOf(validUntil) < new Date().toISOString()) return 'expired';
  return callsUsed >= maxCalls ? 'used' : 'active';
}

const unknownToken = { decimals: 0, symbol: '' };

function Policies({ policies }: { policies: readonly Policy[] }) {
  const text = useWords(words);
  const book = useBook();
  const duration = useDuration();
  const amount = (policy: Policy, value: bigint) => (
    <Amount value={value} token={book.token(policy.token) ?? unknownToken} />
  );
  const columns: Column<Policy>[] = [
    { key: 'token', label: text.token, cell: ({ token }) => <Address value={token} copy={false} /> },
    { key: 'call', label: text.perCall, align: 'end', cell: (policy) => amount(policy, policy.maxPerCall) },
    { key: 'window', label: text.perWindow, align: 'end', cell: (policy) => amount(policy, policy.maxPerWindow) },
    {
      key: 'length',
      label: text.windowLength,
      align: 'end',
      cell: ({ windowSeconds }) => duration(windowSeconds),
    },
    { key: 'spent', label: text.spent, align: 'end', cell: (policy) => amount(policy, policy.spentInWindow) },
  ];
  return (
    <Card flush title={text.policies}>
      <DataTable
        label={text.policies}
        columns={columns}
        rows={policies}
        rowKey={({ token }) => hex(token)}
        empty={null}
      />
    </Card>
  );
}
