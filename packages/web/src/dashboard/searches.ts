import type { LucideIcon } from 'lucide-react';

export interface Hit {
  readonly label: string;
  /** Beside the label, such as a user or an amount. */
  readonly note?: string;
  /** A path below `/dashboard`. */
  readonly to: string;
}

export interface Search {
  /** The heading of its hits: a page of the sidebar. */
  readonly page: 'wallets' | 'transactions' | 'gifts' | 'purchases';
  readonly icon?: LucideIcon;
  /** At most a few, best first. Text is trimmed and not empty. */
  readonly find: (text: string, signal: AbortSignal) => Promise<readonly Hit[]>;
}

/** What the palette finds besides pages. */
export const searches: readonly Search[] = [];
