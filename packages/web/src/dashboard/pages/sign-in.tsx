import { EmptyState, PageHeader } from '../../ui/page.tsx';
import { words } from '../words/shell.ts';
import { useWords } from '../words.ts';

export default function SignInPage() {
  const text = useWords(words);
  return (
    <main className="outside">
      <PageHeader title={text.pages.signIn} />
      <EmptyState title={text.notBuilt} />
    </main>
  );
}
