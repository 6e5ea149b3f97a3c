import type { Treasury } from '@svc/protocol';
import { Landmark, Plus } from 'lucide-react';
import { useState } from 'react';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { TextField } from '../../ui/fields.tsx';
import { Card, EmptyState, ErrorNote, PageHeader } from '../../ui/page.tsx';
import { type Column, DataTable, More } from '../../ui/table.tsx';
import { Hash, Time } from '../../ui/values.tsx';
import { useChange, useCursorList } from '../api.ts';
import { useEnvironment } from '../environment.ts';
import { useForm } from '../form.ts';
import { useNavigateTo } from '../navigation.ts';
import { useSession } from '../session.tsx';
import { SigningKeyCard } from '../signing-key.tsx';
import { EMPTY_SIGNER, PolicyFields, type PolicyValues, policyBody } from '../treasury-fields.tsx';
import { words } from '../words/treasuries.ts';
import { useWords } from '../words.ts';

type Text = ReturnType<typeof useWords<(typeof words)['en']>>;

export default function TreasuriesPage() {
  const text = useWords(words);
  const environment = useEnvironment();
  const { can } = useSession();
  const [isCreating, setCreating] = useState(false);
  const list = useCursorList('GET /treasuries', {}, { keepPrevious: true });
  const create = can(environment === 'production' ? 'OWNER' : 'DEVELOPER') && (
    <Button kind="primary" icon={Plus} onClick={() => setCreating(true)}>
      {text.create}
    </Button>
  );
  return (
    <div className="stack">
      <PageHeader title={text.title} description={text.description} actions={create} />
      <ErrorNote error={list.error} retry={list.refetch} />
      <Card flush>
        <DataTable
          label={text.title}
          columns={columnsOf(text)}
          rows={list.rows}
          rowKey={({ id }) => id}
          rowTo={({ id }) => `/treasuries/${id}`}
          empty={
            <EmptyState icon={Landmark} title={text.empty} action={create}>
              {text.emptyNote}
            </EmptyState>
          }
        />
        <More hasMore={list.hasMore} pending={list.isLoadingMore} onMore={list.loadMore} />
      </Card>
      <SigningKeyCard />
      <CreateDialog open={isCreating} onClose={() => setCreating(false)} />
    </div>
  );
}

const columnsOf = (text: Text): readonly Column<Treasury>[] => [
  { key: 'name', label: text.name, cell: ({ name }) => name, main: true },
  { key: 'address', label: text.address, cell: ({ address }) => <Hash value={address} label={text.address} /> },
  {
    key: 'threshold',
    label: text.threshold,
    cell: ({ threshold, signers }) => text.ofSigners(threshold, signers.length),
  },
  { key: 'state', label: text.deployed, cell: (treasury) => <DeployedBadge treasury={treasury} /> },
  { key: 'created', label: text.created, cell: ({ createdAt }) => <Time value={createdAt} />, align: 'end' },
];

export function DeployedBadge({ treasury }: { treasury: Treasury }) {
  const text = useWords(words);
  return treasury.isDeployed ? <Badge tone="good">{text.deployed}</Badge> : <Badge>{text.deploying}</Badge>;
}

const EMPTY_POLICY: PolicyValues = {
  threshold: '2',
  signers: [EMPTY_SIGNER, EMPTY_SIGNER, EMPTY_SIGNER],
  limits: [],
};

function CreateDialog({ open, onClose }: { open: boolean; onClose: () => void }) {
  const text = useWords(words);
  const navigate = useNavigateTo();
  const create = useChange('POST /treasuries', { refreshes: ['GET /treasuries'] });
  const form = useForm<PolicyValues & { name: string }>({
    initial: { ...EMPTY_POLICY, name: '' },
    onSubmit: async ({ name, ...policy }) => {
      const { id } = await create.mutateAsync({ body: { name, ...policyBody(policy) } });
      onClose();
      navigate(`/treasuries/${id}`);
    },
  });
  return (
    <Dialog
      open={open}
      onClose={onClose}
      title={text.create}
      description={text.createNote}
      footer={
        <Button type="submit" form="create-treasury" kind="primary" pending={form.pending}>
          {text.create}
        </Button>
      }
    >
      <form id="create-treasury" className="form" onSubmit={form.onSubmit}>
        <TextField label={text.name} required maxLength={100} {...form.field('name')} />
        <PolicyFields values={form.values} errors={form.errors} onChange={(changes) => form.set(changes)} />
      </form>
      <ErrorNote error={form.failure} />
    </Dialog>
  );
}
