import { ChevronRight, type LucideIcon, TriangleAlert } from 'lucide-react';
import { createContext, Fragment, type ReactNode, useContext, useEffect, useId } from 'react';
import { Button } from './button.tsx';
import { useWords } from './language.ts';
import { Link } from './link.tsx';
import { words } from './words.ts';

export interface PageHeaderProps {
  title: string;
  /** One sentence. */
  description?: ReactNode;
  /** The pages above this one, as text and path. */
  parents?: readonly { readonly label: string; readonly to: string }[];
  /** Beside the title, such as a status. */
  badge?: ReactNode;
  actions?: ReactNode;
}

/** The heading of a page; names the document too. */
export function PageHeader({ title, description, parents = [], badge, actions }: PageHeaderProps) {
  useEffect(() => {
    document.title = `${title} · svc`;
  }, [title]);
  return (
    <header className="page-header">
      {parents.length > 0 && (
        <nav className="crumbs" aria-label={parents.map(({ label }) => label).join(', ')}>
          {parents.map(({ label, to }) => (
            <Fragment key={to}>
              <Link to={to}>{label}</Link>
              <ChevronRight size={14} aria-hidden />
            </Fragment>
          ))}
        </nav>
      )}
      <div className="page-title">
        <h1 tabIndex={-1}>{title}</h1>
        {badge}
      </div>
      {description && <p className="page-about soft">{description}</p>}
      {actions && <div className="page-actions">{actions}</div>}
    </header>
  );
}

export interface CardProps {
  title?: ReactNode;
  actions?: ReactNode;
  /** Without inner space: for tables. */
  flush?: boolean;
  children: ReactNode;
}

/** Headings of cards follow the heading around them. */
const InSection = createContext(false);

export function Card({ title, actions, flush = false, children }: CardProps) {
  const Heading = useContext(InSection) ? 'h3' : 'h2';
  return (
    <div className={flush ? 'card flush' : 'card'}>
      {(title || actions) && (
        <div className="card-head">
          {title && <Heading>{title}</Heading>}
          {actions && <div className="row">{actions}</div>}
        </div>
      )}
      {children}
    </div>
  );
}

export interface SectionProps {
  title: string;
  description?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
}

/** A part of a page, with a heading. */
export function Section({ title, description, actions, children }: SectionProps) {
  const id = useId();
  return (
    <section className="section" aria-labelledby={id}>
      <div className="section-head">
        <div className="grow">
          <h2 id={id}>{title}</h2>
          {description && <p className="soft">{description}</p>}
        </div>
        {actions && <div className="row">{actions}</div>}
      </div>
      <InSection value={true}>{children}</InSection>
    </section>
  );
}

export interface EmptyStateProps {
  icon?: LucideIcon;
  title: string;
  /** What to do next. */
  children?: ReactNode;
  action?: ReactNode;
}

export function EmptyState({ icon: Icon, title, children, action }: EmptyStateProps) {
  return (
    <div className="empty">
      {Icon && <Icon size={24} aria-hidden />}
      <p className="empty-title">{title}</p>
      {children && <div className="soft">{children}</div>}
      {action && <div className="row">{action}</div>}
    </div>
  );
}

/** Grey lines while something loads. */
export function Skeleton({ lines = 3 }: { lines?: number }) {
  const { loading } = useWords(words);
  return (
    <div className="skeleton" role="status" aria-label={loading}>
      {Array.from({ length: lines }, (_, line) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the lines have no identity
        <span key={line} />
      ))}
    </div>
  );
}

export interface DescriptionListProps {
  /** Rows whose value is undefined are left out. */
  rows: readonly (readonly [label: string, value: ReactNode | undefined])[];
  columns?: 1 | 2;
}

export function DescriptionList({ rows, columns = 1 }: DescriptionListProps) {
  return (
    <dl className="facts" data-columns={columns}>
      {rows
        .filter(([, value]) => value !== undefined)
        .map(([label, value]) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  );
}

/** A number with its name, for overviews. */
export function Figure({ label, value, note }: { label: string; value: ReactNode; note?: ReactNode }) {
  return (
    <div className="figure">
      <p className="soft">{label}</p>
      <p className="figure-value number">{value}</p>
      {note && <p className="soft figure-note">{note}</p>}
    </div>
  );
}

interface Failure {
  readonly message: string;
  readonly requestId?: string | undefined;
}

/** What went wrong, with the request's id for support. */
export function ErrorNote({ error, retry }: { error: Failure | null | undefined; retry?: () => void }) {
  const text = useWords(words);
  if (!error) return null;
  return (
    <div className="note bad" role="alert">
      <TriangleAlert size={16} aria-hidden />
      <div className="grow">
        <p>{error.message || text.failed}</p>
        {error.requestId && <p className="note-id mono">{text.request(error.requestId)}</p>}
      </div>
      {retry && (
        <Button size="s" onClick={retry}>
          {text.retry}
        </Button>
      )}
    </div>
  );
}

export type Tone = 'good' | 'warn' | 'bad' | 'info' | 'plain';

/** A remark inside a page. */
export function Note({ tone = 'info', icon: Icon, children }: { tone?: Tone; icon?: LucideIcon; children: ReactNode }) {
  return (
    <div className={`note ${tone}`}>
      {Icon && <Icon size={16} aria-hidden />}
      <div className="grow">{children}</div>
    </div>
  );
}

export interface ProgressBarProps {
  label: string;
  value: number;
  max: number;
  /** Beside the label, such as "12 of 500". */
  note?: string;
}

export function ProgressBar({ label, value, max, note }: ProgressBarProps) {
  return (
    <div className="progress-field">
      <div className="progress-text">
        <span>{label}</span>
        {note && <span className="soft number">{note}</span>}
      </div>
      <progress className="progress" aria-label={label} value={value} max={max} />
    </div>
  );
}
