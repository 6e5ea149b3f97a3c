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
