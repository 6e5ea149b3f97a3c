import { EmptyState, PageHeader } from '../../ui/page.tsx';
import { words } from '../words/shell.ts';
import { useWords } from '../words.ts';

export default function EventsPage() {
  const text = useWords(words);
  return (
    <>
      <PageHeader title={text.pages.events} />
      <EmptyState title={text.notBuilt} />
    </>
  );
}
