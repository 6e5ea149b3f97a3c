import type { ErrorComponentProps } from '@tanstack/react-router';
import { Compass, TriangleAlert } from 'lucide-react';
import { Button, LinkButton } from '../../ui/button.tsx';
import { EmptyState, PageHeader } from '../../ui/page.tsx';
import { words } from '../words/shell.ts';
import { useWords } from '../words.ts';

export function NotFoundPage() {
  const text = useWords(words);
  return (
    <>
      <PageHeader title={text.notFound} />
      <EmptyState
        icon={Compass}
        title={text.notFoundBody}
        action={
          <LinkButton to="/" kind="primary">
            {text.toOverview}
          </LinkButton>
        }
      />
    </>
  );
}

export function BrokenPage({ error }: ErrorComponentProps) {
  const text = useWords(words);
  return (
    <>
      <PageHeader title={text.broken} />
      <EmptyState
        icon={TriangleAlert}
        title={text.brokenBody}
        action={<Button onClick={() => location.reload()}>{text.reload}</Button>}
      >
        <p className="mono">{error instanceof Error ? error.message : String(error)}</p>
      </EmptyState>
    </>
  );
}
