import { type AnchorHTMLAttributes, createContext, type MouseEvent, type ReactNode, useContext } from 'react';

export interface Navigation {
  /** The address of a path of the application. */
  href(to: string): string;
  /** Undefined: links load their page anew. */
  go?(to: string): void;
  /** Loads what a path needs before it is opened. */
  prepare?(to: string): void;
}

const NavigationContext = createContext<Navigation>({ href: (to) => to });

export function NavigationProvider({ value, children }: { value: Navigation; children: ReactNode }) {
  return <NavigationContext value={value}>{children}</NavigationContext>;
}

export const useNavigation = (): Navigation => useContext(NavigationContext);

export interface LinkProps extends Omit<AnchorHTMLAttributes<HTMLAnchorElement>, 'href'> {
  /** A path of the application, such as `/wallets`. */
  to: string;
}

/** A link inside the application. For other addresses use `<a href>`. */
export function Link({ to, onClick, children, ...rest }: LinkProps) {
  const { href, go, prepare } = useNavigation();
  const follow = (event: MouseEvent<HTMLAnchorElement>) => {
    onClick?.(event);
    if (!go || event.defaultPrevented || rest.target || hasModifier(event)) return;
    event.preventDefault();
    go(to);
  };
  return (
    <a {...rest} href={href(to)} onClick={follow} onPointerEnter={() => prepare?.(to)}>
      {children}
    </a>
  );
}

const hasModifier = (event: MouseEvent) =>
  event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey;
