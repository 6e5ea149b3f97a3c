import { useQuery } from '@tanstack/react-query';
import { Outlet } from '@tanstack/react-router';
import { Search, SunMoon } from 'lucide-react';
import { type FormEvent, useState } from 'react';
import { IconButton } from '../ui/button.tsx';
import { type Language, languages, setLanguage, useLanguage, useWords } from '../ui/language.ts';
import { Link } from '../ui/link.tsx';
import { Menu } from '../ui/menu.tsx';
import { ErrorNote, Skeleton } from '../ui/page.tsx';
import { useChosenInView } from '../ui/tabs.tsx';
import { setTheme, type Theme, themes, useTheme } from '../ui/theme.ts';
import { readBook } from './chain.ts';
import { useOpen, usePath, WithNavigation } from './navigation.tsx';
import { serviceUrl } from './place.ts';
import { BookProvider } from './shared.tsx';
import { words } from './words.ts';

export function Layout() {
  return (
    <WithNavigation>
      <Frame />
    </WithNavigation>
  );
}

function Frame() {
  const text = useWords(words);
  const { data: book, error, refetch } = useQuery({ queryKey: ['book'], queryFn: readBook, staleTime: Infinity });
  return (
    <div className="explorer">
      <a className="skip" href="#main">
        {text.skip}
      </a>
      <header>
        <p className="sandbox-bar">
          <strong>{text.sandbox}</strong> <span>{text.subtitle}</span>
        </p>
        <div className="explorer-top">
          <Link to="/" className="explorer-name">
            svc <span className="soft">{text.explorer}</span>
          </Link>
          <SearchBox />
          <a href={serviceUrl('dashboard')} className="button quiet m explorer-dashboard">
            {text.dashboard}
          </a>
          <LookMenu />
        </div>
      </header>
      <Pages />
      <main id="main" className="explorer-content" tabIndex={-1}>
        {book ? (
          <BookProvider book={book}>
            <Outlet />
          </BookProvider>
        ) : error ? (
          <ErrorNote error={error} retry={() => void refetch()} />
        ) : (
          <Skeleton lines={8} />
        )}
      </main>
    </div>
  );
}

/** The list that a page of one thing belongs to. */
const sections: Readonly<Record<string, string>> = { block: '/blocks', tx: '/transactions', account: '/accounts' };

function Pages() {
  const text = useWords(words);
  const path = usePath();
  const list = useChosenInView<HTMLElement>(path);
  const links = [
    ['/', text.overview],
    ['/blocks', text.blocks],
    ['/transactions', text.transactions],
    ['/accounts', text.accounts],
    ['/tokens', text.tokens],
  ] as const;
  return (
    <nav ref={list} className="explorer-nav" aria-label={text.navigation}>
      {links.map(([to, label]) => (
        <Link
          key={to}
          to={to}
          aria-current={path === to || sections[path.split('/')[1] ?? ''] === to ? 'page' : undefined}
        >
          {label}
        </Link>
      ))}
    </nav>
  );
}

export function SearchBox() {
  const text = useWords(words);
  const open = useOpen();
  const [value, setValue] = useState('');
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (value.trim() === '') return;
    open(`/search?q=${encodeURIComponent(value.trim())}`);
    setValue('');
  };
  return (
    <search className="explorer-search-place">
      <form className="explorer-search" onSubmit={submit}>
        <div className="input-frame">
          <Search size={16} aria-hidden className="soft" />
          <input
            type="search"
            className="input mono"
            aria-label={text.search}
            placeholder={text.searchHint}
            spellCheck={false}
            autoComplete="off"
            value={value}
            onChange={(event) => setValue(event.target.value)}
          />
        </div>
        <button type="submit" className="button primary m">
          {text.find}
        </button>
      </form>
    </search>
  );
}

function LookMenu() {
  const text = useWords(words);
  const language = useLanguage();
  const theme = useTheme();
  return (
    <Menu
      trigger={<IconButton icon={SunMoon} label={text.look} />}
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
      items={[]}
    />
  );
}
