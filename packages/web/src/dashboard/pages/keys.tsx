import { KeyRound, Plus } from 'lucide-react';
import { useState } from 'react';
import { Badge, StatusBadge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { ConfirmDialog, Dialog } from '../../ui/dialog.tsx';
import { SelectField } from '../../ui/fields.tsx';
import { Card, EmptyState, ErrorNote, Note, PageHeader, Section } from '../../ui/page.tsx';
import { DataTable, Pager } from '../../ui/table.tsx';
import { useToast } from '../../ui/toast.tsx';
import { CopyButton, Hash, Time } from '../../ui/values.tsx';
import { type AnswerTo, type RowOf, useChange, useRead } from '../api.ts';
import { useEnvironment } from '../environment.ts';
import { useForm } from '../form.ts';
import { useSession } from '../session.tsx';
import { words } from '../words/developers.ts';
import { words as shell } from '../words/shell.ts';
import { useWords } from '../words.ts';

const LIMIT = 25;
const LIST = 'GET /organization/keys';
type Key = RowOf<typeof LIST>;
type Created = AnswerTo<'POST /organization/keys'>;

export default function KeysPage() {
  const text = useWords(words);
  const environment = useEnvironment();
  const session = useSession();
  const [page, setPage] = useState(1);
  const [creating, setCreating] = useState(false);
  const [created, setCreated] = useState<Created>();
  const [revoking, setRevoking] = useState<Key>();
  const { data, error, refetch } = useRead(LIST, { query: { page, limit: LIMIT } }, { keepPrevious: true });
  const mayChange = session.can(environment === 'production' ? 'OWNER' : 'DEVELOPER');
  const create = mayChange && (
    <Button kind="primary" icon={Plus} onClick={() => setCreating(true)}>
      {text.keys.create}
    </Button>
  );
  return (
    <>
      <PageHeader
        title={useWords(shell).pages.keys}
        badge={<EnvironmentBadge />}
        description={text.keys.intro[environment]}
        actions={create}
      />
      {!mayChange && <Note>{environment === 'production' ? text.keys.ownersOnly : text.readOnly}</Note>}
      <ErrorNote error={error} retry={() => void refetch()} />
      {!error && (
        <Card flush>
          <DataTable
            label={text.keys.label}
            rows={data?.data}
            rowKey={({ id }) => id}
            columns={[
              { key: 'key', label: text.keys.key, cell: (row) => <KeyValue row={row} /> },
              { key: 'kind', label: text.keys.kind, cell: ({ kind }) => <Badge>{text.keys.kinds[kind]}</Badge> },
              {
                key: 'state',
                label: text.state,
                cell: ({ revokedAt }) =>
                  revokedAt ? (
                    <StatusBadge status="REVOKED" />
                  ) : (
                    <StatusBadge status="ACTIVE" label={text.keys.inUse} />
                  ),
              },
              { key: 'created', label: text.created, cell: ({ createdAt }) => <Time value={createdAt} /> },
            ]}
            actions={(row) =>
              mayChange &&
              row.revokedAt === null && (
                <Button size="s" kind="danger" onClick={() => setRevoking(row)}>
                  {text.keys.revoke}
                </Button>
              )
            }
            empty={
              <EmptyState icon={KeyRound} title={text.keys.empty} action={create}>
                {text.keys.emptyHint}
              </EmptyState>
            }
          />
          {data && <Pager page={page} limit={LIMIT} total={data.total} onPage={setPage} />}
        </Card>
      )}
      <Section title={text.keys.kindsTitle}>
        <div className="grid">
          {(['public', 'secret'] as const).map((kind) => (
            <Card key={kind} title={text.keys.kinds[kind]}>
              <p>{text.keys.kindHints[kind]}</p>
            </Card>
          ))}
        </div>
      </Section>
      <CreateDialog open={creating} onClose={() => setCreating(false)} onCreated={setCreated} />
      <CreatedDialog created={created} onClose={() => setCreated(undefined)} />
      <RevokeDialog row={revoking} onClose={() => setRevoking(undefined)} />
    </>
  );
}

/** Says on the page itself which environment its keys belong to. */
function EnvironmentBadge() {
  const text = useWords(shell);
  const environment = useEnvironment();
  return environment === 'production' ? <Badge tone="good">{text.live}</Badge> : <Badge tone="warn">{text.test}</Badge>;
}

function KeyValue({ row }: { row: Key }) {
  const text = useWords(words);
  if (row.kind === 'secret') return <span className="mono">{row.key}</span>;
  return <Hash value={row.key} label={text.keys.kinds.public} />;
}

interface CreateDialogProps {
  open: boolean;
  onClose: () => void;
  onCreated: (created: Created) => void;
}

function CreateDialog({ open, onClose, onCreated }: CreateDialogProps) {
  const text = useWords(words);
  const environment = useEnvironment();
  const create = useChange('POST /organization/keys', { refreshes: [LIST] });
  const form = useForm<{ kind: 'public' | 'secret' }>({
    initial: { kind: 'secret' },
    onSubmit: async ({ kind }) => {
      onCreated(await create.mutateAsync({ body: { kind } }));
      onClose();
    },
  });
  const { value, onChange } = form.field('kind');
  return (
    <Dialog
      open={open}
      onClose={onClose}
      title={text.keys.createTitle[environment]}
      description={text.keys.intro[environment]}
      footer={
        <Button type="submit" form="create-key" kind="primary" pending={form.pending}>
          {text.keys.create}
        </Button>
      }
    >
      <form id="create-key" className="form" onSubmit={form.onSubmit}>
        <SelectField
          label={text.keys.kind}
          value={value}
          onChange={onChange}
          hint={text.keys.kindHints[value]}
          options={[
            ['secret', text.keys.kinds.secret],
            ['public', text.keys.kinds.public],
          ]}
        />
        <ErrorNote error={form.failure} />
      </form>
    </Dialog>
  );
}

function CreatedDialog({ created, onClose }: { created: Created | undefined; onClose: () => void }) {
  const text = useWords(words);
  if (!created) return null;
  const value = created.kind === 'public' ? created.key : created.secretKey;
  return (
    <Dialog
      open
      onClose={onClose}
      title={text.keys.shown}
      footer={
        <Button kind="primary" onClick={onClose}>
          {text.keys.done}
        </Button>
      }
    >
      {value === null ? (
        <Note tone="bad">{text.keys.lost}</Note>
      ) : (
        <>
          <Hash value={value} full copy={false} />
          <div>
            <CopyButton value={value} label={text.keys.key} text />
          </div>
          {created.kind === 'secret' ? (
            <Note tone="warn">{text.keys.shownOnce}</Note>
          ) : (
            <Note>{text.keys.shownPublic}</Note>
          )}
        </>
      )}
    </Dialog>
  );
}

function RevokeDialog({ row, onClose }: { row: Key | undefined; onClose: () => void }) {
  const text = useWords(words);
  const toast = useToast();
  const revoke = useChange('DELETE /organization/keys/{id}', { refreshes: [LIST] });
  return (
    <ConfirmDialog
      open={row !== undefined}
      onClose={onClose}
      title={text.keys.revokeTitle}
      action={text.keys.revoke}
      onConfirm={async () => {
        if (!row) return;
        await revoke.mutateAsync({ params: { id: row.id } });
        toast.done(text.keys.revoked);
      }}
    >
      {row && text.keys.revokeText(row.key)}
    </ConfirmDialog>
  );
}
