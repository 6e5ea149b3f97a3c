import { startRegistration, WebAuthnError } from '@simplewebauthn/browser';
import { Fingerprint, LogOut, Plus } from 'lucide-react';
import { useState } from 'react';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { ConfirmDialog, Dialog } from '../../ui/dialog.tsx';
import { TextField } from '../../ui/fields.tsx';
import { Card, DescriptionList, EmptyState, ErrorNote, Note, PageHeader, Section } from '../../ui/page.tsx';
import { type Column, DataTable } from '../../ui/table.tsx';
import { useToast } from '../../ui/toast.tsx';
import { Time } from '../../ui/values.tsx';
import { type RowOf, useChange, useRead } from '../api.ts';
import { useForm } from '../form.ts';
import { useSwitchOrganization } from '../organization-menu.tsx';
import { basePath } from '../place.ts';
import { useRefreshSession, useSession } from '../session.tsx';
import { passkeyUse } from '../sign-in.ts';
import { words } from '../words/members.ts';
import { useWords } from '../words.ts';

export default function AccountPage() {
  const text = useWords(words);
  return (
    <>
      <PageHeader title={text.account} description={text.accountBody} />
      <Profile />
      <Organizations />
      <Passkeys />
      <Sessions />
    </>
  );
}

function Profile() {
  const text = useWords(words);
  const toast = useToast();
  const refresh = useRefreshSession();
  const { member, organization, role } = useSession();
  const { mutateAsync } = useChange('PATCH /session');
  const form = useForm({
    initial: { name: member.name },
    onSubmit: async (body) => {
      await mutateAsync({ body });
      toast.done(text.saved);
      await refresh();
    },
  });
  return (
    <Section title={text.profile}>
      <Card>
        <div className="stack">
          <DescriptionList
            rows={[
              [text.email, member.email],
              [text.organization, organization?.name],
              [text.role, role ? `${text.roles[role]}: ${text.roleHints[role]}` : undefined],
            ]}
          />
          <form className="stack narrow" onSubmit={form.onSubmit}>
            <TextField {...form.field('name')} label={text.name} autoComplete="name" maxLength={100} />
            <ErrorNote error={form.failure} />
            <div className="row">
              <Button type="submit" pending={form.pending} disabled={form.values.name === member.name}>
                {text.save}
              </Button>
            </div>
          </form>
        </div>
      </Card>
    </Section>
  );
}

function Organizations() {
  const text = useWords(words);
  const { organizations, organization } = useSession();
  const change = useSwitchOrganization();
  if (organizations.length < 2) return null;
  return (
    <Section title={text.organizations}>
      <ErrorNote error={change.error} />
      <Card flush>
        <DataTable
          label={text.organizations}
          columns={[
            { key: 'name', label: text.organization, cell: ({ name }) => name },
            { key: 'role', label: text.role, cell: ({ role }) => text.roles[role] },
          ]}
          rows={organizations}
          rowKey={({ id }) => id}
          empty={null}
          actions={({ id }) =>
            id === organization?.id ? (
              <Badge>{text.current}</Badge>
            ) : (
              <Button
                size="s"
                pending={change.isPending}
                onClick={() => change.mutate({ body: { organizationId: id } })}
              >
                {text.open}
              </Button>
            )
          }
        />
      </Card>
    </Section>
  );
}

type Passkey = RowOf<'GET /session/passkeys/own'>;
const passkeyReads = ['GET /session/passkeys/own'] as const;

function Passkeys() {
  const text = useWords(words);
  const toast = useToast();
  const use = passkeyUse();
  const passkeys = useRead('GET /session/passkeys/own');
  const remove = useChange('DELETE /session/passkeys/own/{id}', { refreshes: passkeyReads });
  const [isAdding, setAdding] = useState(false);
  const [leaving, setLeaving] = useState<Passkey>();
  const add = use.possible && (
    <Button icon={Plus} onClick={() => setAdding(true)}>
      {text.addPasskey}
    </Button>
  );
  const columns: Column<Passkey>[] = [
    { key: 'name', label: text.passkeyName, cell: ({ name }) => name },
    { key: 'created', label: text.created, cell: ({ createdAt }) => <Time value={createdAt} /> },
    {
      key: 'used',
      label: text.lastUsed,
      cell: ({ lastUsedAt }) => <Time value={lastUsedAt} none={text.never} />,
    },
  ];
  return (
    <Section title={text.passkeys} description={text.passkeysBody} actions={add}>
      {!use.possible && (
        <Note tone="plain">
          {use.url === undefined ? (
            text.passkeysUnavailable
          ) : (
            <>
              {text.passkeysByName} <a href={use.url}>{new URL(use.url).host}</a>
            </>
          )}
        </Note>
      )}
      <ErrorNote error={passkeys.error} retry={() => void passkeys.refetch()} />
      <Card flush>
        <DataTable
          label={text.passkeys}
          columns={columns}
          rows={passkeys.error ? [] : passkeys.data?.data}
          rowKey={({ id }) => id}
          empty={
            <EmptyState icon={Fingerprint} title={text.noPasskeys}>
              {use.possible && text.noPasskeysBody}
            </EmptyState>
          }
          actions={(passkey) => (
            <Button size="s" kind="quiet" onClick={() => setLeaving(passkey)}>
              {text.remove}
            </Button>
          )}
        />
      </Card>
      <AddPasskey open={isAdding} onClose={() => setAdding(false)} />
      {leaving && (
        <ConfirmDialog
          open
          onClose={() => setLeaving(undefined)}
          title={text.removePasskey(leaving.name)}
          action={text.remove}
          onConfirm={async () => {
            await remove.mutateAsync({ params: { id: leaving.id } });
            toast.done(text.saved);
          }}
        >
          {text.removePasskeyBody}
        </ConfirmDialog>
      )}
    </Section>
  );
}

