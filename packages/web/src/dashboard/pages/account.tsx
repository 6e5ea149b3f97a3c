import { EmptyState, PageHeader } from '../../ui/page.tsx';
import { words } from '../words/shell.ts';
import { useWords } from '../words.ts';

export default function AccountPage() {
  const text = useWords(words);
  return (
    <>
      <PageHeader title={text.pages.account} />
      <EmptyState title={text.notBuilt} />
    </>
  );
}
