import { Gift, type LucideIcon } from 'lucide-react';
import { request } from './api.ts';

const HITS = 5;

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
export const searches: readonly Search[] = [
  {
    page: 'gifts',
    icon: Gift,
    find: async (text, signal) => {
      const { data } = await request('GET /gifts', { query: { search: text, limit: HITS } }, signal);
      return data.map(({ id, name, code }) => ({ label: name, note: code, to: `/gifts/${id}` }));
    },
  },
];
