import type { ReactNode } from 'react';
import { Button, LinkButton } from '../../ui/button.tsx';
import { SwitchField, TextField } from '../../ui/fields.tsx';
import { Card, DescriptionList, ErrorNote, Note, PageHeader, Section, Skeleton } from '../../ui/page.tsx';
import { useToast } from '../../ui/toast.tsx';
import { Hash, Time } from '../../ui/values.tsx';
import { type AnswerTo, useChange, useRead } from '../api.ts';
import { useEnvironment } from '../environment.ts';
import { type Form, useForm } from '../form.ts';
import { useSession } from '../session.tsx';
import { words } from '../words/settings.ts';
import { words as shell } from '../words/shell.ts';
import { useWords } from '../words.ts';

const SETTINGS = 'GET /organization/settings';
type Settings = AnswerTo<typeof SETTINGS>;

export default function SettingsPage() {
  const text = useWords(words);
  const { data, error, refetch } = useRead(SETTINGS);
  return (
    <>
      <PageHeader title={useWords(shell).pages.settings} />
      <Organization />
      <ErrorNote error={error} retry={() => void refetch()} />
      {!data && !error && <Skeleton lines={8} />}
      {data && (
        <>
          <MailForm key={`mail ${data.updatedAt}`} settings={data} />
          <GiftForm key={`gifts ${data.updatedAt}`} settings={data} />
        </>
      )}
      <Section title={text.settings.elsewhere}>
        <Card>
          <div className="row">
            <LinkButton to="/developers/users">{text.settings.links.users}</LinkButton>
            <LinkButton to="/settings/branding">{text.settings.links.branding}</LinkButton>
            <LinkButton to="/settings/members">{text.settings.links.members}</LinkButton>
            <LinkButton to="/money">{text.settings.links.money}</LinkButton>
          </div>
        </Card>
      </Section>
    </>
  );
}

function Organization() {
  const text = useWords(words);
  const names = useWords(shell);
  const environment = useEnvironment();
  const { data, error, refetch } = useRead('GET /organization');
  return (
    <>
      <ErrorNote error={error} retry={() => void refetch()} />
      {!data && !error && <Skeleton lines={3} />}
      {data && (
        <Card>
          <DescriptionList
            columns={2}
            rows={[
              [text.settings.name, data.name],
              [text.settings.id, <Hash key="id" value={data.id} label={text.settings.id} />],
              [text.settings.environment, names.environments[environment]],
              [text.settings.created, <Time key="created" value={data.createdAt} exact />],
            ]}
          />
        </Card>
      )}
    </>
  );
}

function useUpdate() {
  const text = useWords(words);
  const toast = useToast();
  const update = useChange('PATCH /organization/settings', { refreshes: [SETTINGS] });
  return async (body: NonNullable<Parameters<typeof update.mutateAsync>[0]['body']>) => {
    await update.mutateAsync({ body });
    toast.done(text.saved);
  };
}

interface FormCardProps {
  title: string;
  description: string;
  form: Pick<Form<Record<string, unknown>>, 'failure' | 'pending' | 'onSubmit'>;
  children: ReactNode;
}

function FormCard({ title, description, form, children }: FormCardProps) {
  const text = useWords(words);
  const session = useSession();
  return (
    <Section title={title} description={description}>
      <Card>
        <form className="form" onSubmit={form.onSubmit}>
          {children}
          <ErrorNote error={form.failure} />
          {session.can('DEVELOPER') ? (
            <div className="row">
              <Button type="submit" kind="primary" pending={form.pending}>
                {text.save}
              </Button>
            </div>
          ) : (
            <Note>{text.readOnly}</Note>
          )}
        </form>
      </Card>
    </Section>
  );
}

function MailForm({ settings }: { settings: Settings }) {
  const text = useWords(words);
  const session = useSession();
  const update = useUpdate();
  const form = useForm({
    initial: { notificationEmail: settings.notificationEmail ?? '' },
    onSubmit: ({ notificationEmail }) => update({ notificationEmail: notificationEmail.trim() || null }),
  });
  return (
    <FormCard title={text.settings.mail} description={text.settings.mailIntro} form={form}>
      <TextField
        {...form.field('notificationEmail')}
        label={text.settings.email}
        hint={text.settings.emailHint}
        type="email"
        autoComplete="email"
        disabled={!session.can('DEVELOPER')}
      />
    </FormCard>
  );
}

const AMOUNT = /^\d{1,7}(\.\d{1,6})?$/;
const MAX_AMOUNT = 1_000_000;

function GiftForm({ settings }: { settings: Settings }) {
  const text = useWords(words);
  const environment = useEnvironment();
  const session = useSession();
  const update = useUpdate();
  const daily = settings.publicKeyGiftsDailyUsd;
  const form = useForm({
    initial: {
      giftsNeedSecretKey: settings.giftsNeedSecretKey,
      publicKeyGiftsDailyUsd: daily === null ? '' : String(daily),
      recipientWallets: settings.recipientWallets,
      recipientAppUrl: settings.recipientAppUrl ?? '',
    },
    check: ({ publicKeyGiftsDailyUsd: amount }) =>
      amount === '' || (AMOUNT.test(amount) && Number(amount) <= MAX_AMOUNT)
        ? {}
        : { publicKeyGiftsDailyUsd: text.settings.dailyWrong },
    onSubmit: ({ giftsNeedSecretKey, publicKeyGiftsDailyUsd: amount, recipientWallets, recipientAppUrl }) =>
      update({
        giftsNeedSecretKey,
        publicKeyGiftsDailyUsd: amount === '' ? null : Number(amount),
        recipientWallets,
        recipientAppUrl: recipientAppUrl.trim() || null,
      }),
  });
  const { value, onChange } = form.field('giftsNeedSecretKey');
  const wallets = form.field('recipientWallets');
  return (
    <FormCard title={text.settings.gifts} description={text.settings.giftsIntro} form={form}>
      <SwitchField
        label={text.settings.needSecret}
        hint={text.settings.needSecretHint[environment]}
        checked={value}
        onChange={onChange}
        disabled={!session.can('DEVELOPER')}
      />
      <TextField
        {...form.field('publicKeyGiftsDailyUsd')}
        label={text.settings.daily}
        hint={text.settings.dailyHint}
        before="$"
        inputMode="decimal"
        autoComplete="off"
        disabled={!session.can('DEVELOPER')}
      />
      <SwitchField
        label={text.settings.wallets}
        hint={text.settings.walletsHint}
        checked={wallets.value}
        onChange={wallets.onChange}
        disabled={!session.can('DEVELOPER')}
      />
      <TextField
        {...form.field('recipientAppUrl')}
        label={text.settings.appUrl}
        hint={text.settings.appUrlHint}
        type="url"
        autoComplete="off"
        disabled={!session.can('DEVELOPER')}
      />
    </FormCard>
  );
}
