import type { DeliveryState } from '@svc/protocol';
import { MoreHorizontal, Power, RefreshCw, Send, Trash2, Webhook as WebhookIcon } from 'lucide-react';
import { useState } from 'react';
import { StatusBadge } from '../../ui/badge.tsx';
import { Button, IconButton } from '../../ui/button.tsx';
import { CodeBlock } from '../../ui/code-block.tsx';
import { ConfirmDialog, Dialog } from '../../ui/dialog.tsx';
import { SelectField, TextField } from '../../ui/fields.tsx';
import { useLanguage } from '../../ui/language.ts';
import { Menu } from '../../ui/menu.tsx';
import { Card, DescriptionList, EmptyState, ErrorNote, Note, PageHeader, Section, Skeleton } from '../../ui/page.tsx';
import { DataTable, Pager } from '../../ui/table.tsx';
import { useToast } from '../../ui/toast.tsx';
import { formatTime, Hash, Time } from '../../ui/values.tsx';
import { words as ui } from '../../ui/words.ts';
import { type AnswerTo, isFailure, useChange, useRead } from '../api.ts';
import { useForm } from '../form.ts';
import { useNavigateTo, useParam, useSearchParam } from '../navigation.ts';
import { useSession } from '../session.tsx';
import { words } from '../words/developers.ts';
import { words as shell } from '../words/shell.ts';
import { useWords } from '../words.ts';
import { SecretDialog, WebhookDialog, WebhookState } from './webhooks.tsx';

const WEBHOOK = 'GET /organization/webhooks/{id}';
const DELIVERIES = 'GET /organization/webhooks/{id}/deliveries';
const DELIVERY = 'GET /organization/webhooks/{id}/deliveries/{deliveryId}';
const LISTS = ['GET /organization/webhooks', WEBHOOK] as const;
type Webhook = AnswerTo<typeof WEBHOOK>;
type Open = 'edit' | 'rotate' | 'replay' | 'remove';

export default function WebhookPage() {
  const text = useWords(words);
  const names = useWords(shell);
  const id = useParam('id');
  const { data, error, refetch } = useRead(WEBHOOK, { params: { id } });
  const parents = [{ label: names.pages.webhooks, to: '/developers/webhooks' }];
  if (isFailure(error, 'webhook_not_found')) {
    return (
      <>
        <PageHeader title={names.pages.webhook} parents={parents} />
        <EmptyState icon={WebhookIcon} title={text.webhooks.missing} />
      </>
    );
  }
  if (!data) {
    return (
      <>
        <PageHeader title={names.pages.webhook} parents={parents} />
        {error ? <ErrorNote error={error} retry={() => void refetch()} /> : <Skeleton lines={8} />}
      </>
    );
  }
  return (
    <>
      <PageHeader
        title={new URL(data.url).host}
        parents={parents}
        badge={<WebhookState webhook={data} />}
        actions={<Actions webhook={data} />}
        {...(data.description && { description: data.description })}
      />
      <Card>
        <DescriptionList
          columns={2}
          rows={[
            [
              text.webhooks.url,
              <span key="url" className="mono breakable">
                {data.url}
              </span>,
            ],
            [
              text.webhooks.events,
              data.eventTypes ? (
                <span key="types" className="mono breakable">
                  {data.eventTypes.join(', ')}
                </span>
              ) : (
                text.webhooks.all
              ),
            ],
            [text.id, <Hash key="id" value={data.id} label={text.id} />],
            [text.created, <Time key="created" value={data.createdAt} exact />],
          ]}
        />
      </Card>
      <Deliveries webhook={data} />
    </>
  );
}