function AddPasskey({ open, onClose }: { open: boolean; onClose: () => void }) {
  const text = useWords(words);
  const toast = useToast();
  const begin = useChange('POST /session/passkeys/own/options');
  const register = useChange('POST /session/passkeys/own', { refreshes: passkeyReads });
  const form = useForm({
    initial: { name: text.thisDevice },
    onSubmit: async ({ name }) => {
      const { options } = await begin.mutateAsync({});
      const response = await startRegistration({ optionsJSON: options }).catch((error: unknown) => {
        throw new Error(isKnownDevice(error) ? text.passkeyKnown : text.passkeyNotMade);
      });
      await register.mutateAsync({ body: { response: { ...response }, name: name.trim() } });
      toast.done(text.added);
      onClose();
    },
  });
  return (
    <Dialog
      open={open}
      onClose={onClose}
      title={text.addPasskey}
      size="s"
      footer={
        <Button type="submit" form="passkey" kind="primary" icon={Fingerprint} pending={form.pending}>
          {text.addPasskey}
        </Button>
      }
    >
      <form id="passkey" className="stack" onSubmit={form.onSubmit}>
        <TextField
          {...form.field('name')}
          label={text.passkeyName}
          hint={text.passkeyNameHint}
          maxLength={100}
          required
        />
        <ErrorNote error={form.failure} />
      </form>
    </Dialog>
  );
}

/** The browser refuses a second passkey of one person on one device. */
const isKnownDevice = (error: unknown): boolean =>
  error instanceof WebAuthnError && error.code === 'ERROR_AUTHENTICATOR_PREVIOUSLY_REGISTERED';

type OwnSession = RowOf<'GET /session/sessions'>;

function Sessions() {
  const text = useWords(words);
  const toast = useToast();
  const sessions = useRead('GET /session/sessions');
  const end = useChange('DELETE /session/sessions/{id}', { refreshes: ['GET /session/sessions'] });
  const endAll = useChange('DELETE /session/sessions');
  const [isEndingAll, setEndingAll] = useState(false);
  const columns: Column<OwnSession>[] = [
    {
      key: 'browser',
      label: text.browser,
      cell: ({ userAgent, isCurrent }) => (
        <span className="row" title={userAgent}>
          {browserOf(userAgent) ?? text.unknownBrowser}
          {isCurrent && <Badge tone="good">{text.thisSession}</Badge>}
        </span>
      ),
    },
    { key: 'seen', label: text.lastSeen, cell: ({ lastSeenAt }) => <Time value={lastSeenAt} /> },
    { key: 'created', label: text.signedIn, cell: ({ createdAt }) => <Time value={createdAt} />, wideOnly: true },
  ];
  const endOne = async (id: string) => {
    try {
      await end.mutateAsync({ params: { id } });
      toast.done(text.ended);
    } catch (error) {
      toast.failed(text.failed, (error as Error).message);
    }
  };
  return (
    <Section
      title={text.sessions}
      description={text.sessionsBody}
      actions={
        <Button icon={LogOut} onClick={() => setEndingAll(true)}>
          {text.endAll}
        </Button>
      }
    >
      <ErrorNote error={sessions.error} retry={() => void sessions.refetch()} />
      <Card flush>
        <DataTable
          label={text.sessions}
          columns={columns}
          rows={sessions.error ? [] : sessions.data?.data}
          rowKey={({ id }) => id}
          empty={null}
          actions={({ id, isCurrent }) =>
            isCurrent ? null : (
              <Button size="s" kind="quiet" onClick={() => void endOne(id)}>
                {text.end}
              </Button>
            )
          }
        />
      </Card>
      <ConfirmDialog
        open={isEndingAll}
        onClose={() => setEndingAll(false)}
        title={text.endAllTitle}
        action={text.endAll}
        onConfirm={async () => {
          await endAll.mutateAsync({});
          location.assign(`${basePath}/sign-in`);
        }}
      >
        {text.endAllBody}
      </ConfirmDialog>
    </Section>
  );
}

/** In the order in which browsers name each other. */
const browsers: readonly (readonly [RegExp, string])[] = [
  [/Edg\//, 'Edge'],
  [/OPR\//, 'Opera'],
  [/Firefox\//, 'Firefox'],
  [/Chrome\//, 'Chrome'],
  [/Safari\//, 'Safari'],
];
const systems: readonly (readonly [RegExp, string])[] = [
  [/iPhone|iPad/, 'iOS'],
  [/Android/, 'Android'],
  [/Mac OS X/, 'macOS'],
  [/Windows/, 'Windows'],
  [/Linux/, 'Linux'],
];

function browserOf(userAgent: string): string | undefined {
  const find = (list: typeof browsers) => list.find(([pattern]) => pattern.test(userAgent))?.[1];
  const parts = [find(browsers), find(systems)].filter((part) => part !== undefined);
  return parts.length > 0 ? parts.join(' · ') : undefined;
}
