import { startAuthentication } from '@simplewebauthn/browser';
import { Fingerprint, Mail, MailCheck } from 'lucide-react';
import { useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { TextField } from '../../ui/fields.tsx';
import { EmptyState, ErrorNote, Note } from '../../ui/page.tsx';
import { isFailure, useChange } from '../api.ts';
import { useForm } from '../form.ts';
import { OutsidePage } from '../outside.tsx';
import { openDashboard, passkeyUse, rememberNextPage } from '../sign-in.ts';
import { words } from '../words/members.ts';
import { useWords } from '../words.ts';

export default function SignInPage() {
  const text = useWords(words);
  const [sentTo, setSentTo] = useState<string>();
  return (
    <OutsidePage title={text.signIn} description={text.signInBody}>
      {sentTo === undefined ? (
        <div className="stack">
          <MailForm onSent={setSentTo} />
          <p className="soft or">{text.or}</p>
          <PasskeySignIn />
        </div>
      ) : (
        <EmptyState
          icon={MailCheck}
          title={text.sent}
          action={<Button onClick={() => setSentTo(undefined)}>{text.otherAddress}</Button>}
        >
          {text.sentBody(sentTo)}
        </EmptyState>
      )}
    </OutsidePage>
  );
}

function MailForm({ onSent }: { onSent: (email: string) => void }) {
  const text = useWords(words);
  const { mutateAsync } = useChange('POST /session/mail-links');
  const form = useForm({
    initial: { email: '' },
    onSubmit: async ({ email }) => {
      await mutateAsync({ body: { email: email.trim() } });
      rememberNextPage();
      onSent(email.trim());
    },
  });
  return (
    <form className="stack" onSubmit={form.onSubmit}>
      <TextField {...form.field('email')} label={text.email} type="email" autoComplete="username" required autoFocus />
      <ErrorNote error={form.failure} />
      <Button type="submit" kind="primary" icon={Mail} pending={form.pending}>
        {text.sendLink}
      </Button>
    </form>
  );
}

function PasskeySignIn() {
  const text = useWords(words);
  const options = useChange('POST /session/passkeys/options');
  const verify = useChange('POST /session/passkeys/verify');
  const [isCancelled, setCancelled] = useState(false);
  const use = passkeyUse();
  const signIn = async () => {
    setCancelled(false);
    const { options: optionsJSON } = await options.mutateAsync({});
    const response = await startAuthentication({ optionsJSON }).catch(() => undefined);
    if (!response) return setCancelled(true);
    await verify.mutateAsync({ body: { response: { ...response } } });
    openDashboard();
  };
  if (!use.possible) {
    return (
      <Note tone="plain">
        {use.url === undefined ? (
          text.passkeysUnavailable
        ) : (
          <>
            {text.passkeysByName} <a href={use.url}>{new URL(use.url).host}</a>
          </>
        )}
      </Note>
    );
  }
  return (
    <>
      <Button
        icon={Fingerprint}
        pending={options.isPending || verify.isPending}
        onClick={() => void signIn().catch(() => undefined)}
      >
        {text.withPasskey}
      </Button>
      {isCancelled && <Note tone="warn">{text.passkeyFailed}</Note>}
      {isFailure(verify.error, 'invalid_passkey') ? (
        <Note tone="warn">{text.passkeyUnknown}</Note>
      ) : (
        <ErrorNote error={options.error ?? verify.error} />
      )}
    </>
  );
}
