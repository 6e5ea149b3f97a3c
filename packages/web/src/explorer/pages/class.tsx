import { Badge } from '../../ui/badge.tsx';
import { useWords } from '../../ui/language.ts';
import { Card, ErrorNote, PageHeader, Section, Skeleton } from '../../ui/page.tsx';
import { DataTable } from '../../ui/table.tsx';
import { Hash } from '../../ui/values.tsx';
import type { ClassDescription } from '../abi.ts';
import { readClass } from '../chain.ts';
import { useParam } from '../navigation.tsx';
import { useBook, useChain } from '../shared.tsx';
import { words } from '../words.ts';
import { Missing } from './not-found.tsx';

export default function ClassPage() {
  const text = useWords(words);
  const hash = useParam('hash').toLowerCase();
  const book = useBook();
  const isHash = /^0x[0-9a-f]{1,64}$/.test(hash);
  const { data, error, refetch, isPending } = useChain(['class', hash], async () =>
    isHash ? ((await readClass(book, hash)) ?? null) : null,
  );
  if (error) return <ErrorNote error={error} retry={() => void refetch()} />;
  if (data) return <ClassView of={data} />;
  if (isPending) return <Skeleton lines={8} />;
  return <Missing>{text.notFoundClass}</Missing>;
}

const shortType = (type: string) => type.replaceAll(/(?:\w+::)+(?=\w)/g, '').replaceAll('::<', '<');

function ClassView({ of }: { of: ClassDescription }) {
  const text = useWords(words);
  const names: Readonly<Record<string, string>> = text.classes;
  return (
    <>
      <PageHeader
        title={names[of.name] ?? (of.name || text.declaredClass)}
        badge={<Badge>{text.class}</Badge>}
        description={<Hash value={of.classHash} full label={text.class} />}
      />
      <Section title={text.functions}>
        <Card flush>
          <DataTable
            label={text.functions}
            columns={[
              {
                key: 'name',
                label: text.name,
                cell: ({ name, isView }) => (
                  <span className="row">
                    <strong className="mono">{name}</strong>
                    {isView && <Badge>{text.reads}</Badge>}
                  </span>
                ),
              },
              {
                key: 'inputs',
                label: text.calldata,
                cell: ({ inputs }) => (
                  <span className="mono signature">
                    {inputs.map(({ name, type }) => `${name}: ${shortType(type)}`).join(', ') || '–'}
                  </span>
                ),
              },
            ]}
            rows={of.functions}
            rowKey={({ name, selector }) => name + selector}
            empty={<p className="soft">–</p>}
          />
        </Card>
      </Section>
      <Section title={text.events}>
        <Card flush>
          <DataTable
            label={text.events}
            columns={[
              { key: 'name', label: text.name, cell: ({ name }) => <strong className="mono">{name}</strong> },
              {
                key: 'members',
                label: text.data,
                cell: ({ members }) => (
                  <span className="mono signature">
                    {members.map(({ name, type }) => `${name}: ${shortType(type)}`).join(', ') || '–'}
                  </span>
                ),
              },
            ]}
            rows={of.events}
            rowKey={({ name, selector }) => name + selector}
            empty={<p className="soft">–</p>}
          />
        </Card>
      </Section>
    </>
  );
}
