import { PackageOpen } from 'lucide-react';
import { StatusBadge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { TextField } from '../../ui/fields.tsx';
import { Card, EmptyState, ErrorNote, Section, Skeleton } from '../../ui/page.tsx';
import { type Column, DataTable } from '../../ui/table.tsx';
import { useToast } from '../../ui/toast.tsx';
import { Hash } from '../../ui/values.tsx';
import { useForm } from '../form.ts';
import { useSandbox, useSandboxChange } from '../sandbox.ts';
import { words } from '../words/sandbox.ts';
import { useWords } from '../words.ts';

type BridgeSetting = keyof (typeof words)['en']['settings'];
type BridgeSettings = Readonly<Record<BridgeSetting, number>>;

export function ServicesTab() {
  const text = useWords(words);
  const bridge = useSandbox<{ settings: BridgeSettings }>('/bridge');
  const provider = useSandbox<{ settings: { slowSeconds: number } }>('/provider');
  return (
    <div>
      <Section title={text.bridge} description={text.bridgeHint}>
        <Card>
          <ErrorNote error={bridge.error} />
          {bridge.data ? (
            <BridgeForm key={JSON.stringify(bridge.data.settings)} settings={bridge.data.settings} />
          ) : (
            !bridge.error && <Skeleton lines={4} />
          )}
        </Card>
      </Section>
      <Section title={text.provider} description={text.providerHint}>
        <Card>
          <ErrorNote error={provider.error} />
          {provider.data && (
            <ProviderForm key={provider.data.settings.slowSeconds} slowSeconds={provider.data.settings.slowSeconds} />
          )}
        </Card>
        <Orders />
      </Section>
    </div>
  );
}

function BridgeForm({ settings }: { settings: BridgeSettings }) {
  const text = useWords(words);
  const change = useSandboxChange();
  const toast = useToast();
  const names = Object.keys(text.settings) as BridgeSetting[];
  const save = async (next: Partial<BridgeSettings>) => {
    await change('POST', '/bridge/settings', next);
    toast.done(text.saved);
  };
  const form = useForm<Record<BridgeSetting, string>>({
    initial: Object.fromEntries(names.map((name) => [name, String(settings[name])])) as Record<BridgeSetting, string>,
    onSubmit: (values) => save(Object.fromEntries(names.map((name) => [name, Number(values[name])]))),
  });
  const noDelays = { indexedSeconds: 0, fastSeconds: 0, standardSeconds: 0, forwardSeconds: 0 };
  return (
    <form className="stack" onSubmit={form.onSubmit}>
      <div className="grid">
        {names.map((name) => (
          <TextField key={name} label={text.settings[name]} inputMode="numeric" required {...form.field(name)} />
        ))}
      </div>
      <ErrorNote error={form.failure} />
      <div className="row">
        <Button type="submit" kind="primary" pending={form.pending}>
          {text.save}
        </Button>
        <Button onClick={() => void save(noDelays).catch((error: Error) => toast.failed(error.message))}>
          {text.noDelays}
        </Button>
      </div>
    </form>
  );
}

function ProviderForm({ slowSeconds }: { slowSeconds: number }) {
  const text = useWords(words);
  const change = useSandboxChange();
  const toast = useToast();
  const form = useForm({
    initial: { slowSeconds: String(slowSeconds) },
    onSubmit: async (values) => {
      await change('POST', '/provider/settings', { slowSeconds: Number(values.slowSeconds) });
      toast.done(text.saved);
    },
  });
  return (
    <form className="form" onSubmit={form.onSubmit}>
      <TextField label={text.slowSeconds} inputMode="numeric" required {...form.field('slowSeconds')} />
      <ErrorNote error={form.failure} />
      <div className="row">
        <Button type="submit" pending={form.pending}>
          {text.save}
        </Button>
      </div>
    </form>
  );
}

interface Order {
  readonly orderId: string;
  readonly reference: string;
  readonly status: string;
  readonly fileNumber?: string | null;
  readonly reason?: string | null;
}

const tones = { accepted: 'info', completed: 'good', failed: 'bad' } as const;

function Orders() {
  const text = useWords(words);
  const { data, error } = useSandbox<{ orders: Order[] }>('/provider/orders?limit=20', true);
  const columns: Column<Order>[] = [
    { key: 'id', label: text.orderId, cell: ({ orderId }) => <Hash value={orderId} /> },
    { key: 'reference', label: text.reference, cell: ({ reference }) => <span className="mono">{reference}</span> },
    {
      key: 'state',
      label: text.state,
      cell: ({ status }) => <StatusBadge status={status} tone={tones[status as keyof typeof tones] ?? 'plain'} />,
    },
    { key: 'details', label: text.details, cell: ({ fileNumber, reason }) => fileNumber ?? reason ?? '–' },
  ];
  if (error) return <ErrorNote error={error} />;
  return (
    <Card flush title={text.orders}>
      <DataTable
        label={text.orders}
        columns={columns}
        rows={data?.orders}
        rowKey={({ orderId }) => orderId}
        empty={
          <EmptyState icon={PackageOpen} title={text.noOrders}>
            {text.noOrdersHint}
          </EmptyState>
        }
      />
    </Card>
  );
}
