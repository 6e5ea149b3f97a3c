/** Strict: every tag is closed in order, every attribute quoted. */
export interface Element {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  /** Without markup. */
  readonly text: string;
}

const VOID = new Set(['meta', 'link', 'wbr', 'br']);
const TAG = /<(\/?)([a-z][a-z0-9]*)((?:\s+[a-z-]+="[^"<>]*")*)\s*>/g;
const ATTRIBUTE = /([a-z-]+)="([^"]*)"/g;

/** All elements in the order of their ends. Throws where the markup is not well formed. */
export function readPage(page: string): Element[] {
  const markup = page.replace(/^<!doctype html>/, '').replace(/(<style>)[^<]*/, '$1');
  if (/[<>]/.test(markup.replace(TAG, ''))) throw new Error('a bracket that belongs to no tag');
  const open: { name: string; attributes: Record<string, string>; end: number }[] = [];
  const elements: Element[] = [];
  for (const match of markup.matchAll(TAG)) {
    const [tag, slash, name = '', rest = ''] = match;
    const end = match.index + tag.length;
    if (slash) {
      const opened = open.pop();
      if (opened?.name !== name) throw new Error(`</${name}> closes <${opened?.name ?? 'nothing'}>`);
      elements.push({ ...opened, text: textOf(markup.slice(opened.end, match.index)) });
      continue;
    }
    const attributes = Object.fromEntries(
      [...rest.matchAll(ATTRIBUTE)].map(([, key, value = '']) => [key, plain(value)]),
    );
    if (VOID.has(name)) elements.push({ name, attributes, text: '' });
    else open.push({ name, attributes, end });
  }
  if (open.length > 0) throw new Error(`<${open.at(-1)?.name}> is never closed`);
  return elements;
}

const textOf = (markup: string): string => plain(markup.replace(TAG, ''));

function plain(text: string): string {
  return text
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&');
}

export function readSection(page: string, anchor: string): Element[] {
  const start = page.indexOf(`<section class="operation" id="${anchor}"`);
  return readPage(page.slice(start, page.indexOf('</section>', start) + '</section>'.length));
}
