import { createHash } from 'node:crypto';

// Every connection keeps named statements in the server's memory; later texts run unnamed.
const MAX_NAMED_STATEMENTS = 500;

interface Statement {
  readonly text: string;
  readonly name: string | undefined;
}

const names = new Map<string, string>();
const statements = new WeakMap<readonly string[], Statement>();

/** SQL with separate values. Only the `sql` tag makes one, so data cannot become SQL. */
export class Sql {
  readonly values: unknown[];
  readonly #strings: readonly string[];

  private constructor(strings: readonly string[], values: unknown[]) {
    this.#strings = strings;
    this.values = values;
  }

  get text(): string {
    return statementOf(this.#strings).text;
  }

  get name(): string | undefined {
    return statementOf(this.#strings).name;
  }

  static fromTemplate(template: TemplateStringsArray, values: unknown[]): Sql {
    if (!values.some((value) => value instanceof Sql)) return new Sql(template, values);
    const strings: string[] = [];
    const flat: unknown[] = [];
    let open = template[0] ?? '';
    for (const [index, value] of values.entries()) {
      const [first = '', ...rest] = value instanceof Sql ? value.#strings : ['', ''];
      open += first;
      for (const part of rest) {
        strings.push(open);
        open = part;
      }
      flat.push(...(value instanceof Sql ? value.values : [value]));
      open += template[index + 1] ?? '';
    }
    return new Sql([...strings, open], flat);
  }
}

/** sql`select id from gift where code = ${code}`: values become parameters, nested Sql is spliced in. */
export function sql(strings: TemplateStringsArray, ...values: unknown[]): Sql {
  return Sql.fromTemplate(strings, values);
}

function statementOf(strings: readonly string[]): Statement {
  let statement = statements.get(strings);
  if (!statement) {
    const text = strings.map((part, index) => (index === 0 ? part : `$${index}${part}`)).join('');
    statement = { text, name: nameOf(text) };
    statements.set(strings, statement);
  }
  return statement;
}

// A digest: processes behind one connection pooler use the same name for the same text.
function nameOf(text: string): string | undefined {
  const known = names.get(text);
  if (known || names.size >= MAX_NAMED_STATEMENTS) return known;
  const name = `svc_${createHash('sha256').update(text).digest('hex').slice(0, 32)}`;
  names.set(text, name);
  return name;
}

/** The driver copies by prototype and would lose private fields. */
export function statement(query: Sql): { text: string; values: unknown[]; name: string | undefined } {
  return { text: query.text, values: query.values, name: query.name };
}
