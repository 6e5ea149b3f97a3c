import { CODE_PATTERN, formatMicros, readGiftAmount } from './gift-codes.ts';

/** Rows of one request: small enough for steps of a progress bar, large enough for the rate limit. */
export const CHUNK_SIZE = 100;
export const MAX_ROWS = 10_000;
export const MAX_FILE_BYTES = 5_000_000;

export const importFields = ['email', 'code', 'amount'] as const;
export type ImportField = (typeof importFields)[number];
/** The column of each field; '' for none. */
export type Mapping = Readonly<Record<ImportField, string>>;
export type Problem = 'emailMissing' | 'emailWrong' | 'codeWrong' | 'codeTwice' | 'amountWrong';

export interface ImportRow {
  /** In the file, the header being line 1. */
  readonly line: number;
  readonly email: string;
  readonly code: string;
  readonly amount: string;
  readonly micros: bigint;
  readonly problems: readonly Problem[];
}

type Row = Readonly<Record<string, string>>;

const NAMES: Readonly<Record<ImportField, RegExp>> = {
  email: /e-?mail|correo/i,
  code: /code|c[oó]digo/i,
  amount: /amount|monto|importe|usd/i,
};

/** By the names of the columns, each used once. */
export function guessMapping(columns: readonly string[]): Mapping {
  const left = [...columns];
  const take = (field: ImportField) => {
    const index = left.findIndex((column) => NAMES[field].test(column));
    return index < 0 ? '' : (left.splice(index, 1)[0] ?? '');
  };
  return { email: take('email'), code: take('code'), amount: take('amount') };
}

const EMAIL = /^[^\s@]{1,64}@[^\s@.]+(\.[^\s@.]+)+$/;
const MAX_EMAIL = 254;

export function checkRows(rows: readonly Row[], mapping: Mapping, amountOfAll: string): ImportRow[] {
  const seen = new Set<string>();
  return rows.map((row, index) => {
    const value = (field: ImportField) => (mapping[field] === '' ? '' : (row[mapping[field]] ?? '').trim());
    const [email, code] = [value('email'), value('code')];
    const amount = value('amount') || amountOfAll.trim();
    const micros = readGiftAmount(amount);
    const key = code.toLowerCase();
    const problems: Problem[] = [];
    if (email === '') problems.push('emailMissing');
    else if (!EMAIL.test(email) || email.length > MAX_EMAIL) problems.push('emailWrong');
    if (code !== '' && !CODE_PATTERN.test(code)) problems.push('codeWrong');
    if (code !== '' && seen.has(key)) problems.push('codeTwice');
    if (micros === undefined) problems.push('amountWrong');
    seen.add(key);
    return { line: index + 2, email, code, amount, micros: micros ?? 0n, problems };
  });
}

export interface Chunk {
  readonly amount: string;
  readonly rows: readonly ImportRow[];
}

/** One request has one amount: rows of the same amount go together, in the order of the file. */
export function toChunks(rows: readonly ImportRow[], size = CHUNK_SIZE): Chunk[] {
  const byAmount = Map.groupBy(rows, ({ micros }) => micros);
  return [...byAmount].flatMap(([micros, same]) =>
    Array.from({ length: Math.ceil(same.length / size) }, (_, index) => ({
      amount: formatMicros(micros),
      rows: same.slice(index * size, (index + 1) * size),
    })),
  );
}

/**
 * The Idempotency-Key of a chunk. The same file with the same settings has the same keys, so that an import that was interrupted
 * creates nothing twice when it is repeated within 24 hours. A refused chunk has created nothing: its next attempt has a new key.
 */
export async function keyOfChunk(chunk: Chunk, settings: object, place: number, refusals: number): Promise<string> {
  const content = JSON.stringify([settings, place, chunk.amount, chunk.rows.map(({ email, code }) => [email, code])]);
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(content));
  const hex = [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
  return `import-${hex}-${refusals}`;
}
