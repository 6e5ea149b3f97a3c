import type { ReactNode } from 'react';
import { Card, PageHeader } from '../ui/page.tsx';

interface OutsidePageProps {
  title: string;
  description?: string | undefined;
  children: ReactNode;
}

/** A page for people who are not signed in: the product's mark, a heading and one card. */
export function OutsidePage({ title, description, children }: OutsidePageProps) {
  return (
    <main className="outside">
      <Mark />
      <PageHeader title={title} description={description} />
      <Card>{children}</Card>
    </main>
  );
}

/** The same drawing as ui/icon.svg. */
function Mark() {
  return (
    <svg className="mark" viewBox="0 0 32 32" width={40} height={40} aria-hidden="true">
      <rect width="32" height="32" rx="8" fill="#a11d4a" />
      <path
        d="M21.5 11.2c-.7-2-2.8-3.2-5.5-3.2-3.2 0-5.5 1.6-5.5 4 0 5.6 11.5 2.4 11.5 8 0 2.4-2.5 4-6 4-3 0-5.2-1.3-5.9-3.4"
        fill="none"
        stroke="#fff"
        strokeWidth="2.8"
        strokeLinecap="round"
      />
    </svg>
  );
}
