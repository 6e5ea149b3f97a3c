export function oneLine(text: string, maxCharacters: number): string {
  const plain = text
    .toWellFormed()
    .replace(/[\p{Cc}\p{Zl}\p{Zp}\u200e\u200f\u202a-\u202e\u2066-\u2069]+/gu, ' ')
    .replace(/\s+/g, ' ')
    .trim();
  const characters = [...plain];
  return characters.length <= maxCharacters ? plain : `${characters.slice(0, maxCharacters - 1).join('')}…`;
}

/** Mail programs make links of schemes, host names and addresses in plain text. A blank behind a colon or dot prevents it. */
export function withoutLinks(text: string): string {
  return text
    .replace(/[\u00ad\u200b\u200c\u2060\ufeff]/g, '')
    .replace(/([\p{L}\p{N}+]):(?=[^\s\d])\/*/gu, '$1: ')
    .replace(/\/\/+/g, ' ')
    .replace(/([.\u2024\u3002\ufe52\uff0e\uff61])(?=[\p{L}\p{M}])/gu, '$1 ')
    .replace(/(\d[.\u2024\u3002\ufe52\uff0e\uff61]\d+[.\u2024\u3002\ufe52\uff0e\uff61])(?=\d)/gu, '$1 ')
    .replace(/@(?=\S)/g, '@ ')
    .replace(/\s+/g, ' ')
    .trim();
}

const MAX_ERROR_LENGTH = 500;

export function errorText(error: unknown): string {
  if (!(error instanceof Error)) return storableText(String(error), MAX_ERROR_LENGTH);
  const cause = error.cause instanceof Error && error.cause.message ? ` (${error.cause.message})` : '';
  return storableText(`${error.message || error.name}${cause}`, MAX_ERROR_LENGTH);
}

/** PostgreSQL stores neither NUL characters nor lone surrogates. */
export function storableText(text: string, maxLength: number): string {
  return text.replaceAll('\0', '').slice(0, maxLength).toWellFormed();
}

export class Html {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

export type Fragment = Html | string | number | false | undefined | readonly Fragment[];

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

export const escapeText = (text: string): string => text.replace(/[&<>"']/g, (character) => entities[character] ?? '');

export function html(strings: TemplateStringsArray, ...values: readonly Fragment[]): Html {
  return new Html(strings.map((part, i) => part + (i < values.length ? toText(values[i]) : '')).join(''));
}

export function join(items: readonly Fragment[], between: Fragment): Html {
  return html`${items.map((item, i) => (i === 0 ? item : [between, item]))}`;
}

export const breakable = (name: string): Html => join(name.split(/(?<=[.\]_])|(?<=[a-z])(?=[A-Z])/), html`<wbr>`);

function toText(value: Fragment): string {
  if (value instanceof Html) return value.text;
  if (typeof value === 'string' || typeof value === 'number') return escapeText(String(value));
  return value ? value.map(toText).join('') : '';
}
