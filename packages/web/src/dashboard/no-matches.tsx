import type { LucideIcon } from 'lucide-react';
import { Button } from '../ui/button.tsx';
import { EmptyState } from '../ui/page.tsx';
import { useNavigateTo } from './navigation.ts';
import { words } from './words/shell.ts';
import { useWords } from './words.ts';

interface NoMatchesProps {
  icon: LucideIcon;
  title: string;
  /** What to look for instead. */
  hint?: string;
  /** The list without its filters. */
  to: string;
}

/** For a list whose filters leave nothing. */
export function NoMatches({ icon, title, hint, to }: NoMatchesProps) {
  const { clearFilters } = useWords(words);
  const navigate = useNavigateTo();
  return (
    <EmptyState icon={icon} title={title} action={<Button onClick={() => navigate(to)}>{clearFilters}</Button>}>
      {hint}
    </EmptyState>
  );
}
