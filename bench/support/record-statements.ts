import type { Db, Sql } from '@svc/store';

export function recording(db: Db, into: Sql[]): Db {
  const kept = <T>(ask: (query: Sql) => Promise<T>) => {
    return (query: Sql) => {
      into.push(query);
      return ask(query);
    };
  };
  return {
    rows: <T>(query: Sql) => kept((one) => db.rows<T>(one))(query),
    one: <T>(query: Sql) => kept((one) => db.one<T>(one))(query),
    run: kept((query) => db.run(query)),
    tx: () => Promise.reject(new Error('The recorder begins the transaction.')),
  };
}

export function spelled(query: Sql, nameOf: (value: unknown) => string | undefined): string {
  const text = (value: unknown): string => {
    const name = nameOf(value);
    if (name !== undefined) return `:${name}`;
    if (value === null) return 'null';
    if (value instanceof Date) return quoted(value.toISOString());
    if (Array.isArray(value)) return `array[${value.map(text).join(', ')}]`;
    return quoted(String(value));
  };
  return query.text.replace(/\$(\d+)/g, (_, place: string) => text(query.values[Number(place) - 1])).trim();
}

/** A colon would begin a variable. */
function quoted(value: string): string {
  const escaped = value.replaceAll('\\', '\\\\').replaceAll("'", "''").replaceAll(':', '\\x3a');
  return escaped === value ? `'${value}'` : `E'${escaped}'`;
}
