import { KeyRound, Plus, Users } from 'lucide-react';
import { useState } from 'react';
import { Badge, StatusBadge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { CodeBlock } from '../../ui/code-block.tsx';
import { ConfirmDialog, Dialog } from '../../ui/dialog.tsx';
import { SelectField, TextField } from '../../ui/fields.tsx';
import { Card, DescriptionList, EmptyState, ErrorNote, PageHeader, Section, Skeleton } from '../../ui/page.tsx';
import { DataTable } from '../../ui/table.tsx';
import { useToast } from '../../ui/toast.tsx';
import { Hash, Money, Time } from '../../ui/values.tsx';
import { type AnswerTo, useChange, useRead } from '../api.ts';
import { useForm } from '../form.ts';
import { useParam } from '../navigation.ts';
import { words } from '../words/operator-organizations.ts';
import { useWords } from '../words.ts';

type Organization = AnswerTo<'GET /operator/organizations/{id}'>;
type Environment = Organization['keys'][number]['environment'];
type Key = Organization['keys'][number];

export default function OperatorOrganizationPage() {
  const { organizations: text } = useWords(words);
  const id = useParam('id');
  const { data, error, refetch } = useRead('GET /operator/organizations/{id}', { params: { id } });
  const parents = [{ label: text.back, to: '/operator/organizations' }];
  return (
    <>
      <PageHeader title={data?.name ?? id} parents={parents} />
      <ErrorNote error={error} retry={() => void refetch()} />
      {!data && !error && <Skeleton lines={8} />}
      {data && (
        <>
          <Facts organization={data} />
          <Sponsorships organizationId={data.id} />
          <Keys organization={data} />
          <People people={data.people} />
        </>
      )}
    </>
  );
}

function Facts({ organization }: { organization: Organization }) {
  const { organizations: text, environments } = useWords(words);
  const rowsOf = (environment: Environment) => {
    const { availableUsd, heldUsd, wallets, lastActivityAt } = organization[environment];
    return [
      [text.available, <Money key="available" amount={availableUsd} />],
      [text.held, <Money key="held" amount={heldUsd} />],
      [text.wallets, String(wallets)],
      [text.lastActivity, <Time key="active" value={lastActivityAt} />],
    ] as const;
  };
  return (
    <Section title={text.use}>
      <Card>
        <DescriptionList
          columns={2}
          rows={[
            [text.id, <Hash key="id" value={organization.id} label={text.id} full />],
            [text.created, <Time key="created" value={organization.createdAt} exact />],
          ]}
        />
      </Card>
      <div className="grid">
        {(['production', 'development'] as const).map((environment) => (
          <Card key={environment} title={environments[environment]}>
            <DescriptionList rows={rowsOf(environment)} />
          </Card>
        ))}
      </div>
    </Section>
  );
}

function Sponsorships({ organizationId }: { organizationId: string }) {
  const { organizations: text } = useWords(words);
  return (
    <Section title={text.sponsorship} description={text.sponsorshipBody}>
      <div className="grid">
        <Sponsorship id={organizationId} environment="production" />
        <Sponsorship id={organizationId} environment="development" />
      </div>
    </Section>
  );
}

function Sponsorship(params: { id: string; environment: Environment }) {
  const { organizations: text, environments } = useWords(words);
  const [isChanging, setChanging] = useState(false);
  const { data, error, refetch } = useRead('GET /operator/organizations/{id}/{environment}/sponsorship', { params });
  const change = (
    <Button size="s" onClick={() => setChanging(true)}>
      {text.change}
    </Button>
  );
  return (
    <Card title={environments[params.environment]} actions={data && change}>
      <ErrorNote error={error} retry={() => void refetch()} />
      {data ? (
        <DescriptionList
          rows={[
            [
              text.maxDaily,
              data.maxDailyStrk === null ? text.noLimit : <Money key="max" amount={data.maxDailyStrk} unit="STRK" />,
            ],
            [text.used, <Money key="used" amount={data.used.strk} unit="STRK" places={[0, 6]} />],
          ]}
        />
      ) : (
        !error && <Skeleton lines={2} />
      )}
      {isChanging && data && (
        <LimitDialog params={params} current={data.maxDailyStrk ?? ''} onClose={() => setChanging(false)} />
      )}
    </Card>
  );
}

interface LimitDialogProps {
  readonly params: { readonly id: string; readonly environment: Environment };
  readonly current: string;
  readonly onClose: () => void;
}

function LimitDialog({ params, current, onClose }: LimitDialogProps) {
  const { organizations: text, environments } = useWords(words);
  const toast = useToast();
  const change = useChange('PATCH /operator/organizations/{id}/{environment}/sponsorship', {
    refreshes: ['GET /operator/organizations/{id}/{environment}/sponsorship'],
  });
  const form = useForm({
    initial: { maxDailyStrk: current },
    check: ({ maxDailyStrk }) =>
      /^(\d{1,12}(\.\d{1,18})?)?$/.test(maxDailyStrk.trim()) ? {} : { maxDailyStrk: text.badAmount },
    onSubmit: async ({ maxDailyStrk }) => {
      await change.mutateAsync({ params, body: { maxDailyStrk: maxDailyStrk.trim() || null } });
      toast.done(text.saved);
      onClose();
    },
  });
  const id = `limit-${params.environment}`;
  const footer = (
    <Button type="submit" form={id} kind="primary" pending={form.pending}>
      {text.save}
    </Button>
  );
  const title = `${text.sponsorship}: ${environments[params.environment]}`;
  return (
    <Dialog open onClose={onClose} title={title} footer={footer} size="s">
      <form id={id} className="stack" onSubmit={form.onSubmit}>
        <TextField
          label={text.maxDaily}
          hint={text.maxDailyHint}
          after="STRK"
          inputMode="decimal"
          autoComplete="off"
          {...form.field('maxDailyStrk')}
        />
        <ErrorNote error={form.failure} />
      </form>
    </Dialog>
  );
}

function Keys({ organization: { id, keys } }: { organization: Organization }) {
  const { organizations: text, environments } = useWords(words);
  const toast = useToast();
  const [isAdding, setAdding] = useState(false);
  const [chosen, choose] = useState<Key>();
  const revoke = useChange('DELETE /operator/organizations/{id}/keys/{keyId}', {
    refreshes: ['GET /operator/organizations/{id}'],
  });
  const add = (
    <Button icon={Plus} onClick={() => setAdding(true)}>
      {text.newKeys}
    </Button>
  );
  return (
    <Section title={text.keys} actions={add}>
      <Card flush>
        <DataTable
          label={text.keys}
          rows={keys}
          rowKey={(key) => key.id}
          columns={[
            { key: 'key', label: text.key, cell: ({ key }) => <span className="mono">{shortKey(key)}</span> },
            { key: 'kind', label: text.kind, cell: ({ kind }) => text.kinds[kind] },
            {
              key: 'environment',
              label: text.environment,
              cell: ({ environment }) => (
                <Badge tone={environment === 'production' ? 'warn' : 'plain'}>{environments[environment]}</Badge>
              ),
            },
            { key: 'created', label: text.created, align: 'end', cell: ({ createdAt }) => <Time value={createdAt} /> },
          ]}
          actions={(key) =>
            key.revokedAt === null ? (
              <Button size="s" kind="danger" onClick={() => choose(key)}>
                {text.revoke}
              </Button>
            ) : (
              <StatusBadge status="REVOKED" />
            )
          }
          empty={
            <EmptyState icon={KeyRound} title={text.noKeys}>
              {text.noKeysBody}
            </EmptyState>
          }
        />
      </Card>
      {isAdding && <KeysDialog organizationId={id} onClose={() => setAdding(false)} />}
      <ConfirmDialog
        open={chosen !== undefined}
        onClose={() => choose(undefined)}
        title={text.revokeTitle}
        action={text.revoke}
        onConfirm={async () => {
          if (!chosen) return;
          await revoke.mutateAsync({ params: { id, keyId: chosen.id } });
          toast.done(text.revoked);
        }}
      >
        {text.revokeBody(shortKey(chosen?.key ?? ''))}
      </ConfirmDialog>
    </Section>
  );
}

const SHOWN = 12;
const shortKey = (key: string) => (key.length > SHOWN * 2 ? `${key.slice(0, SHOWN)}…${key.slice(-4)}` : key);

function KeysDialog({ organizationId, onClose }: { organizationId: string; onClose: () => void }) {
  const { organizations: text, environments } = useWords(words);
  const [environment, setEnvironment] = useState<Environment>('development');
  const create = useChange('POST /operator/organizations/{id}/{environment}/keys', {
    refreshes: ['GET /operator/organizations/{id}'],
  });
  const made = create.data;
  const footer = made ? (
    <Button kind="primary" onClick={onClose}>
      {text.done}
    </Button>
  ) : (
    <Button
      kind="primary"
      pending={create.isPending}
      onClick={() => create.mutate({ params: { id: organizationId, environment } })}
    >
      {text.makeKeys}
    </Button>
  );
  return (
    <Dialog open onClose={onClose} title={text.newKeysTitle} description={text.newKeysBody} footer={footer}>
      {made ? (
        <>
          <p>{text.publicKey}</p>
          <CodeBlock label={text.publicKey} value={made.publicKey} />
          <p>{text.secretKey}</p>
          <CodeBlock label={text.secretKey} value={made.secretKey ?? ''} />
        </>
      ) : (
        <SelectField
          label={text.environment}
          value={environment}
          onChange={setEnvironment}
          options={[
            ['development', environments.development],
            ['production', environments.production],
          ]}
        />
      )}
      <ErrorNote error={create.error} />
    </Dialog>
  );
}

function People({ people }: { people: Organization['people'] }) {
  const { organizations: text } = useWords(words);
  return (
    <Section title={text.people}>
      <Card flush>
        <DataTable
          label={text.people}
          rows={people}
          rowKey={({ id }) => id}
          columns={[
            { key: 'email', label: text.email, cell: ({ email, name }) => (name ? `${name} · ${email}` : email) },
            { key: 'role', label: text.role, cell: ({ role }) => text.roles[role] },
            {
              key: 'joined',
              label: text.joined,
              align: 'end',
              cell: ({ joinedAt }) => <Time value={joinedAt} none={text.pending} />,
            },
          ]}
          empty={<EmptyState icon={Users} title={text.noPeople} />}
        />
      </Card>
    </Section>
  );
}
