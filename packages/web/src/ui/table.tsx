import { ChevronLeft, ChevronRight } from 'lucide-react';
import type { MouseEvent, ReactNode } from 'react';
import { Button } from './button.tsx';
import { localeOf, useLanguage, useWords } from './language.ts';
import { Link, useNavigation } from './link.tsx';
import { Skeleton } from './page.tsx';
import { words } from './words.ts';

export interface Column<T> {
  readonly key: string;
  readonly label: string;
  readonly cell: (row: T) => ReactNode;
  /** Numbers and money stand at the end of their column. */
  readonly align?: 'end';
  /** The heading of the card on a narrow screen. The first column unless told. */
  readonly main?: boolean;
  /** Left out on narrow screens. */
  readonly wideOnly?: boolean;
}

export interface DataTableProps<T> {
  /** What the table lists, for screen readers. */
  label: string;
  columns: readonly Column<T>[];
  /** Undefined while it loads. */
  rows: readonly T[] | undefined;
  rowKey: (row: T) => string;
  /** The path of a row's own page: the whole row leads there. */
  rowTo?: (row: T) => string;
  /** Shown instead of a table without rows. */
  empty: ReactNode;
  /** Buttons at the end of a row. */
  actions?: (row: T) => ReactNode;
}

/** A table; a list of cards on narrow screens. */
export function DataTable<T>({ label, columns, rows, rowKey, rowTo, empty, actions }: DataTableProps<T>) {
  const text = useWords(words);
  const { go } = useNavigation();
  if (!rows) return <Skeleton lines={6} />;
  if (rows.length === 0) return empty;
  const main = columns.find((column) => column.main) ?? columns[0];
  const open = (event: MouseEvent, row: T) => {
    if (!rowTo || !go || isInteractive(event.target) || getSelection()?.toString()) return;
    go(rowTo(row));
  };
  return (
    <div className="table-frame">
      {/* biome-ignore lint/a11y/noRedundantRoles: display: block on narrow screens takes the role away */}
      <table className="table" role="table" aria-label={label}>
        <thead>
          <tr>
            {columns.map(({ key, label: name, align, wideOnly }) => (
              <th key={key} scope="col" data-align={align} data-wide={wideOnly}>
                {name}
              </th>
            ))}
            {actions && (
              <th scope="col">
                <span className="hidden">{text.actions}</span>
              </th>
            )}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={rowKey(row)} data-link={rowTo && true} onClick={(event) => open(event, row)}>
              {columns.map((column) => (
                <td
                  key={column.key}
                  data-label={column.label}
                  data-align={column.align}
                  data-wide={column.wideOnly}
                  data-main={column === main || undefined}
                >
                  {column === main && rowTo ? <Link to={rowTo(row)}>{column.cell(row)}</Link> : column.cell(row)}
                </td>
              ))}
              {actions && <td data-actions>{actions(row)}</td>}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

const isInteractive = (target: EventTarget) =>
  target instanceof Element && target.closest('a, button, input, select, label, [role="menuitem"]') !== null;

export interface PagerProps {
  page: number;
  limit: number;
  total: number;
  onPage: (page: number) => void;
}

/** For lists with numbered pages. */
export function Pager({ page, limit, total, onPage }: PagerProps) {
  const text = useWords(words);
  const number = new Intl.NumberFormat(localeOf(useLanguage()));
  if (total <= limit) return null;
  const from = (page - 1) * limit + 1;
  const to = Math.min(total, page * limit);
  return (
    <div className="pager">
      <span className="soft number">{text.rows(number.format(from), number.format(to), number.format(total))}</span>
      <Button size="s" icon={ChevronLeft} disabled={page <= 1} onClick={() => onPage(page - 1)}>
        {text.previous}
      </Button>
      <Button size="s" disabled={to >= total} onClick={() => onPage(page + 1)}>
        {text.next}
        <ChevronRight size={16} aria-hidden />
      </Button>
    </div>
  );
}

export interface MoreProps {
  hasMore: boolean;
  pending: boolean;
  onMore: () => void;
}

/** For lists with a cursor. */
export function More({ hasMore, pending, onMore }: MoreProps) {
  const text = useWords(words);
  if (!hasMore) return null;
  return (
    <div className="pager">
      <Button size="s" pending={pending} onClick={onMore}>
        {text.more}
      </Button>
    </div>
  );
}
