import { KeyRound, Link2Off } from 'lucide-react';
import { Button, LinkButton } from '../../ui/button.tsx';
import { EmptyState, ErrorNote } from '../../ui/page.tsx';
import { isFailure, useChange } from '../api.ts';
import { useParam } from '../navigation.ts';
import { OutsidePage } from '../outside.tsx';
import { openDashboard } from '../sign-in.ts';
import { words } from '../words/members.ts';
import { useWords } from '../words.ts';

/** The link of a mail. Programs that look at mails open links, so a click uses it, not the visit. */
export default function SignInTokenPage() {
  const text = useWords(words);
  const token = useParam('token');
  const redeem = useChange('POST /session/mail-links/redeem', { onSuccess: openDashboard });
  const isUsed = isFailure(redeem.error, 'invalid_link');
  return (
    <OutsidePage title={text.tokenTitle} description={isUsed ? undefined : text.tokenBody}>
      {isUsed ? (
        <EmptyState
          icon={Link2Off}
          title={text.badLink}
          action={
            <LinkButton to="/sign-in" kind="primary">
              {text.newLink}
            </LinkButton>
          }
        />
      ) : (
        <div className="stack">
          <Button
            kind="primary"
            icon={KeyRound}
            pending={redeem.isPending}
            onClick={() => redeem.mutate({ body: { token } })}
            autoFocus
          >
            {text.continue}
          </Button>
          <ErrorNote error={redeem.error} />
        </div>
      )}
    </OutsidePage>
  );
}
