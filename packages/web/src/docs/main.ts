import './docs.css';
import { readStored, store } from '../ui/storage.ts';
import { make, words } from './make.ts';
import { addSearch } from './search.ts';
import { type SnippetLanguage, snippetLanguages, snippetOf } from './snippets.ts';
import { addTryIt } from './try-it.ts';

const root = document.documentElement;
const nav = document.querySelector<HTMLElement>('nav');

function showTheme(theme: string | undefined): void {
  if (theme === 'light' || theme === 'dark') root.dataset.theme = theme;
  else delete root.dataset.theme;
}

function choiceOf(label: string, options: Readonly<Record<string, string>>, chosen: string): HTMLSelectElement {
  const select = make('select', { 'aria-label': label });
  for (const [value, text] of Object.entries(options)) select.append(make('option', { value }, text));
  select.value = chosen;
  return select;
}

function addThemeChoice(): void {
  const select = choiceOf(words.colours, words.themes, root.dataset.theme ?? 'system');
  select.addEventListener('change', () => {
    store('svc-theme', select.value);
    showTheme(select.value);
  });
  nav?.append(make('p', { class: 'theme' }, make('span', { class: 'note' }, words.colours), ' ', select));
}

function addCopyButton(figure: Element): void {
  const button = make('button', { type: 'button', class: 'copy' }, words.copy);
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(figure.querySelector('code')?.textContent ?? '');
    button.textContent = words.copied;
    setTimeout(() => {
      button.textContent = words.copy;
    }, 2_000);
  });
  figure.querySelector('figcaption')?.append(button);
}

const SNIPPETS = 'svc-snippets';
const isLanguage = (text: string): text is SnippetLanguage => Object.hasOwn(snippetLanguages, text);

/** One choice for all examples. */
function addSnippets(): void {
  const boxes = [...document.querySelectorAll('.operation .examples')].flatMap((examples) => {
    const figure = examples.querySelector('figure:has(pre.curl)');
    const code = figure?.querySelector('code');
    const command = code?.textContent ?? '';
    if (!figure || !code || command === '') return [];
    const select = choiceOf(words.language, snippetLanguages, 'curl');
    figure.querySelector('figcaption')?.append(select);
    addTryIt(examples, command);
    return [{ code, command, select }];
  });
  const show = (language: SnippetLanguage) => {
    for (const { code, command, select } of boxes) {
      code.textContent = snippetOf(language, command);
      select.value = language;
    }
  };
  for (const { select } of boxes) {
    select.addEventListener('change', () => {
      if (!isLanguage(select.value)) return;
      const top = select.getBoundingClientRect().top;
      store(SNIPPETS, select.value);
      show(select.value);
      scrollBy(0, select.getBoundingClientRect().top - top);
    });
  }
  const saved = readStored(SNIPPETS) ?? 'curl';
  if (isLanguage(saved) && saved !== 'curl') show(saved);
}

/** Marks the section on screen, and keeps its link in view. */
function followReading(): void {
  const links = new Map(
    [...document.querySelectorAll<HTMLAnchorElement>('nav a[href^="#"]')].map((link) => [link.hash.slice(1), link]),
  );
  const sections = [...document.querySelectorAll('main [id]')].filter(
    ({ id }) => links.has(encodeURIComponent(id)) || links.has(id),
  );
  let current: HTMLAnchorElement | undefined;
  const mark = () => {
    const passed = sections.filter((section) => section.getBoundingClientRect().top < innerHeight / 3);
    const next = links.get((passed.at(-1) ?? sections[0])?.id ?? '');
    if (!next || next === current) return;
    current?.removeAttribute('aria-current');
    next.setAttribute('aria-current', 'location');
    current = next;
    if (getComputedStyle(next).display !== 'none') keepInView(next);
  };
  let isWaiting = false;
  const later = () => {
    if (isWaiting) return;
    isWaiting = true;
    requestAnimationFrame(() => {
      isWaiting = false;
      mark();
    });
  };
  addEventListener('scroll', later, { passive: true });
  addEventListener('hashchange', later);
  mark();
}

function keepInView(link: HTMLElement): void {
  if (!nav) return;
  const [place, frame] = [link.getBoundingClientRect(), nav.getBoundingClientRect()];
  if (place.top < frame.top + 80 || place.bottom > frame.bottom - 40) {
    nav.scrollTop += place.top - frame.top - frame.height / 2;
  }
}

/** What scrolls by itself is reached by keyboard. */
function focusScrolling(): void {
  for (const box of document.querySelectorAll('pre, .scroll')) box.setAttribute('tabindex', '0');
}

showTheme(readStored('svc-theme'));
for (const figure of document.querySelectorAll('figure.code')) addCopyButton(figure);
addSnippets();
focusScrolling();
if (nav) addSearch(nav);
addThemeChoice();
followReading();