function Actions({ webhook }: { webhook: Webhook }) {
  const text = useWords(words);
  const { actions } = useWords(ui);
  const session = useSession();
  const toast = useToast();
  const navigate = useNavigateTo();
  const [open, setOpen] = useState<Open>();
  const [secret, setSecret] = useState<{ value: string | null }>();
  const params = { id: webhook.id };
  const test = useChange('POST /organization/webhooks/{id}/test', { refreshes: [DELIVERIES] });
  const update = useChange('PATCH /organization/webhooks/{id}', { refreshes: LISTS });
  const remove = useChange('DELETE /organization/webhooks/{id}', { refreshes: ['GET /organization/webhooks'] });
  if (!session.can('DEVELOPER')) return null;
  const failed = (error: unknown) => toast.failed(error instanceof Error ? error.message : String(error));
  const close = () => setOpen(undefined);
  const turn = async () => {
    await update.mutateAsync({ params, body: { isEnabled: !webhook.isEnabled } });
    toast.done(webhook.isEnabled ? text.webhooks.switchedOff : text.webhooks.switchedOn);
  };
  const sendTest = async () => {
    await test.mutateAsync({ params });
    toast.done(text.webhooks.tested);
  };
  return (
    <>
      <Button
        icon={Send}
        pending={test.isPending}
        disabled={!webhook.isEnabled}
        onClick={() => void sendTest().catch(failed)}
      >
        {text.webhooks.test}
      </Button>
      <Button icon={RefreshCw} disabled={!webhook.isEnabled} onClick={() => setOpen('replay')}>
        {text.webhooks.replay}
      </Button>
      <Menu
        trigger={<IconButton icon={MoreHorizontal} kind="plain" label={actions} />}
        items={[
          { label: text.webhooks.edit, onSelect: () => setOpen('edit') },
          { label: text.webhooks.rotate, onSelect: () => setOpen('rotate') },
          {
            label: webhook.isEnabled ? text.webhooks.switchOff : text.webhooks.switchOn,
            icon: Power,
            onSelect: () => void turn().catch(failed),
          },
          'line',
          { label: text.webhooks.remove, icon: Trash2, danger: true, onSelect: () => setOpen('remove') },
        ]}
      />
      {open === 'edit' && (
        <WebhookDialog
          title={text.webhooks.editTitle}
          action={text.save}
          webhook={webhook}
          onClose={close}
          onSave={async (body) => {
            await update.mutateAsync({ params, body });
            toast.done(text.saved);
            close();
          }}
        />
      )}
      {open === 'rotate' && (
        <RotateDialog webhook={webhook} onClose={close} onRotated={(value) => setSecret({ value })} />
      )}
      {open === 'replay' && <ReplayDialog webhook={webhook} onClose={close} />}
      <ConfirmDialog
        open={open === 'remove'}
        onClose={close}
        title={text.webhooks.removeTitle}
        action={text.webhooks.remove}
        onConfirm={async () => {
          await remove.mutateAsync({ params });
          navigate('/developers/webhooks', true);
        }}
      >
        {text.webhooks.removeText}
      </ConfirmDialog>
      {secret && <SecretDialog secret={secret.value} onClose={() => setSecret(undefined)} />}
    </>
  );
}

interface RotateDialogProps {
  webhook: Webhook;
  onClose: () => void;
  onRotated: (secret: string | null) => void;
}

const overlaps = ['86400', '3600', '604800', '0'] as const;

function RotateDialog({ webhook, onClose, onRotated }: RotateDialogProps) {
  const text = useWords(words);
  const rotate = useChange('POST /organization/webhooks/{id}/rotate-secret', { refreshes: LISTS });
  const form = useForm<{ overlap: (typeof overlaps)[number] }>({
    initial: { overlap: '86400' },
    onSubmit: async ({ overlap }) => {
      const body = { overlapSeconds: Number(overlap) };
      const { secret } = await rotate.mutateAsync({ params: { id: webhook.id }, body });
      onRotated(secret);
      onClose();
    },
  });
  const { value, onChange } = form.field('overlap');
  return (
    <Dialog
      open
      onClose={onClose}
      title={text.webhooks.rotateTitle}
      description={text.webhooks.rotateText}
      footer={
        <Button type="submit" form="rotate" kind="primary" pending={form.pending}>
          {text.webhooks.rotate}
        </Button>
      }
    >
      <form id="rotate" className="form" onSubmit={form.onSubmit}>
        <SelectField
          label={text.webhooks.overlap}
          value={value}
          onChange={onChange}
          options={overlaps.map((seconds) => [seconds, text.webhooks.overlaps[seconds]] as const)}
        />
        <ErrorNote error={form.failure} />
      </form>
    </Dialog>
  );
}

