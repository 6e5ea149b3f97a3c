import { Building2, Plus } from 'lucide-react';
import { useDeferredValue, useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { CodeBlock } from '../../ui/code-block.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { SearchField, TextField } from '../../ui/fields.tsx';
import { useLanguage } from '../../ui/language.ts';
import { Card, EmptyState, ErrorNote, Note, PageHeader } from '../../ui/page.tsx';
import { DataTable, More } from '../../ui/table.tsx';
import { useToast } from '../../ui/toast.tsx';
import { Money, Time } from '../../ui/values.tsx';
import { type RowOf, useChange, useCursorList } from '../api.ts';
import { useForm } from '../form.ts';
import { formatCount } from '../measures.ts';
import { useNavigateTo, useSearchParam } from '../navigation.ts';
import { words } from '../words/operator-organizations.ts';
import { words as shell } from '../words/shell.ts';
import { useWords } from '../words.ts';

type Row = RowOf<'GET /operator/organizations'>;

export default function OperatorOrganizationsPage() {
  const { organizations: text } = useWords(words);
  const { pages } = useWords(shell);
  const [search, setSearch] = useSearchParam('search');
  const [isAdding, setAdding] = useState(false);
  const asked = useDeferredValue(search.trim());
  const list = useCursorList('GET /operator/organizations', asked === '' ? {} : { query: { search: asked } }, {
    keepPrevious: true,
  });
  const add = (
    <Button kind="primary" icon={Plus} onClick={() => setAdding(true)}>
      {text.add}
    </Button>
  );
  return (
    <>
      <PageHeader title={pages.operatorOrganizations} description={text.intro} actions={add} />
      <div className="stack">
        <SearchField label={text.search} value={search} onChange={setSearch} />
        <ErrorNote error={list.error} retry={list.refetch} />
        {!list.error && (
          <Card flush>
            <Organizations rows={list.rows} isSearched={asked !== ''} />
            <More hasMore={list.hasMore} pending={list.isLoadingMore} onMore={list.loadMore} />
          </Card>
        )}
      </div>
      {isAdding && <AddDialog onClose={() => setAdding(false)} />}
    </>
  );
}

function Organizations({ rows, isSearched }: { rows: readonly Row[] | undefined; isSearched: boolean }) {
  const { organizations: text } = useWords(words);
  const language = useLanguage();
  return (
    <DataTable
      label={text.list}
      rows={rows}
      rowKey={({ id }) => id}
      rowTo={({ id }) => `/operator/organizations/${id}`}
      columns={[
        { key: 'name', label: text.name, cell: ({ name }) => name },
        {
          key: 'members',
          label: text.members,
          align: 'end',
          cell: ({ members }) => <span className="number">{formatCount(members, language)}</span>,
        },
        {
          key: 'credits',
          label: text.creditsOf,
          align: 'end',
          cell: ({ production }) => <Money amount={production.availableUsd} />,
        },
        {
          key: 'wallets',
          label: text.wallets,
          align: 'end',
          cell: ({ production, development }) => (
            <span className="number">{formatCount(production.wallets + development.wallets, language)}</span>
          ),
        },
        { key: 'active', label: text.active, align: 'end', cell: (row) => <Time value={lastActivityOf(row)} /> },
        {
          key: 'created',
          label: text.created,
          align: 'end',
          wideOnly: true,
          cell: ({ createdAt }) => <Time value={createdAt} />,
        },
      ]}
      empty={
        isSearched ? (
          <EmptyState icon={Building2} title={text.notFound}>
            {text.notFoundBody}
          </EmptyState>
        ) : (
          <EmptyState icon={Building2} title={text.empty}>
            {text.emptyBody}
          </EmptyState>
        )
      }
    />
  );
}

const lastActivityOf = ({ production, development }: Row): string | null =>
  [production.lastActivityAt, development.lastActivityAt]
    .filter((time) => time !== null)
    .sort()
    .at(-1) ?? null;

function AddDialog({ onClose }: { onClose: () => void }) {
  const { organizations: text } = useWords(words);
  const toast = useToast();
  const navigate = useNavigateTo();
  const create = useChange('POST /operator/organizations', { refreshes: ['GET /operator/organizations'] });
  const form = useForm({
    initial: { name: '', ownerEmail: '' },
    check: ({ name }) => (name.trim() === '' ? { name: text.nameMissing } : {}),
    onSubmit: async ({ name, ownerEmail }) => {
      const email = ownerEmail.trim();
      const body = { name: name.trim(), ...(email !== '' && { ownerEmail: email }) };
      const { id, invitationUrl } = await create.mutateAsync({ body });
      toast.done(text.created_, email === '' ? undefined : text.invited(email));
      if (invitationUrl === null) navigate(`/operator/organizations/${id}`);
    },
  });
  const created = create.data;
  if (created?.invitationUrl) {
    const { id, invitationUrl: link } = created;
    const footer = (
      <Button kind="primary" onClick={() => navigate(`/operator/organizations/${id}`)}>
        {text.done}
      </Button>
    );
    return (
      <Dialog open onClose={onClose} title={text.created_} footer={footer}>
        <Note tone="warn">{text.handOver}</Note>
        <CodeBlock label={text.link} value={link} />
      </Dialog>
    );
  }
  const footer = (
    <Button type="submit" form="add-organization" kind="primary" pending={form.pending}>
      {text.create}
    </Button>
  );
  return (
    <Dialog open onClose={onClose} title={text.add} footer={footer} size="s">
      <form id="add-organization" className="stack" onSubmit={form.onSubmit}>
        <TextField label={text.name} hint={text.nameHint} {...form.field('name')} maxLength={200} autoComplete="off" />
        <TextField
          label={text.ownerEmail}
          hint={text.ownerHint}
          {...form.field('ownerEmail')}
          type="email"
          optional
          maxLength={254}
          autoComplete="off"
        />
        <ErrorNote error={form.failure} />
      </form>
    </Dialog>
  );
}
