import { useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { CodeBlock } from '../../ui/code-block.tsx';
import { TextField } from '../../ui/fields.tsx';
import { Card, ErrorNote, Section } from '../../ui/page.tsx';
import { useForm } from '../form.ts';
import { useSandboxChange } from '../sandbox.ts';
import { words } from '../words/sandbox.ts';
import { useWords } from '../words.ts';

export function UsersTab() {
  const text = useWords(words);
  const change = useSandboxChange();
  const [token, setToken] = useState<string>();
  const form = useForm({
    initial: { sub: '', expiresInSeconds: '3600' },
    onSubmit: async ({ sub, expiresInSeconds }) => {
      const body = { sub: sub.trim(), expiresInSeconds: Number(expiresInSeconds) };
      const answer = await change<{ token: string }>('POST', '/identity/token', body);
      setToken(answer.token);
    },
  });
  return (
    <Section title={text.tabs.users} description={text.usersHint}>
      <Card>
        <form className="form" onSubmit={form.onSubmit}>
          <TextField label={text.user} hint={text.userHint} required placeholder="ana" {...form.field('sub')} />
          <TextField label={text.lifetime} inputMode="numeric" required {...form.field('expiresInSeconds')} />
          <ErrorNote error={form.failure} />
          <div className="row">
            <Button type="submit" kind="primary" pending={form.pending}>
              {text.make}
            </Button>
          </div>
        </form>
      </Card>
      {token && (
        <Card title={text.yourToken}>
          <CodeBlock value={token} label={text.copyToken} />
        </Card>
      )}
    </Section>
  );
}