const HOUR_MS = 3_600_000;

/** As a date-time field writes it, in the browser's time zone. */
function localTime(moment: Date): string {
  return new Date(moment.getTime() - moment.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

function ReplayDialog({ webhook, onClose }: { webhook: Webhook; onClose: () => void }) {
  const text = useWords(words);
  const toast = useToast();
  const language = useLanguage();
  const replay = useChange('POST /organization/webhooks/{id}/replay', { refreshes: [DELIVERIES] });
  const form = useForm({
    initial: { from: localTime(new Date(Date.now() - HOUR_MS)), to: '' },
    check: ({ from }) => (from === '' ? { from: text.webhooks.fromMissing } : {}),
    onSubmit: async ({ from, to }) => {
      const body = {
        from: new Date(from).toISOString(),
        ...(to !== '' && { to: new Date(to).toISOString() }),
      };
      const { replayed, nextFrom } = await replay.mutateAsync({ params: { id: webhook.id }, body });
      toast.done(
        nextFrom === null
          ? text.webhooks.replayed(replayed)
          : text.webhooks.replayMore(replayed, formatTime(new Date(nextFrom), language)),
      );
      onClose();
    },
  });
  return (
    <Dialog
      open
      onClose={onClose}
      title={text.webhooks.replayTitle}
      description={text.webhooks.replayText}
      footer={
        <Button type="submit" form="replay" kind="primary" pending={form.pending}>
          {text.webhooks.replay}
        </Button>
      }
    >
      <form id="replay" className="form" onSubmit={form.onSubmit}>
        <TextField {...form.field('from')} label={text.webhooks.from} type="datetime-local" required />
        <TextField {...form.field('to')} label={text.webhooks.to} type="datetime-local" hint={text.webhooks.toHint} />
        <ErrorNote error={form.failure} />
      </form>
    </Dialog>
  );
}

const LIMIT = 25;
const states: readonly DeliveryState[] = ['WAITING', 'DELIVERED', 'FAILED'];

function Deliveries({ webhook }: { webhook: Webhook }) {
  const text = useWords(words);
  const [state, setState] = useSearchParam('state');
  const [shown, setShown] = useSearchParam('delivery');
  const [page, setPage] = useState(1);
  const chosen = states.find((each) => each === state);
  const query = { page, limit: LIMIT, ...(chosen && { state: chosen }) };
  const { data, error, refetch } = useRead(
    DELIVERIES,
    { params: { id: webhook.id }, query },
    { keepPrevious: true, live: true },
  );
  return (
    <Section
      title={text.webhooks.deliveries}
      actions={
        <SelectField
          label={text.webhooks.filter}
          hideLabel
          value={chosen ?? ''}
          onChange={(next) => {
            setPage(1);
            setState(next);
          }}
          options={[['', text.webhooks.anyState], ...states.map((each) => [each, text.webhooks.states[each]] as const)]}
        />
      }
    >
      <ErrorNote error={error} retry={() => void refetch()} />
      {!error && (
        <Card flush>
          <DataTable
            label={text.webhooks.deliveriesLabel}
            rows={data?.data}
            rowKey={({ id }) => id}
            rowTo={({ id }) => `/developers/webhooks/${webhook.id}?delivery=${id}`}
            columns={[
              {
                key: 'event',
                label: text.webhooks.event,
                cell: (row) => <span className="mono">{row.eventType}</span>,
              },
              { key: 'state', label: text.state, cell: (row) => <StatusBadge status={row.state} /> },
              { key: 'attempts', label: text.webhooks.attempts, cell: ({ attempts }) => attempts, align: 'end' },
              {
                key: 'next',
                label: text.webhooks.nextAttempt,
                cell: ({ nextAttemptAt }) => <Time value={nextAttemptAt} />,
                wideOnly: true,
              },
              { key: 'created', label: text.when, cell: ({ createdAt }) => <Time value={createdAt} /> },
            ]}
            empty={
              <EmptyState icon={Send} title={text.webhooks.noDeliveries}>
                {text.webhooks.noDeliveriesHint}
              </EmptyState>
            }
          />
          {data && <Pager page={page} limit={LIMIT} total={data.total} onPage={setPage} />}
        </Card>
      )}
      {shown !== '' && <DeliveryDialog webhook={webhook} deliveryId={shown} onClose={() => setShown('')} />}
    </Section>
  );
}

interface DeliveryDialogProps {
  webhook: Webhook;
  deliveryId: string;
  onClose: () => void;
}

/** What was sent, and how the receiver answered. */
function DeliveryDialog({ webhook, deliveryId, onClose }: DeliveryDialogProps) {
  const text = useWords(words);
  const session = useSession();
  const toast = useToast();
  const params = { id: webhook.id, deliveryId };
  const { data, error, refetch } = useRead(DELIVERY, { params }, { live: true });
  const replay = useChange('POST /organization/webhooks/{id}/replay', { refreshes: [DELIVERIES, DELIVERY] });
  const again = async (eventId: string) => {
    const { replayed } = await replay.mutateAsync({ params: { id: webhook.id }, body: { eventId } });
    toast.done(text.webhooks.replayed(replayed));
    onClose();
  };
  const canReplay = data && session.can('DEVELOPER') && webhook.isEnabled;
  return (
    <Dialog
      open
      onClose={onClose}
      title={text.webhooks.deliveryTitle}
      size="l"
      footer={
        canReplay && (
          <Button
            kind="primary"
            icon={RefreshCw}
            pending={replay.isPending}
            onClick={() =>
              void again(data.eventId).catch((failure: unknown) =>
                toast.failed(failure instanceof Error ? failure.message : String(failure)),
              )
            }
          >
            {text.webhooks.replayOne}
          </Button>
        )
      }
    >
      <ErrorNote error={error} retry={() => void refetch()} />
      {!data && !error && <Skeleton lines={6} />}
      {data && (
        <>
          <DescriptionList
            columns={2}
            rows={[
              [
                text.webhooks.event,
                <span key="type" className="mono">
                  {data.eventType}
                </span>,
              ],
              [text.state, <StatusBadge key="state" status={data.state} />],
              [text.id, <Hash key="id" value={data.eventId} label={text.id} />],
              [text.when, <Time key="when" value={data.createdAt} exact />],
              [
                text.webhooks.nextAttempt,
                data.nextAttemptAt ? <Time key="next" value={data.nextAttemptAt} exact /> : undefined,
              ],
            ]}
          />
          <h3>{text.webhooks.payload}</h3>
          <CodeBlock value={payloadOf(data.event)} label={text.webhooks.payload} />
          <h3>{text.webhooks.answers}</h3>
          {data.attemptsMade.length === 0 && <Note>{text.webhooks.notTried}</Note>}
          <ol className="attempts">
            {[...data.attemptsMade].reverse().map((attempt) => (
              <li key={attempt.number}>
                <div className="row">
                  <strong>{text.webhooks.attempt(attempt.number)}</strong>
                  <StatusBadge
                    status={attempt.error === null ? 'DELIVERED' : 'FAILED'}
                    label={attempt.status === null ? text.webhooks.noAnswer : text.webhooks.status(attempt.status)}
                  />
                  <span className="soft number">{text.webhooks.duration(attempt.durationMs)}</span>
                  <Time value={attempt.at} exact />
                </div>
                {attempt.error && <p lang="en">{attempt.error}</p>}
                {attempt.response && <CodeBlock value={attempt.response} label={text.webhooks.answerBody} />}
              </li>
            ))}
          </ol>
        </>
      )}
    </Dialog>
  );
}

/** The body as it is sent. */
const payloadOf = ({ type, timestamp, data }: AnswerTo<typeof DELIVERY>['event']) => ({ type, timestamp, data });
