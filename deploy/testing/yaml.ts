/** What our own YAML files use, and nothing else: anything outside of it is an error. */
export type Yaml = string | null | Yaml[] | { [key: string]: Yaml };

export type YamlMap = { [key: string]: Yaml };

export const asMap = (value: Yaml | undefined): YamlMap =>
  value !== null && typeof value === 'object' && !Array.isArray(value) ? value : {};
export const asList = (value: Yaml | undefined): Yaml[] => (Array.isArray(value) ? value : []);
export const asTexts = (value: Yaml | undefined): string[] => asList(value).map(String);

interface Line {
  readonly indent: number;
  readonly text: string;
  readonly number: number;
}

/** The documents of a file. Scalars stay text; `{}` is an empty map; anchors of maps can be merged with `<<`. */
export function parseYaml(source: string): Yaml[] {
  return source
    .split(/^---$/m)
    .map((part) => new Reader(part).read())
    .filter((document) => document !== null);
}

const KEY = /^("[^"]*"|'[^']*'|[^\s"'[\]{}#&*!|>%@-][^:#]*|<<|\$schema):(?: (.*))?$/;

class Reader {
  readonly #lines: Line[];
  readonly #anchors = new Map<string, Yaml>();
  #at = 0;

  constructor(source: string) {
    this.#lines = source.split('\n').flatMap((raw, index) => {
      if (raw.includes('\t')) throw new Error(`line ${index + 1}: a tab`);
      const text = withoutComment(raw);
      return text.trim() === '' ? [] : [{ indent: text.search(/\S/), text: text.trim(), number: index + 1 }];
    });
  }

  read(): Yaml {
    const [first] = this.#lines;
    if (!first) return null;
    const value = this.#block(first.indent);
    const rest = this.#lines[this.#at];
    if (rest) throw new Error(`line ${rest.number}: unexpected indentation: ${rest.text}`);
    return value;
  }

  #block(indent: number): Yaml {
    return this.#lines[this.#at]?.text.startsWith('- ') ? this.#list(indent) : this.#map(indent);
  }

  #list(indent: number): Yaml[] {
    const items: Yaml[] = [];
    for (let line = this.#here(indent); line?.text.startsWith('- '); line = this.#here(indent)) {
      const text = line.text.slice(2);
      if (!KEY.test(text)) {
        this.#at++;
        items.push(this.#scalar(text, line));
        continue;
      }
      // A map whose first key stands behind the dash.
      this.#lines[this.#at] = { ...line, indent: indent + 2, text };
      items.push(this.#map(indent + 2));
    }
    return items;
  }

  #map(indent: number): { [key: string]: Yaml } {
    const map: { [key: string]: Yaml } = {};
    for (let line = this.#here(indent); line && !line.text.startsWith('- '); line = this.#here(indent)) {
      const [, rawKey = '', rest = ''] = KEY.exec(line.text) ?? fail(line, 'neither a key nor an item');
      this.#at++;
      const key = unquote(rawKey);
      const [, anchor, inline = ''] = /^(?:&(\w+)\s*)?(.*)$/.exec(rest) ?? [];
      const value = inline === '' ? this.#below(indent) : this.#scalar(inline, line);
      if (anchor !== undefined) this.#anchors.set(anchor, value);
      if (key === '<<') Object.assign(map, value);
      else if (Object.hasOwn(map, key)) fail(line, 'a key twice');
      else map[key] = value;
    }
    return map;
  }

  #below(indent: number): Yaml {
    const next = this.#lines[this.#at];
    if (next && next.indent > indent) return this.#block(next.indent);
    if (next?.indent === indent && next.text.startsWith('- ')) return this.#list(indent);
    return null;
  }

  #here(indent: number): Line | undefined {
    const line = this.#lines[this.#at];
    if (line && line.indent > indent) fail(line, 'unexpected indentation');
    return line?.indent === indent ? line : undefined;
  }

  #scalar(text: string, line: Line): Yaml {
    if (text === '{}') return {};
    if (/^\[.*\]$/.test(text)) return items(text.slice(1, -1)).map((item) => this.#scalar(item, line));
    if (/^\*\w+$/.test(text)) return this.#anchors.get(text.slice(1)) ?? fail(line, 'an unknown anchor');
    if (/^[[{&*!|>%@`]/.test(text) || /: |:$/.test(quotedRemoved(text))) fail(line, 'not in our subset');
    return unquote(text);
  }
}

const quotedRemoved = (text: string) => text.replace(/"[^"]*"|'(?:[^']|'')*'/g, '');
const items = (text: string) => text.match(/"[^"]*"|'[^']*'|[^\s,][^,]*/g) ?? [];

function unquote(text: string): string {
  if (/^'.*'$/.test(text)) return text.slice(1, -1).replaceAll("''", "'");
  return /^"[^"\\]*"$/.test(text) ? text.slice(1, -1) : text;
}

function withoutComment(line: string): string {
  const [match = ''] = /^(?:"[^"]*"|'(?:[^']|'')*'|(?!(?:^|\s)#)[\s\S])*/.exec(line) ?? [];
  return match.replace(/\s+$/, '');
}

function fail(line: Line, problem: string): never {
  throw new Error(`line ${line.number}: ${problem}: ${line.text}`);
}
