import type { ChainToken, Treasury, TreasuryProposal } from '@svc/protocol';
import { ListChecks, Plus } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { SelectField, TextField } from '../../ui/fields.tsx';
import { Card, DescriptionList, EmptyState, ErrorNote, PageHeader, Section, Skeleton } from '../../ui/page.tsx';
import { type Column, DataTable, More } from '../../ui/table.tsx';
import { Hash, Time } from '../../ui/values.tsx';
import { useChange, useCursorList, useRead } from '../api.ts';
import { useForm } from '../form.ts';
import { useNavigateTo, useParam } from '../navigation.ts';
import { useSession } from '../session.tsx';
import { words } from '../words/treasuries.ts';
import { useWords } from '../words.ts';
import { DeployedBadge } from './treasuries.tsx';
import { ProposalBadge } from './treasury-proposal.tsx';

type Text = ReturnType<typeof useWords<(typeof words)['en']>>;
const TOKENS: readonly ChainToken[] = ['USDC', 'USDT', 'STRK', 'ETH', 'DAI', 'WBTC'];

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
  const [isProposing, setProposing] = useState(false);
  const propose = can('DEVELOPER') && (
    <Button kind="primary" icon={Plus} onClick={() => setProposing(true)}>
      {text.propose}
    </Button>
  );
  return (
    <div className="stack">
      <PageHeader
        title={treasury.name}
        parents={parents}
        badge={<DeployedBadge treasury={treasury} />}
        actions={propose}
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
      <Section title={text.signers}>
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
      <ProposeDialog treasury={treasury} open={isProposing} onClose={() => setProposing(false)} />
    </div>
  );
}

const SECONDS_PER_HOUR = 3_600;

function Limits({ treasury: { limits } }: { treasury: Treasury }) {
  const text = useWords(words);
  if (limits.length === 0) return <span>{text.noLimits}</span>;
  return (
    <ul className="stack">
      {limits.map(({ token, amount, windowSeconds, threshold }) => (
        <li key={token}>
          {text.limit(`${amount} ${token}`, String(Math.round(windowSeconds / SECONDS_PER_HOUR)), threshold)}
        </li>
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

function ProposeDialog({ treasury, open, onClose }: { treasury: Treasury; open: boolean; onClose: () => void }) {
  const text = useWords(words);
  const navigate = useNavigateTo();
  const propose = useChange('POST /treasuries/{id}/transactions', { refreshes: ['GET /treasuries/{id}/transactions'] });
  const form = useForm<{ token: ChainToken; recipient: string; amount: string; description: string }>({
    initial: { token: 'USDC', recipient: '', amount: '', description: '' },
    onSubmit: async ({ description, ...transfer }) => {
      const body = { transfers: [transfer], description };
      const { id } = await propose.mutateAsync({ params: { id: treasury.id }, body });
      onClose();
      navigate(`/treasuries/${treasury.id}/${id}`);
    },
  });
  return (
    <Dialog
      open={open}
      onClose={onClose}
      title={text.propose}
      description={text.proposeNote}
      footer={
        <Button type="submit" form="propose" kind="primary" pending={form.pending}>
          {text.propose}
        </Button>
      }
    >
      <form id="propose" className="form" onSubmit={form.onSubmit}>
        <SelectField label={text.token} options={TOKENS.map((token) => [token, token])} {...form.field('token')} />
        <TextField label={text.recipient} required mono {...form.field('recipient')} />
        <TextField label={text.amount} required inputMode="decimal" {...form.field('amount')} />
        <TextField label={text.note} hint={text.noteHint} optional maxLength={500} {...form.field('description')} />
      </form>
      <ErrorNote error={form.failure} />
    </Dialog>
  );
}
