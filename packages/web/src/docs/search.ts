import { make, rootUrl, words } from './make.ts';

/** Of `/docs/search.json`. */
interface Entry {
  readonly title: string;
  /** The guide, or the method and path. */
  readonly place: string;
  /** Below `/docs`. */
  readonly path: string;
  readonly text: string;
}

const MAX_RESULTS = 30;

export function rank(entries: readonly Entry[], query: string): Entry[] {
  const terms = normalise(query)
    .split(/\s+/)
    .filter((term) => term !== '');
  if (terms.length === 0) return [];
  const scored = entries.flatMap((entry) => {
    const [title, place, text] = [normalise(entry.title), normalise(entry.place), normalise(entry.text)];
    let score = 0;
    for (const term of terms) {
      const found = (title.includes(term) ? 8 : 0) + (place.includes(term) ? 4 : 0) + (text.includes(term) ? 1 : 0);
      if (found === 0) return [];
      score += found + (title.startsWith(term) ? 4 : 0);
    }
    return [{ entry, score }];
  });
  return scored
    .sort((one, other) => other.score - one.score)
    .slice(0, MAX_RESULTS)
    .map(({ entry }) => entry);
}

/** Without accents, so that `codigos` finds `códigos`. */
const normalise = (text: string): string => text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase();

/** Reads the index when the field is used first. */
export function addSearch(nav: HTMLElement): void {
  const field = make('input', { type: 'search', id: 'search', placeholder: words.search, autocomplete: 'off' });
  const label = make('label', { class: 'hidden', for: 'search' }, words.search);
  const status = make('p', { class: 'hidden', role: 'status' });
  const list = make('ul', { class: 'results', hidden: '' });
  let index: Promise<Entry[]> | undefined;
  const read = () => {
    index ??= fetch(`${rootUrl()}/docs/search.json`).then((response) => response.json() as Promise<Entry[]>);
    index.catch(() => {
      index = undefined;
    });
    return index;
  };
  field.addEventListener('focus', () => void read().catch(() => undefined));
  field.addEventListener('input', async () => {
    const query = field.value.trim();
    const entries = await read().catch((): Entry[] => []);
    if (field.value.trim() !== query) return;
    const found = rank(entries, query);
    nav.classList.toggle('searching', query !== '');
    list.hidden = query === '';
    status.textContent = query === '' ? '' : found.length === 0 ? words.noResults : words.results(found.length);
    list.replaceChildren(
      ...(found.length > 0 ? found.map(resultOf) : [make('li', { class: 'note' }, words.noResults)]),
    );
  });
  field.addEventListener('keydown', ({ key }) => {
    if (key === 'Escape') clear();
    if (key === 'Enter' || key === 'ArrowDown') list.querySelector('a')?.focus();
  });
  const clear = () => {
    field.value = '';
    field.dispatchEvent(new Event('input'));
  };
  list.addEventListener('click', ({ target }) => {
    if (target instanceof Element && target.closest('a')) clear();
  });
  document.addEventListener('keydown', (event) => {
    const isTyping = event.target instanceof Element && event.target.matches('input, textarea, select');
    if (event.key !== '/' || isTyping) return;
    event.preventDefault();
    field.focus();
  });
  const box = make('div', { class: 'search', role: 'search' }, label, field, status, list);
  nav.querySelector('.head')?.after(box);
}

function resultOf({ title, place, path }: Entry): HTMLElement {
  return make(
    'li',
    {},
    make('a', { href: `${rootUrl()}/docs${path}` }, make('span', {}, title), make('span', { class: 'note' }, place)),
  );
}
