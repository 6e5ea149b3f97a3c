import pg from 'pg';
import { types } from './client.ts';
import type { Sql } from './sql.ts';

export interface Answer {
  readonly rows: unknown[];
  /** Of rows that were read or changed. */
  readonly count: number;
}

/** Like the driver's own `query`, but a named statement is described once for each connection, not each time that it runs. */
export async function runStatement(client: pg.ClientBase, query: Sql): Promise<Answer> {
  try {
    return await new Promise<Answer>((resolve, reject) => client.query(new Statement(query, resolve, reject)));
  } catch (error) {
    // In place of the stack of the socket: it leads to the caller.
    if (error instanceof Error) Error.captureStackTrace(error);
    throw error;
  }
}

interface Field {
  readonly name: string;
  readonly dataTypeID: number;
}

/** How the rows of a statement are read. */
class Columns {
  readonly #columns: readonly { readonly name: string; readonly parse: (text: string) => unknown }[];
  /** A copy of it has all columns, so that rows are objects of one shape. */
  readonly #empty: Readonly<Record<string, unknown>>;

  constructor(fields: readonly Field[]) {
    this.#columns = fields.map(({ name, dataTypeID }) => ({ name, parse: types.getTypeParser(dataTypeID, 'text') }));
    this.#empty = Object.fromEntries(fields.map(({ name }) => [name, null]));
  }

  toRow(values: readonly (string | null)[]): unknown {
    const row = { ...this.#empty };
    let index = 0;
    for (const { name, parse } of this.#columns) {
      const text = values[index++] ?? null;
      if (text !== null) row[name] = parse(text);
    }
    return row;
  }
}

interface Known {
  /** The same connection; it asks for no descriptions. */
  readonly silent: pg.Connection;
  readonly columns: Map<string, Columns>;
}

const known = new WeakMap<pg.Connection, Known>();

function knownOf(connection: pg.Connection): Known {
  const found = known.get(connection);
  if (found) return found;
  const silent = Object.create(connection, { describe: { value: () => {} } });
  const entry = { silent, columns: new Map() };
  known.set(connection, entry);
  return entry;
}

type Callback = (error: Error | null | undefined, answer?: Answer) => void;

/** What the driver's types leave out. */
interface DriverQuery {
  name: string | undefined;
  callback: Callback;
  prepare(connection: pg.Connection): void;
}
const DriverQuery = pg.Query as unknown as new (
  text: string,
  values: unknown[],
  callback: Callback,
) => pg.Query & DriverQuery;

/**
 * The driver calls its methods as the server answers. The server refuses to run a prepared statement whose columns have changed, so what
 * it said of them once stays true for the connection.
 */
class Statement extends DriverQuery {
  readonly #rows: unknown[] = [];
  #count = 0;
  #columns: Columns | undefined;
  #known: Known | undefined;
  #fault: Error | undefined;

  constructor(query: Sql, resolve: (answer: Answer) => void, reject: (error: Error) => void) {
    super(query.text, query.values, (error, answer) => (answer ? resolve(answer) : reject(error as Error)));
    this.name = query.name;
  }

  override prepare(connection: pg.Connection): void {
    this.#known = knownOf(connection);
    this.#columns = this.name === undefined ? undefined : this.#known.columns.get(this.name);
    super.prepare(this.#columns ? this.#known.silent : connection);
  }

  handleRowDescription({ fields }: { readonly fields: readonly Field[] }): void {
    this.#keep(new Columns(fields));
  }

  handleDataRow({ fields }: { readonly fields: readonly (string | null)[] }): void {
    try {
      this.#rows.push(this.#columns?.toRow(fields));
    } catch (error) {
      this.#fault ??= error as Error;
    }
  }

  handleCommandComplete({ text }: { readonly text: string }): void {
    // `INSERT 0 5`, `SELECT 3`, or no number at all.
    this.#count = Number(/\d+$/.exec(text)?.[0] ?? 0);
    // The server describes a statement without rows with a message that the driver does not pass on.
    if (!this.#columns) this.#keep(new Columns([]));
  }

  handleReadyForQuery(): void {
    if (this.#fault) this.callback(this.#fault);
    else this.callback(null, { rows: this.#rows, count: this.#count });
  }

  #keep(columns: Columns): void {
    this.#columns = columns;
    if (this.name !== undefined) this.#known?.columns.set(this.name, columns);
  }
}
