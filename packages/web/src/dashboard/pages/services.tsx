import { EmptyState, PageHeader } from '../../ui/page.tsx';
import { words } from '../words/shell.ts';
import { useWords } from '../words.ts';

export default function ServicesPage() {
  const text = useWords(words);
  return (
    <>
      <PageHeader title={text.pages.services} />
      <EmptyState title={text.notBuilt} />
    </>
  );
}
