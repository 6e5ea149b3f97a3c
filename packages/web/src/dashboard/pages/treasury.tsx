import type { Treasury, TreasuryProposal } from '@svc/protocol';
import { ListChecks, Plus, Users } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { Card, DescriptionList, EmptyState, ErrorNote, PageHeader, Section, Skeleton } from '../../ui/page.tsx';
import { type Column, DataTable, More } from '../../ui/table.tsx';
import { Hash, Time } from '../../ui/values.tsx';
import { useCursorList, useRead } from '../api.ts';
import { useEnvironment } from '../environment.ts';
import { useParam } from '../navigation.ts';
import { useSession } from '../session.tsx';
import { words } from '../words/treasuries.ts';
import { useWords } from '../words.ts';
import { DeployedBadge } from './treasuries.tsx';
import { CallsDialog, PaymentDialog, PolicyDialog } from './treasury-dialogs.tsx';
import { ProposalBadge } from './treasury-proposal.tsx';

type Text = ReturnType<typeof useWords<(typeof words)['en']>>;

export default function TreasuryPage() {
  const text = useWords(words);
  const id = useParam('id');
  const treasury = useRead('GET /treasuries/{id}', { params: { id } }, { every: 5_000 });
  const parents = [{ label: text.title, to: '/treasuries' }];
  if (treasury.data) return <TreasuryView treasury={treasury.data} parents={parents} />;
  return (
    <div className="stack">
      <PageHeader title={id} parents={parents} />
      {treasury.error ? (
        <ErrorNote error={treasury.error} retry={() => void treasury.refetch()} />
      ) : (
        <Skeleton lines={8} />
      )}
    </div>
  );
}

function TreasuryView({ treasury, parents }: { treasury: Treasury; parents: { label: string; to: string }[] }) {
  const text = useWords(words);
  const { can } = useSession();
  const environment = useEnvironment();
  const [dialog, setDialog] = useState<'payment' | 'calls' | 'policy'>();
  const opened = { treasury, onClose: () => setDialog(undefined) };
  const propose = can('DEVELOPER') && (
    <Button kind="primary" icon={Plus} onClick={() => setDialog('payment')}>
      {text.propose}
    </Button>
  );
  const change = can(environment === 'production' ? 'OWNER' : 'DEVELOPER') && (
    <Button icon={Users} onClick={() => setDialog('policy')}>
      {text.proposePolicy}
    </Button>
  );
  return (
    <div className="stack">
      <PageHeader
        title={treasury.name}
        parents={parents}
        badge={<DeployedBadge treasury={treasury} />}
        actions={
          <>
            {can('DEVELOPER') && <Button onClick={() => setDialog('calls')}>{text.proposeCalls}</Button>}
            {propose}
          </>
        }
      />
      <Card>
        <DescriptionList
          columns={2}
          rows={[
            [text.address, <Hash key="address" value={treasury.address} label={text.address} />],
            [text.threshold, text.ofSigners(treasury.threshold, treasury.signers.length)],
            [text.limits, <Limits key="limits" treasury={treasury} />],
            [text.created, <Time key="created" value={treasury.createdAt} exact />],
          ]}
        />
      </Card>
      <Section title={text.signers} actions={change}>
        <Card flush>
          <DataTable
            label={text.signers}
            rows={treasury.signers}
            rowKey={({ publicKey }) => publicKey}
            columns={[
              { key: 'name', label: text.signerName, cell: ({ name }) => name, main: true },
              {
                key: 'key',
                label: text.publicKey,
                cell: ({ publicKey }) => <Hash value={publicKey} label={text.publicKey} />,
              },
              { key: 'email', label: text.email, cell: ({ email }) => email ?? '–' },
            ]}
            empty={null}
          />
        </Card>
      </Section>
      <Proposals treasury={treasury} action={propose} />
      {dialog === 'payment' && <PaymentDialog {...opened} />}
      {dialog === 'calls' && <CallsDialog {...opened} />}
      {dialog === 'policy' && <PolicyDialog {...opened} />}
    </div>
  );
}

function Limits({ treasury: { limits } }: { treasury: Treasury }) {
  const text = useWords(words);
  if (limits.length === 0) return <span>{text.noLimits}</span>;
  return (
    <ul className="stack">
      {limits.map(({ token, amount, windowSeconds, threshold }) => (
        <li key={token}>{text.limit(`${amount} ${token}`, text.windowOf(windowSeconds), threshold)}</li>
      ))}
    </ul>
  );
}

function Proposals({ treasury, action }: { treasury: Treasury; action: ReactNode }) {
  const text = useWords(words);
  const list = useCursorList('GET /treasuries/{id}/transactions', { params: { id: treasury.id } }, { live: true });
  return (
    <Section title={text.proposals} description={text.proposalsNote}>
      <ErrorNote error={list.error} retry={list.refetch} />
      <Card flush>
        <DataTable
          label={text.proposals}
          columns={columnsOf(text)}
          rows={list.rows}
          rowKey={({ id }) => id}
          rowTo={({ id }) => `/treasuries/${treasury.id}/${id}`}
          empty={
            <EmptyState icon={ListChecks} title={text.noProposals} action={action}>
              {text.noProposalsNote}
            </EmptyState>
          }
        />
        <More hasMore={list.hasMore} pending={list.isLoadingMore} onMore={list.loadMore} />
      </Card>
    </Section>
  );
}

const columnsOf = (text: Text): readonly Column<TreasuryProposal>[] => [
  { key: 'what', label: text.note, cell: ({ description, id }) => description || id, main: true },
  { key: 'state', label: text.state, cell: ({ state }) => <ProposalBadge state={state} /> },
  {
    key: 'signatures',
    label: text.signatures,
    cell: ({ signatures, requiredSignatures }) => text.ofSigners(signatures.length, requiredSignatures),
  },
  { key: 'by', label: text.proposedBy, cell: ({ proposedBy }) => proposedBy, wideOnly: true },
  { key: 'created', label: text.created, cell: ({ createdAt }) => <Time value={createdAt} />, align: 'end' },
];
