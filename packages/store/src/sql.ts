import { createHash } from 'node:crypto';

// Every connection keeps the named statements that it ran in the server's memory; later texts run unnamed, and are planned each time.
// A process that has answered every endpoint and run every job knows about 450.
const MAX_NAMED_STATEMENTS = 1_000;

const names = new Map<string, string>();
const texts = new WeakMap<readonly string[], string>();

/** SQL with separate values. Only the `sql` tag makes one, so data cannot become SQL. */
export class Sql {
  readonly values: unknown[];
  readonly #strings: readonly string[];
  readonly #isNamed: boolean;

  private constructor(strings: readonly string[], values: unknown[], isNamed = true) {
    this.#strings = strings;
    this.values = values;
    this.#isNamed = isNamed;
  }

  get text(): string {
    return textOf(this.#strings);
  }

  get name(): string | undefined {
    return this.#isNamed ? nameOf(this.text) : undefined;
  }

  /** For a list with filters: planned for its values each time, and its many texts take no names from others. */
  get unnamed(): Sql {
    return new Sql(this.#strings, this.values, false);
  }

  static fromTemplate(template: TemplateStringsArray, values: unknown[]): Sql {
    if (!values.some((value) => value instanceof Sql)) return new Sql(template, values);
    const pieces = values.map((value) => (value instanceof Sql ? value.#strings : PARAMETER));
    return new Sql(
      splice(template, pieces),
      values.flatMap((value) => (value instanceof Sql ? value.values : [value])),
    );
  }
}

/** The strings around a value that is not SQL. */
const PARAMETER = ['', ''];

interface Spliced {
  readonly pieces: readonly (readonly string[])[];
  readonly strings: readonly string[];
}

/** The last of each template: most are always put together from the same pieces. */
const spliced = new WeakMap<TemplateStringsArray, Spliced>();

function splice(template: TemplateStringsArray, pieces: readonly (readonly string[])[]): readonly string[] {
  const last = spliced.get(template);
  if (last && pieces.every((piece, index) => piece === last.pieces[index])) return last.strings;
  const strings: string[] = [];
  let open = template[0] ?? '';
  for (const [index, [first = '', ...rest]] of pieces.entries()) {
    open += first;
    for (const part of rest) {
      strings.push(open);
      open = part;
    }
    open += template[index + 1] ?? '';
  }
  strings.push(open);
  spliced.set(template, { pieces, strings });
  return strings;
}

/** sql`select id from gift where code = ${code}`: values become parameters, nested Sql is spliced in. */
export function sql(strings: TemplateStringsArray, ...values: unknown[]): Sql {
  return Sql.fromTemplate(strings, values);
}

function textOf(strings: readonly string[]): string {
  let text = texts.get(strings);
  if (text === undefined) {
    text = strings.map((part, index) => (index === 0 ? part : `$${index}${part}`)).join('');
    texts.set(strings, text);
  }
  return text;
}

// A digest: processes behind one connection pooler use the same name for the same text.
function nameOf(text: string): string | undefined {
  const known = names.get(text);
  if (known || names.size >= MAX_NAMED_STATEMENTS) return known;
  const name = `svc_${createHash('sha256').update(text).digest('hex').slice(0, 32)}`;
  names.set(text, name);
  return name;
}
