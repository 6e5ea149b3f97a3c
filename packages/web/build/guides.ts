import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { type RenderedGuide, renderMarkdown } from './markdown.ts';
import { root } from './paths.ts';

export type GuideLanguage = 'en' | 'es';

export interface Guide extends RenderedGuide {
  /** Below `/docs`, such as `wallets` or `es/wallets`. */
  readonly path: string;
  readonly language: GuideLanguage;
  /** Its path in the other language. */
  readonly other: string | undefined;
}

/** In the order of a new user; `es` is there in Spanish too. */
const files: readonly { readonly name: string; readonly es?: true }[] = [
  { name: 'start', es: true },
  { name: 'first-app' },
  { name: 'wallets', es: true },
  { name: 'gifts', es: true },
  { name: 'treasuries' },
  { name: 'webhooks', es: true },
  { name: 'settings', es: true },
  { name: 'sdk' },
  { name: 'react' },
  { name: 'clients' },
  { name: 'cli' },
  { name: 'fulfilment' },
  { name: 'sandbox' },
  { name: 'dashboard' },
  { name: 'deploy' },
  { name: 'operations' },
  { name: 'upgrades' },
  { name: 'security' },
  { name: 'contract' },
  { name: 'architecture' },
];

const known = new Set(files.map(({ name }) => name));

export async function loadGuides(folder = path.join(root, 'docs')): Promise<Guide[]> {
  const wanted = files.flatMap(({ name, es }) => [
    { name, language: 'en' as const, other: es && `es/${name}` },
    ...(es ? [{ name, language: 'es' as const, other: name }] : []),
  ]);
  return Promise.all(
    wanted.map(async ({ name, language, other }) => {
      const place = language === 'es' ? `es/${name}` : name;
      const markdown = await readFile(path.join(folder, `${place}.md`), 'utf8');
      const rendered = renderMarkdown(markdown, { link: (target) => addressOf(target, place) });
      return { ...rendered, path: place, language, other };
    }),
  );
}

/** Relative to the page: files of `docs` are pages beside it, other files of the repository have none. */
function addressOf(target: string, place: string): string | undefined {
  if (/^https:/.test(target) || target.startsWith('#')) return target;
  const url = new URL(target, `http://docs/${place}`);
  if (url.host !== 'docs') return undefined;
  const name = url.pathname.slice(1).replace(/\.md$/, '');
  if (!target.includes('.md') || !known.has(name.replace(/^es\//, ''))) return undefined;
  return `${place.startsWith('es/') ? '../' : ''}${name}${url.hash}`;
}
