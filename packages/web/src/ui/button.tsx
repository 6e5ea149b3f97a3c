import { LoaderCircle, type LucideIcon } from 'lucide-react';
import type { ButtonHTMLAttributes, ReactNode } from 'react';
import { Link } from './link.tsx';

export type ButtonKind = 'primary' | 'plain' | 'quiet' | 'danger' | 'link';

interface Look {
  kind?: ButtonKind;
  /** `s` for rows and toolbars. */
  size?: 's' | 'm';
  icon?: LucideIcon | undefined;
  children?: ReactNode;
}

const classOf = ({ kind = 'plain', size = 'm' }: Look, more = '') => `button ${kind} ${size} ${more}`.trim();

export interface ButtonProps extends Look, Omit<ButtonHTMLAttributes<HTMLButtonElement>, 'children'> {
  /** Shows that the action runs, and refuses another click. */
  pending?: boolean;
}

export function Button({ kind, size, icon: Icon, pending = false, className, children, ...rest }: ButtonProps) {
  return (
    <button
      type="button"
      {...rest}
      className={classOf({ ...(kind && { kind }), ...(size && { size }) }, className)}
      disabled={rest.disabled || pending}
      aria-busy={pending || undefined}
    >
      {pending ? <LoaderCircle className="spin" size={16} aria-hidden /> : Icon && <Icon size={16} aria-hidden />}
      {children}
    </button>
  );
}

export interface LinkButtonProps extends Look {
  /** A path of the application. */
  to?: string;
  /** Any other address. */
  href?: string;
  download?: string;
}

export function LinkButton({ to, href, download, icon: Icon, children, ...look }: LinkButtonProps) {
  const inside = (
    <>
      {Icon && <Icon size={16} aria-hidden />}
      {children}
    </>
  );
  if (to !== undefined) {
    return (
      <Link to={to} className={classOf(look)}>
        {inside}
      </Link>
    );
  }
  return (
    <a href={href} download={download} className={classOf(look)}>
      {inside}
    </a>
  );
}

export interface IconButtonProps extends Omit<ButtonProps, 'icon' | 'children'> {
  icon: LucideIcon;
  /** Its name for screen readers and the tooltip. */
  label: string;
}

export function IconButton({
  icon: Icon,
  label,
  kind = 'quiet',
  size,
  className,
  pending: _,
  ...rest
}: IconButtonProps) {
  return (
    <button
      type="button"
      {...rest}
      className={classOf({ kind, ...(size && { size }) }, `square ${className ?? ''}`)}
      aria-label={label}
      title={label}
    >
      <Icon size={16} aria-hidden />
    </button>
  );
}
