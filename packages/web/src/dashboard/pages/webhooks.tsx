import type { EventType } from '@svc/protocol';
import { Plus, Webhook as WebhookIcon } from 'lucide-react';
import { useState } from 'react';
import { StatusBadge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { CodeBlock } from '../../ui/code-block.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { CheckboxField, SwitchField, TextField } from '../../ui/fields.tsx';
import { Card, EmptyState, ErrorNote, Note, PageHeader } from '../../ui/page.tsx';
import { DataTable, Pager } from '../../ui/table.tsx';
import { CopyButton, Hash, Time } from '../../ui/values.tsx';
import { type RowOf, useChange, useRead } from '../api.ts';
import { useForm } from '../form.ts';
import { useNavigateTo } from '../navigation.ts';
import { useSession } from '../session.tsx';
import { words } from '../words/developers.ts';
import { words as shell } from '../words/shell.ts';
import { useWords } from '../words.ts';
import './developers.css';

const LIMIT = 25;
const LIST = 'GET /organization/webhooks';
type Webhook = RowOf<typeof LIST>;
type ChosenType = Exclude<EventType, 'webhook.test'>;

const groups = {
  purchases: ['sku-purchase.processing', 'sku-purchase.completed', 'sku-purchase.failed', 'sku-purchase.cancelled'],
  wallets: ['wallet.created'],
  transactions: ['transaction.confirmed', 'transaction.failed', 'transfer.received'],
  money: ['deposit.credited'],
  treasuries: [
    'treasury.proposal.created',
    'treasury.proposal.signed',
    'treasury.proposal.executed',
    'treasury.proposal.failed',
    'treasury.proposal.expired',
  ],
  gifts: ['gift.redeemed', 'gift.redeem-failed'],
} as const satisfies Record<string, readonly ChosenType[]>;
type Group = keyof typeof groups;

/** In the order of the groups. A type that no group has does not compile. */
export const eventTypes: readonly ChosenType[] = Object.values(groups).flat() satisfies readonly ChosenType[];
const complete: Exclude<ChosenType, (typeof groups)[Group][number]> extends never ? true : never = true;
void complete;

export default function WebhooksPage() {
  const text = useWords(words);
  const session = useSession();
  const navigate = useNavigateTo();
  const [page, setPage] = useState(1);
  const [creating, setCreating] = useState(false);
  const [created, setCreated] = useState<ShownSecret>();
  const { data, error, refetch } = useRead(LIST, { query: { page, limit: LIMIT } }, { keepPrevious: true });
  const create = useChange('POST /organization/webhooks', { refreshes: [LIST] });
  const add = session.can('DEVELOPER') && (
    <Button kind="primary" icon={Plus} onClick={() => setCreating(true)}>
      {text.webhooks.create}
    </Button>
  );
  return (
    <>
      <PageHeader title={useWords(shell).pages.webhooks} description={text.webhooks.intro} actions={add} />
      <ErrorNote error={error} retry={() => void refetch()} />
      {!error && (
        <Card flush>
          <DataTable
            label={text.webhooks.label}
            rows={data?.data}
            rowKey={({ id }) => id}
            rowTo={({ id }) => `/developers/webhooks/${id}`}
            columns={[
              { key: 'url', label: text.webhooks.url, cell: ({ url }) => <span className="breakable">{url}</span> },
              { key: 'state', label: text.state, cell: (row) => <WebhookState webhook={row} /> },
              {
                key: 'events',
                label: text.webhooks.events,
                cell: ({ eventTypes: chosen }) => (chosen ? text.webhooks.count(chosen.length) : text.webhooks.all),
              },
              {
                key: 'description',
                label: text.webhooks.description,
                cell: (row) => row.description ?? '–',
                wideOnly: true,
              },
              { key: 'created', label: text.created, cell: ({ createdAt }) => <Time value={createdAt} /> },
            ]}
            empty={
              <EmptyState icon={WebhookIcon} title={text.webhooks.empty} action={add}>
                {text.webhooks.emptyHint}
              </EmptyState>
            }
          />
          {data && <Pager page={page} limit={LIMIT} total={data.total} onPage={setPage} />}
        </Card>
      )}
      {creating && (
        <WebhookDialog
          title={text.webhooks.createTitle}
          action={text.webhooks.create}
          onClose={() => setCreating(false)}
          onSave={async (body) => {
            setCreated(await create.mutateAsync({ body }));
            setCreating(false);
          }}
        />
      )}
      {created && (
        <SecretDialog
          secret={created.secret}
          onClose={() => {
            setCreated(undefined);
            navigate(`/developers/webhooks/${created.id}`);
          }}
        />
      )}
    </>
  );
}

export function WebhookState({ webhook }: { webhook: Pick<Webhook, 'isEnabled' | 'disabledReason'> }) {
  const text = useWords(words);
  const { isEnabled, disabledReason } = webhook;
  if (isEnabled || !disabledReason) return <StatusBadge status="ACTIVE" label={text.webhooks.enabled} />;
  const tone = disabledReason === 'BY_HAND' ? 'plain' : 'bad';
  return <StatusBadge status="INACTIVE" tone={tone} label={text.webhooks.disabled[disabledReason]} />;
}

interface WebhookBody {
  readonly url: string;
  readonly description: string | null;
  readonly eventTypes: ChosenType[] | null;
}

interface WebhookDialogProps {
  title: string;
  action: string;
  webhook?: Webhook;
  onClose: () => void;
  onSave: (body: WebhookBody) => Promise<unknown>;
}

/** Creates or edits a webhook. */
export function WebhookDialog({ title, action, webhook, onClose, onSave }: WebhookDialogProps) {
  const text = useWords(words);
  const form = useForm({
    initial: {
      url: webhook?.url ?? '',
      description: webhook?.description ?? '',
      all: webhook ? webhook.eventTypes === null : true,
      types: new Set<string>(webhook?.eventTypes ?? []),
    },
    check: ({ all, types }) => (all || types.size > 0 ? {} : { types: text.webhooks.chooseOne }),
    onSubmit: ({ url, description, all, types }) =>
      onSave({
        url: url.trim(),
        description: description.trim() || null,
        eventTypes: all ? null : eventTypes.filter((type) => types.has(type)),
      }),
  });
  const { all, types } = form.values;
  return (
    <Dialog
      open
      onClose={onClose}
      title={title}
      size="l"
      footer={
        <Button type="submit" form="webhook" kind="primary" pending={form.pending}>
          {action}
        </Button>
      }
    >
      <form id="webhook" className="form wide" onSubmit={form.onSubmit}>
        <TextField
          {...form.field('url')}
          label={text.webhooks.url}
          hint={text.webhooks.urlHint}
          inputMode="url"
          autoComplete="off"
          required
        />
        <TextField
          {...form.field('description')}
          label={text.webhooks.description}
          optional
          maxLength={200}
          autoComplete="off"
        />
        <SwitchField
          label={text.webhooks.all}
          hint={text.webhooks.allHint}
          checked={all}
          onChange={(checked) => form.set({ all: checked })}
        />
        {!all && <EventTypes chosen={types} onChange={(next) => form.set({ types: next })} />}
        {form.errors.types && (
          <p className="field-error" role="alert">
            {form.errors.types}
          </p>
        )}
        <ErrorNote error={form.failure} />
      </form>
    </Dialog>
  );
}

interface EventTypesProps {
  chosen: ReadonlySet<string>;
  onChange: (chosen: Set<string>) => void;
}

function EventTypes({ chosen, onChange }: EventTypesProps) {
  const text = useWords(words);
  const toggle = (type: string, checked: boolean) => {
    const next = new Set(chosen);
    if (checked) next.add(type);
    else next.delete(type);
    onChange(next);
  };
  return (
    <div className="event-groups">
      {(Object.keys(groups) as Group[]).map((group) => (
        <fieldset key={group}>
          <legend>{text.webhooks.groups[group]}</legend>
          {groups[group].map((type) => (
            <CheckboxField
              key={type}
              label={<span className="mono">{type}</span>}
              checked={chosen.has(type)}
              onChange={(checked) => toggle(type, checked)}
            />
          ))}
        </fieldset>
      ))}
    </div>
  );
}

interface ShownSecret {
  readonly id: string;
  readonly secret: string | null;
}

const EXAMPLE = `import { verifyWebhook } from '@svc/sdk';

const event = await verifyWebhook(rawBody, headers, secret);`;

/** Shows a secret once. */
export function SecretDialog({ secret, onClose }: { secret: string | null; onClose: () => void }) {
  const text = useWords(words);
  return (
    <Dialog
      open
      onClose={onClose}
      title={text.webhooks.secretTitle}
      footer={
        <Button kind="primary" onClick={onClose}>
          {text.keys.done}
        </Button>
      }
    >
      {secret === null ? (
        <Note tone="bad">{text.webhooks.secretLost}</Note>
      ) : (
        <>
          <Hash value={secret} full copy={false} />
          <div>
            <CopyButton value={secret} label={text.webhooks.secretTitle} text />
          </div>
          <Note tone="warn">{text.webhooks.secretHint}</Note>
          <CodeBlock value={EXAMPLE} label={text.webhooks.verify} />
        </>
      )}
    </Dialog>
  );
}
