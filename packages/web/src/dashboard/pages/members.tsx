import type { Role } from '@svc/protocol';
import { Ellipsis, MailPlus, UserRoundMinus, Users } from 'lucide-react';
import { useState } from 'react';
import { StatusBadge } from '../../ui/badge.tsx';
import { Button, IconButton } from '../../ui/button.tsx';
import { ConfirmDialog, Dialog } from '../../ui/dialog.tsx';
import { SelectField, TextField } from '../../ui/fields.tsx';
import { Menu } from '../../ui/menu.tsx';
import { Card, EmptyState, ErrorNote, Note, PageHeader } from '../../ui/page.tsx';
import { type Column, DataTable } from '../../ui/table.tsx';
import { useToast } from '../../ui/toast.tsx';
import { Time } from '../../ui/values.tsx';
import { type RowOf, useChange, useRead } from '../api.ts';
import { useForm } from '../form.ts';
import { useRefreshSession, useSession } from '../session.tsx';
import { words } from '../words/members.ts';
import { useWords } from '../words.ts';

type Member = RowOf<'GET /organization/members'>;
const refreshes = ['GET /organization/members'] as const;
const choices: readonly Role[] = ['VIEWER', 'DEVELOPER', 'OWNER'];

export default function MembersPage() {
  const text = useWords(words);
  const { can } = useSession();
  const members = useRead('GET /organization/members');
  const [isInviting, setInviting] = useState(false);
  const [leaving, setLeaving] = useState<Member>();
  const isOwner = can('OWNER');
  const columns = useColumns(isOwner);
  return (
    <>
      <PageHeader
        title={text.members}
        description={text.membersBody}
        actions={
          isOwner && (
            <Button kind="primary" icon={MailPlus} onClick={() => setInviting(true)}>
              {text.invite}
            </Button>
          )
        }
      />
      {!isOwner && <Note tone="plain">{text.ownersOnly}</Note>}
      <ErrorNote error={members.error} retry={() => void members.refetch()} />
      <Card flush>
        <DataTable<Member>
          label={text.members}
          columns={columns}
          rows={members.error ? [] : members.data?.data}
          rowKey={({ id }) => id}
          empty={<EmptyState icon={Users} title={text.members} />}
          {...(isOwner && {
            actions: (member: Member) => <Actions member={member} onRemove={() => setLeaving(member)} />,
          })}
        />
      </Card>
      <InviteDialog open={isInviting} onClose={() => setInviting(false)} />
      <RemoveDialog member={leaving} onClose={() => setLeaving(undefined)} />
    </>
  );
}

function useColumns(isOwner: boolean): Column<Member>[] {
  const text = useWords(words);
  const { member: own } = useSession();
  return [
    {
      key: 'person',
      label: text.person,
      cell: ({ id, name, email }) => (
        <span className="person">
          <span>
            {name || email} {id === own.id && <span className="soft">({text.you})</span>}
          </span>
          {name && <span className="soft">{email}</span>}
        </span>
      ),
    },
    {
      key: 'role',
      label: text.role,
      cell: (member) => (isOwner ? <RoleSelect member={member} /> : text.roles[member.role]),
    },
    {
      key: 'state',
      label: text.state,
      cell: ({ state }) => (
        <StatusBadge status={state} label={text.states[state]} tone={state === 'ACTIVE' ? 'good' : 'info'} />
      ),
    },
    { key: 'seen', label: text.lastSeen, cell: ({ lastSeenAt }) => <Time value={lastSeenAt} />, wideOnly: true },
  ];
}

function RoleSelect({ member: { id, email, role } }: { member: Member }) {
  const text = useWords(words);
  const toast = useToast();
  const refreshSession = useRefreshSession();
  const { member: own } = useSession();
  const { mutateAsync, isPending } = useChange('PATCH /organization/members/{id}', { refreshes });
  const change = async (next: Role) => {
    try {
      await mutateAsync({ params: { id }, body: { role: next } });
      toast.done(text.roleChanged(email));
      if (id === own.id) await refreshSession();
    } catch (error) {
      toast.failed(text.failed, (error as Error).message);
    }
  };
  return (
    <SelectField
      label={text.roleOf(email)}
      hideLabel
      value={role}
      disabled={isPending}
      options={choices.map((choice) => [choice, text.roles[choice]])}
      onChange={(next) => void change(next)}
    />
  );
}

function Actions({ member: { email, role, state }, onRemove }: { member: Member; onRemove: () => void }) {
  const text = useWords(words);
  const toast = useToast();
  const invite = useChange('POST /organization/members', {
    refreshes,
    onSuccess: () => toast.done(text.invited(email)),
  });
  const again = () =>
    invite.mutateAsync({ body: { email, role } }).catch((error: Error) => toast.failed(text.failed, error.message));
  const isInvited = state === 'INVITED';
  return (
    <Menu
      trigger={<IconButton icon={Ellipsis} kind="quiet" label={text.actionsOf(email)} />}
      items={[
        ...(isInvited ? [{ label: text.sendAgain, icon: MailPlus, onSelect: () => void again() }] : []),
        { label: isInvited ? text.withdraw : text.remove, icon: UserRoundMinus, danger: true, onSelect: onRemove },
      ]}
    />
  );
}

function InviteDialog({ open, onClose }: { open: boolean; onClose: () => void }) {
  const text = useWords(words);
  const toast = useToast();
  const { mutateAsync } = useChange('POST /organization/members', { refreshes });
  const form = useForm<{ email: string; role: Role }>({
    initial: { email: '', role: 'DEVELOPER' },
    onSubmit: async ({ email, role }) => {
      await mutateAsync({ body: { email: email.trim(), role } });
      toast.done(text.invited(email.trim()));
      close();
    },
  });
  const close = () => {
    form.reset();
    onClose();
  };
  return (
    <Dialog
      open={open}
      onClose={close}
      title={text.invite}
      description={text.inviteBody}
      size="s"
      footer={
        <Button type="submit" form="invite" kind="primary" pending={form.pending}>
          {text.invite}
        </Button>
      }
    >
      <form id="invite" className="stack" onSubmit={form.onSubmit}>
        <TextField {...form.field('email')} label={text.email} type="email" autoComplete="off" required />
        <SelectField
          {...form.field('role')}
          label={text.role}
          options={choices.map((choice) => [choice, text.roles[choice]])}
          hint={text.roleHints[form.values.role]}
        />
        <ErrorNote error={form.failure} />
      </form>
    </Dialog>
  );
}

function RemoveDialog({ member, onClose }: { member: Member | undefined; onClose: () => void }) {
  const text = useWords(words);
  const toast = useToast();
  const { mutateAsync } = useChange('DELETE /organization/members/{id}', { refreshes });
  if (!member) return null;
  const isInvited = member.state === 'INVITED';
  const remove = async () => {
    await mutateAsync({ params: { id: member.id } });
    toast.done(isInvited ? text.withdrawn : text.removed);
  };
  return (
    <ConfirmDialog
      open
      onClose={onClose}
      title={isInvited ? text.withdrawTitle(member.email) : text.removeMember(member.email)}
      action={isInvited ? text.withdraw : text.remove}
      onConfirm={remove}
    >
      {isInvited ? text.withdrawBody : text.removeMemberBody}
    </ConfirmDialog>
  );
}
