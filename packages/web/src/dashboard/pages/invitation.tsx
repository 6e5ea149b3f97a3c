import { EmptyState, PageHeader } from '../../ui/page.tsx';
import { words } from '../words/shell.ts';
import { useWords } from '../words.ts';

export default function InvitationPage() {
  const text = useWords(words);
  return (
    <main className="outside">
      <PageHeader title={text.pages.invitation} />
      <EmptyState title={text.notBuilt} />
    </main>
  );
}
