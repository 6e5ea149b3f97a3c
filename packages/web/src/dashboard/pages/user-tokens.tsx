import { CircleCheck, CircleX, Minus } from 'lucide-react';
import { useState } from 'react';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { TextAreaField, TextField } from '../../ui/fields.tsx';
import { Link } from '../../ui/link.tsx';
import { Card, ErrorNote, Note, PageHeader, Section, Skeleton } from '../../ui/page.tsx';
import { useToast } from '../../ui/toast.tsx';
import { type AnswerTo, useChange, useRead } from '../api.ts';
import { useEnvironment } from '../environment.ts';
import { useForm } from '../form.ts';
import { useSession } from '../session.tsx';
import { words } from '../words/developers.ts';
import { words as shell } from '../words/shell.ts';
import { useWords } from '../words.ts';
import './developers.css';

const SETTINGS = 'GET /organization/settings';
type Settings = AnswerTo<typeof SETTINGS>;

export default function UserTokensPage() {
  const text = useWords(words);
  const { data, error, refetch } = useRead(SETTINGS);
  return (
    <>
      <PageHeader title={useWords(shell).pages.userTokens} description={text.users.intro} />
      <ErrorNote error={error} retry={() => void refetch()} />
      {!data && !error && <Skeleton lines={6} />}
      {data && (
        <>
          {data.jwksUrl === null && <Note tone="warn">{text.users.none}</Note>}
          <KeySetForm key={data.updatedAt} settings={data} />
        </>
      )}
      <TokenCheck />
    </>
  );
}

function KeySetForm({ settings }: { settings: Settings }) {
  const text = useWords(words);
  const environment = useEnvironment();
  const session = useSession();
  const toast = useToast();
  const update = useChange('PATCH /organization/settings', { refreshes: [SETTINGS] });
  const form = useForm({
    initial: {
      jwksUrl: settings.jwksUrl ?? '',
      jwtIssuer: settings.jwtIssuer ?? '',
      jwtAudience: settings.jwtAudience ?? '',
      jwtUserClaim: settings.jwtUserClaim,
    },
    onSubmit: async ({ jwksUrl, jwtIssuer, jwtAudience, jwtUserClaim }) => {
      const orNull = (value: string) => value.trim() || null;
      await update.mutateAsync({
        body: {
          jwksUrl: orNull(jwksUrl),
          jwtIssuer: orNull(jwtIssuer),
          jwtAudience: orNull(jwtAudience),
          jwtUserClaim: jwtUserClaim.trim() || 'sub',
        },
      });
      toast.done(text.saved);
    },
  });
  const mayChange = session.can('DEVELOPER');
  return (
    <Section title={text.users.title}>
      <Card>
        <form className="form" onSubmit={form.onSubmit}>
          <TextField
            {...form.field('jwksUrl')}
            label={text.users.jwksUrl}
            hint={text.users.jwksHint[environment]}
            inputMode="url"
            autoComplete="off"
            disabled={!mayChange}
            mono
          />
          <TextField
            {...form.field('jwtIssuer')}
            label={text.users.issuer}
            hint={text.users.issuerHint}
            optional={environment === 'development'}
            autoComplete="off"
            disabled={!mayChange}
            mono
          />
          <TextField
            {...form.field('jwtAudience')}
            label={text.users.audience}
            hint={text.users.audienceHint}
            optional={environment === 'development'}
            autoComplete="off"
            disabled={!mayChange}
            mono
          />
          <TextField
            {...form.field('jwtUserClaim')}
            label={text.users.claim}
            hint={text.users.claimHint}
            autoComplete="off"
            disabled={!mayChange}
            mono
          />
          <ErrorNote error={form.failure} />
          {mayChange ? (
            <div className="row">
              <Button type="submit" kind="primary" pending={form.pending}>
                {text.save}
              </Button>
              {environment === 'development' && form.values.jwksUrl !== 'sandbox' && (
                <Button onClick={() => form.set({ jwksUrl: 'sandbox', jwtIssuer: '', jwtAudience: '' })}>
                  {text.users.useSandbox}
                </Button>
              )}
            </div>
          ) : (
            <Note>{text.readOnly}</Note>
          )}
        </form>
      </Card>
    </Section>
  );
}

type Checked = AnswerTo<'POST /organization/settings/check-token'>;

function TokenCheck() {
  const text = useWords(words);
  const environment = useEnvironment();
  const session = useSession();
  const [checked, setChecked] = useState<Checked>();
  const check = useChange('POST /organization/settings/check-token');
  const form = useForm({
    initial: { token: '' },
    onSubmit: async ({ token }) => {
      setChecked(undefined);
      setChecked(await check.mutateAsync({ body: { token: token.trim() } }));
    },
  });
  return (
    <Section title={text.users.checkTitle} description={text.users.checkIntro}>
      <Card>
        <form className="form wide" onSubmit={form.onSubmit}>
          <TextAreaField
            {...form.field('token')}
            label={text.users.token}
            rows={5}
            mono
            spellCheck={false}
            autoComplete="off"
            {...(environment === 'development' && {
              hint: (
                <>
                  {text.users.sandboxHint} <Link to="/sandbox?tab=users">{text.users.openSandbox}</Link>
                </>
              ),
            })}
          />
          <ErrorNote error={form.failure} />
          <div className="row">
            <Button
              type="submit"
              kind="primary"
              pending={form.pending}
              disabled={form.values.token.trim() === '' || !session.can('DEVELOPER')}
            >
              {text.users.check}
            </Button>
          </div>
        </form>
        <div aria-live="polite">{checked && <Steps checked={checked} />}</div>
      </Card>
    </Section>
  );
}

const icons = { passed: CircleCheck, failed: CircleX, skipped: Minus } as const;
const tones = { passed: 'good', failed: 'bad', skipped: 'plain' } as const;

function Steps({ checked }: { checked: Checked }) {
  const text = useWords(words);
  return (
    <div className="stack token-check">
      <Note tone={checked.valid ? 'good' : 'bad'} icon={checked.valid ? CircleCheck : CircleX}>
        {checked.valid ? text.users.valid(checked.externalUserId ?? '') : text.users.invalid}
      </Note>
      <ol className="token-steps" aria-label={text.users.stepsLabel}>
        {checked.steps.map(({ step, result, detail }) => {
          const Icon = icons[result];
          return (
            <li key={step} data-result={result}>
              <Icon size={18} aria-hidden />
              <div className="grow">
                <div className="row">
                  <strong>{text.users.steps[step]}</strong>
                  <Badge tone={tones[result]}>{text.users.results[result]}</Badge>
                </div>
                <p>{text.users.stepMeans[step]}</p>
                <p className="soft" lang="en">
                  {detail}
                </p>
              </div>
            </li>
          );
        })}
      </ol>
    </div>
  );
}
