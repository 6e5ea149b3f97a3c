import { Dialog } from '@base-ui/react/dialog';
import { Outlet, useLocation } from '@tanstack/react-router';
import { LogOut, Menu as MenuIcon, Search, UserRound, X } from 'lucide-react';
import { lazy, Suspense, useEffect, useRef, useState } from 'react';
import { IconButton } from '../ui/button.tsx';
import { type Language, languages, setLanguage, useLanguage } from '../ui/language.ts';
import { Link } from '../ui/link.tsx';
import { Menu } from '../ui/menu.tsx';
import { setTheme, type Theme, themes, useTheme } from '../ui/theme.ts';
import { words as uiWords } from '../ui/words.ts';
import { useEnvironment } from './environment.ts';
import { EnvironmentBar, EnvironmentSwitch } from './environment-switch.tsx';
import { OrganizationMenu, useFollowOrganization } from './organization-menu.tsx';
import { type DashboardPage, groupOrder, visiblePages } from './page-table.ts';
import { SessionGate, useSession, useSignOut } from './session.tsx';
import { words } from './words/shell.ts';
import { useWords } from './words.ts';

const isMac = /Mac|iPhone|iPad/.test(navigator.userAgent);
const Palette = lazy(() => import('./palette.tsx'));

/** What every page of a signed-in member has around it. */
export function Layout() {
  return (
    <SessionGate>
      <Shell />
    </SessionGate>
  );
}

function Shell() {
  const text = useWords(words);
  const environment = useEnvironment();
  useFollowOrganization();
  const [isPaletteOpen, setPaletteOpen] = usePalette();
  return (
    <div className="shell" data-environment={environment}>
      <a className="skip" href="#main">
        {text.skip}
      </a>
      <EnvironmentBar />
      <header className="top">
        <Drawer />
        <button type="button" className="palette-button" onClick={() => setPaletteOpen(true)}>
          <Search size={16} aria-hidden />
          <span className="grow">{text.searchFor}</span>
          <kbd aria-hidden>{isMac ? '⌘K' : 'Ctrl K'}</kbd>
        </button>
        <EnvironmentSwitch />
        <AccountMenu />
      </header>
      <aside className="sidebar">
        <Navigation />
      </aside>
      <main id="main" className="content" tabIndex={-1}>
        <Outlet />
      </main>
      {isPaletteOpen && (
        <Suspense>
          <Palette onClose={() => setPaletteOpen(false)} />
        </Suspense>
      )}
    </div>
  );
}

function usePalette(): [boolean, (open: boolean) => void] {
  const [isOpen, setOpen] = useState(false);
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== 'k' || !(event.metaKey || event.ctrlKey)) return;
      event.preventDefault();
      setOpen((open) => !open);
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  }, []);
  return [isOpen, setOpen];
}

function Navigation({ onNavigate }: { onNavigate?: () => void }) {
  const text = useWords(words);
  const { isOperator } = useSession();
  const pages = visiblePages(useEnvironment(), isOperator);
  const { pathname: current } = useLocation();
  const isCurrent = ({ path }: DashboardPage) => path === bestMatch(pages, current)?.path;
  const nav = useRef<HTMLElement>(null);
  // A low window shows a part of the list.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the current link is read from the document
  useEffect(() => {
    nav.current?.querySelector('[aria-current="page"]')?.scrollIntoView({ block: 'nearest' });
  }, [current]);
  return (
    <nav ref={nav} className="nav" aria-label={text.navigation}>
      <OrganizationMenu />
      {groupOrder.map((group) => {
        const links = pages.filter((page) => page.group === group);
        if (links.length === 0) return null;
        return (
          <div key={group} className="nav-group">
            {group !== 'main' && group !== 'sandbox' && <p className="nav-label">{text.groups[group]}</p>}
            <ul>
              {links.map((page) => (
                <li key={page.path}>
                  <Link
                    to={page.path}
                    className="nav-link"
                    aria-current={isCurrent(page) ? 'page' : undefined}
                    onClick={() => onNavigate?.()}
                  >
                    {page.icon && <page.icon size={16} aria-hidden />}
                    {text.pages[page.name]}
                  </Link>
                </li>
              ))}
            </ul>
          </div>
        );
      })}
    </nav>
  );
}

/** The page of the sidebar that an address is at or below. */
function bestMatch(pages: readonly DashboardPage[], current: string): DashboardPage | undefined {
  return pages
    .filter(({ group, path }) => group && (current === path || (path !== '/' && current.startsWith(`${path}/`))))
    .sort((a, b) => b.path.length - a.path.length)[0];
}

function Drawer() {
  const text = useWords(words);
  const { close } = useWords(uiWords);
  const [isOpen, setOpen] = useState(false);
  return (
    <Dialog.Root open={isOpen} onOpenChange={setOpen}>
      <Dialog.Trigger className="button quiet m square drawer-button" aria-label={text.openNavigation}>
        <MenuIcon size={18} aria-hidden />
      </Dialog.Trigger>
      <Dialog.Portal>
        <Dialog.Backdrop className="backdrop" />
        <Dialog.Popup className="drawer" aria-label={text.navigation}>
          <Dialog.Close className="button quiet m square drawer-close" aria-label={close}>
            <X size={18} aria-hidden />
          </Dialog.Close>
          <Navigation onNavigate={() => setOpen(false)} />
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

function AccountMenu() {
  const text = useWords(words);
  const { member, organization, role, isOperator } = useSession();
  const language = useLanguage();
  const theme = useTheme();
  const signOut = useSignOut();
  const name = member.name || member.email;
  return (
    <Menu
      trigger={<IconButton icon={UserRound} kind="plain" label={text.accountOf(name)} />}
      header={
        <>
          <p className="menu-name">{name}</p>
          <p className="soft">
            {[role && text.roles[role], organization?.name, isOperator && text.operator].filter(Boolean).join(' · ')}
          </p>
        </>
      }
      choices={[
        {
          label: text.language,
          value: language,
          options: Object.entries(languages),
          onChange: (value) => setLanguage(value as Language),
        },
        {
          label: text.theme,
          value: theme,
          options: themes.map((option) => [option, text.themes[option]]),
          onChange: (value) => setTheme(value as Theme),
        },
      ]}
      items={[
        { label: text.account, icon: UserRound, to: '/account' },
        { label: text.signOut, icon: LogOut, onSelect: () => void signOut() },
      ]}
    />
  );
}
