import { Link2Off, UserRoundCheck } from 'lucide-react';
import { Button } from '../../ui/button.tsx';
import { TextField } from '../../ui/fields.tsx';
import { EmptyState, ErrorNote } from '../../ui/page.tsx';
import { useChange } from '../api.ts';
import { useForm } from '../form.ts';
import { useParam } from '../navigation.ts';
import { OutsidePage } from '../outside.tsx';
import { openDashboard } from '../sign-in.ts';
import { words } from '../words/members.ts';
import { useWords } from '../words.ts';

export default function InvitationPage() {
  const text = useWords(words);
  const token = useParam('token');
  const { mutateAsync } = useChange('POST /session/mail-links/redeem', { onSuccess: openDashboard });
  const form = useForm({
    initial: { name: '' },
    onSubmit: ({ name }) => mutateAsync({ body: { token, name: name.trim() } }),
  });
  const isUsed = form.failure?.code === 'invalid_link';
  return (
    <OutsidePage title={text.invitation} description={isUsed ? undefined : text.invitationBody}>
      {isUsed ? (
        <EmptyState icon={Link2Off} title={text.badLink}>
          {text.badInvitation}
        </EmptyState>
      ) : (
        <form className="stack" onSubmit={form.onSubmit}>
          <TextField {...form.field('name')} label={text.name} autoComplete="name" maxLength={100} optional />
          <ErrorNote error={form.failure} />
          <Button type="submit" kind="primary" icon={UserRoundCheck} pending={form.pending}>
            {text.accept}
          </Button>
        </form>
      )}
    </OutsidePage>
  );
}
