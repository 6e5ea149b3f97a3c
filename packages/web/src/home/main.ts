import '../ui/tokens.css';
import '../ui/base.css';
import './home.css';
import { readStored, store } from '../ui/storage.ts';
import { words } from './words.ts';

/** As the server writes them into the page. */
interface HomeFacts {
  readonly version: string;
  /** Of production; null: none is configured. */
  /** `mainnet`, `sepolia`, or the name of the operator's own network. */
  readonly network: string | null;
  readonly hasSandbox: boolean;
}

type Language = keyof typeof words;
type PageName = keyof (typeof words)['en']['pages'];

/** Relative, so that the page works below a path prefix of a proxy. */
const addresses: Readonly<Record<PageName, string>> = {
  dashboard: 'dashboard',
  docs: 'docs',
  claim: 'claim/',
  explorer: 'sandbox/explorer',
  mailbox: 'sandbox/mailbox',
  health: 'readyz',
};
const ofSandbox: readonly PageName[] = ['explorer', 'mailbox'];

function readFacts(): HomeFacts {
  const text = document.querySelector<HTMLMetaElement>('meta[name="svc-home"]')?.content ?? '';
  return text === '' ? { version: '', network: null, hasSandbox: false } : JSON.parse(text);
}

function preferredLanguage(): Language {
  const tags = [readStored('svc-language') ?? '', ...navigator.languages];
  return (
    tags.map((tag) => tag.slice(0, 2).toLowerCase()).find((tag): tag is Language => Object.hasOwn(words, tag)) ?? 'en'
  );
}

type Child = Node | string;

/** Without a library: this page must be small. */
function make(name: string, attributes: Readonly<Record<string, string>>, ...children: readonly Child[]): HTMLElement {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

function render(facts: HomeFacts, language: Language): void {
  const text = words[language];
  document.documentElement.lang = language;
  document.title = text.title;
  document
    .getElementById('page')
    ?.replaceChildren(
      make(
        'main',
        { class: 'home' },
        top(facts, language),
        signIn(facts, language),
        environments(facts, language),
        pages(facts, language),
      ),
    );
}

function top({ version }: HomeFacts, language: Language): HTMLElement {
  const text = words[language];
  const other: Language = language === 'en' ? 'es' : 'en';
  const choose = make('button', { type: 'button', class: 'home-language', lang: other }, text.language);
  choose.addEventListener('click', () => {
    store('svc-language', other);
    render(readFacts(), other);
    document.querySelector<HTMLElement>('.home-language')?.focus();
  });
  return make(
    'header',
    { class: 'home-top' },
    make('p', { class: 'home-bar' }, version === '' ? '' : text.version(version), choose),
    make('h1', {}, text.title),
    make('p', { class: 'home-lead' }, text.lead),
  );
}

const isLoopback = () => /^(localhost|127\.0\.0\.1|\[::1\])$/.test(location.hostname);

/** The service makes the link for browsers of the same machine only. */
function signIn({ hasSandbox }: HomeFacts, language: Language): Child {
  if (!hasSandbox || !isLoopback()) return '';
  const text = words[language];
  const button = make('button', { type: 'button', class: 'home-button' }, text.signIn) as HTMLButtonElement;
  const note = make('p', { class: 'soft', role: 'status' }, text.signInHint);
  button.addEventListener('click', async () => {
    button.disabled = true;
    button.textContent = text.signingIn;
    try {
      const response = await fetch('v1/session/development', { method: 'POST' });
      if (!response.ok) throw new Error(response.statusText);
      const { path } = await response.json();
      location.assign(path.replace(/^\//, ''));
    } catch {
      note.textContent = text.signInFailed;
      button.textContent = text.signIn;
      button.disabled = false;
    }
  });
  return make('div', { class: 'home-sign-in' }, button, note);
}

function environments({ network, hasSandbox }: HomeFacts, language: Language): HTMLElement {
  const text = words[language];
  const known: Readonly<Record<string, string>> = text.networks;
  const row = (name: string, value: string, state: 'live' | 'test' | 'off') =>
    make('div', { class: 'home-environment', 'data-state': state }, make('dt', {}, name), make('dd', {}, value));
  return make(
    'section',
    { 'aria-labelledby': 'runs' },
    make('h2', { id: 'runs' }, text.runs),
    make(
      'dl',
      { class: 'home-environments' },
      row(text.development, hasSandbox ? text.sandbox : text.noSandbox, hasSandbox ? 'test' : 'off'),
      row(text.production, network ? (known[network] ?? network) : text.notConfigured, network ? 'live' : 'off'),
    ),
  );
}

function pages({ hasSandbox }: HomeFacts, language: Language): HTMLElement {
  const text = words[language];
  const names = (Object.keys(addresses) as PageName[]).filter((name) => hasSandbox || !ofSandbox.includes(name));
  const links = names.map((name) => {
    const [title, about] = text.pages[name];
    return make(
      'li',
      {},
      make(
        'a',
        { href: addresses[name], class: 'home-link' },
        make('strong', {}, title),
        make('span', { class: 'soft' }, about),
      ),
    );
  });
  return make(
    'nav',
    { 'aria-labelledby': 'links' },
    make('h2', { id: 'links' }, text.links),
    make('ul', { class: 'home-links' }, ...links),
  );
}

const theme = readStored('svc-theme');
if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
render(readFacts(), preferredLanguage());
