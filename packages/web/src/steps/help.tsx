import type { ReactNode } from 'react';

interface HelpProps {
  readonly title: string;
  readonly lines: readonly string[];
}

export function Help({ title, lines }: HelpProps): ReactNode {
  return (
    <details>
      <summary>{title}</summary>
      {lines.map((line) => (
        <p key={line}>{line}</p>
      ))}
    </details>
  );
}
