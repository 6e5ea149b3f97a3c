import { SearchX } from 'lucide-react';
import type { ReactNode } from 'react';
import { LinkButton } from '../../ui/button.tsx';
import { useWords } from '../../ui/language.ts';
import { EmptyState, PageHeader } from '../../ui/page.tsx';
import { words } from '../words.ts';

export default function NotFoundPage() {
  const text = useWords(words);
  return <Missing>{text.notFoundPage}</Missing>;
}

/** Says what is not there, and where to go on. */
export function Missing({ children, action }: { children: ReactNode; action?: ReactNode }) {
  const text = useWords(words);
  return (
    <>
      <PageHeader title={text.notFound} />
      <EmptyState
        icon={SearchX}
        title={typeof children === 'string' ? children : text.nothing}
        action={action ?? <LinkButton to="/">{text.back}</LinkButton>}
      >
        {typeof children === 'string' ? text.nothingTips : children}
      </EmptyState>
    </>
  );
}
