import { CircleCheck } from 'lucide-react';
import { useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { SelectField, TextField } from '../../ui/fields.tsx';
import { Card, EmptyState, ErrorNote, Section } from '../../ui/page.tsx';
import { type Column, DataTable } from '../../ui/table.tsx';
import { useToast } from '../../ui/toast.tsx';
import { Time } from '../../ui/values.tsx';
import type { ApiFailure } from '../request.ts';
import {
  choicesOf,
  type Fault,
  type FaultService,
  faultBody,
  faultServices,
  initialParameters,
  useSandbox,
  useSandboxChange,
} from '../sandbox.ts';
import { words } from '../words/sandbox.ts';
import { useWords } from '../words.ts';

const services = Object.keys(faultServices) as FaultService[];

export function FaultsTab() {
  const text = useWords(words);
  return (
    <div>
      <Section title={text.tabs.faults} description={text.faultsHint}>
        <Card>
          <OrderForm />
        </Card>
      </Section>
      <OpenFaults />
    </div>
  );
}

function OrderForm() {
  const text = useWords(words);
  const change = useSandboxChange();
  const toast = useToast();
  const [service, setService] = useState<FaultService>('node');
  const [kind, setKind] = useState('revert');
  const [values, setValues] = useState<Readonly<Record<string, string>>>({});
  const [failure, setFailure] = useState<ApiFailure>();
  const [pending, setPending] = useState(false);
  const { path, only, kinds } = faultServices[service];
  const kindNames: Readonly<Record<string, string>> = text.kinds[service];
  const names = [...(kinds[kind] ?? []), only, 'count', 'seconds'] as const;
  const currentOf = (name: string) =>
    values[name] ?? (Object.hasOwn(initialParameters, name) ? initialParameters[name as 'reason'] : '');
  const order = async () => {
    setPending(true);
    setFailure(undefined);
    try {
      await change('POST', path, faultBody(kind, Object.fromEntries(names.map((name) => [name, currentOf(name)]))));
      toast.done(text.ordered, kindNames[kind]);
    } catch (error) {
      setFailure(error as ApiFailure);
    } finally {
      setPending(false);
    }
  };
  return (
    <form
      className="form"
      onSubmit={(event) => {
        event.preventDefault();
        void order();
      }}
    >
      <SelectField
        label={text.service}
        value={service}
        options={services.map((one) => [one, text.services[one]])}
        onChange={(chosen) => {
          setService(chosen);
          setKind(Object.keys(faultServices[chosen].kinds)[0] ?? '');
          setValues({});
        }}
      />
      <SelectField
        label={text.kind}
        value={kind}
        options={Object.keys(kinds).map((one) => [one, kindNames[one] ?? one])}
        onChange={setKind}
      />
      <div className="grid">
        {names.map((name) => {
          const choices = choicesOf[service][name];
          const set = (value: string) => setValues((before) => ({ ...before, [name]: value }));
          const common = { label: text.parameters[name], value: currentOf(name), onChange: set };
          if (!choices)
            return (
              <TextField key={name} optional={name === only || name === 'count' || name === 'seconds'} {...common} />
            );
          const none = name === 'field' ? [] : [['', text.any] as const];
          return (
            <SelectField key={name} options={[...none, ...choices.map((one) => [one, one] as const)]} {...common} />
          );
        })}
      </div>
      <ErrorNote error={failure} />
      <div className="row">
        <Button type="submit" kind="primary" pending={pending}>
          {text.order}
        </Button>
      </div>
    </form>
  );
}

type Row = Fault & { readonly service: FaultService };

function OpenFaults() {
  const text = useWords(words);
  const change = useSandboxChange();
  const toast = useToast();
  const node = useSandbox<{ faults: Fault[] }>(faultServices.node.path, true);
  const bridge = useSandbox<{ faults: Fault[] }>(faultServices.bridge.path, true);
  const provider = useSandbox<{ faults: Fault[] }>(faultServices.provider.path, true);
  const answers = { node, bridge, provider };
  const isThere = services.every((service) => answers[service].data);
  const rows = services.flatMap((service) =>
    (answers[service].data?.faults ?? []).map((fault): Row => ({ ...fault, service })),
  );
  const clear = async () => {
    for (const service of services) await change('DELETE', faultServices[service].path);
    toast.done(text.cleared);
  };
  const columns: Column<Row>[] = [
    {
      key: 'kind',
      label: text.kind,
      cell: ({ service, kind }) => (text.kinds[service] as Readonly<Record<string, string>>)[kind] ?? kind,
    },
    { key: 'service', label: text.service, cell: ({ service }) => text.services[service] },
    { key: 'details', label: text.details, cell: (row) => <span className="mono">{detailsOf(row)}</span> },
    { key: 'left', label: text.left, align: 'end', cell: ({ remaining }) => remaining ?? text.unlimited },
    { key: 'until', label: text.until, align: 'end', cell: ({ expiresAt }) => <Time value={expiresAt} exact /> },
  ];
  return (
    <Section
      title={text.open}
      actions={
        rows.length > 0 && (
          <Button size="s" onClick={() => void clear()}>
            {text.clear}
          </Button>
        )
      }
    >
      <Card flush>
        <DataTable
          label={text.open}
          columns={columns}
          rows={isThere ? rows : undefined}
          rowKey={({ service, id }) => `${service} ${id}`}
          empty={
            <EmptyState icon={CircleCheck} title={text.noFaults}>
              {text.noFaultsHint}
            </EmptyState>
          }
        />
      </Card>
    </Section>
  );
}

const SHOWN_ELSEWHERE = new Set(['id', 'kind', 'service', 'remaining', 'expiresAt']);

const detailsOf = (row: Row): string =>
  Object.entries(row)
    .filter(([name]) => !SHOWN_ELSEWHERE.has(name))
    .map(([name, value]) => `${name}: ${value}`)
    .join(', ') || '–';
