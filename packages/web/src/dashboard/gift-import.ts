import {
  findGiftColumns,
  formatUsd,
  GIFT_CODE,
  type GiftFileField,
  type GiftLanguage,
  isMailAddress,
  readGiftAmount,
  readGiftLanguage,
  type TableRow,
} from '@svc/protocol/values';

/** Rows of one request: small enough for steps of a progress bar, large enough for the rate limit. */
export const CHUNK_SIZE = 100;
export const MAX_ROWS = 10_000;
export const MAX_FILE_BYTES = 5_000_000;

export const importFields = ['email', 'code', 'amount', 'language'] as const satisfies readonly GiftFileField[];
/** The column of each field; '' for none. */
export type Mapping = Readonly<Record<GiftFileField, string>>;
export type Problem = 'emailMissing' | 'emailWrong' | 'codeWrong' | 'codeTwice' | 'amountWrong' | 'languageWrong';

export interface ImportRow {
  /** Of the file. */
  readonly line: number;
  readonly email: string;
  readonly code: string;
  readonly amount: string;
  readonly micros: bigint;
  /** Of the mail; '' for both. */
  readonly language: GiftLanguage | '';
  readonly problems: readonly Problem[];
}

export function guessMapping(columns: readonly string[]): Mapping {
  const { email = '', code = '', amount = '', language = '' } = findGiftColumns(columns);
  return { email, code, amount, language };
}

export function checkRows(rows: readonly TableRow[], mapping: Mapping, amountOfAll: string): ImportRow[] {
  const seen = new Set<string>();
  return rows.map(({ line, values }) => {
    const value = (field: GiftFileField) => (mapping[field] === '' ? '' : (values[mapping[field]] ?? '').trim());
    const [email, code] = [value('email'), value('code')];
    const amount = value('amount') || amountOfAll.trim();
    const micros = readGiftAmount(amount);
    const language = readGiftLanguage(value('language'));
    const key = code.toLowerCase();
    const problems: Problem[] = [];
    if (email === '') problems.push('emailMissing');
    else if (!isMailAddress(email)) problems.push('emailWrong');
    if (code !== '' && !GIFT_CODE.test(code)) problems.push('codeWrong');
    if (code !== '' && seen.has(key)) problems.push('codeTwice');
    if (micros === undefined) problems.push('amountWrong');
    if (language === undefined) problems.push('languageWrong');
    seen.add(key);
    return { line, email, code, amount, micros: micros ?? 0n, language: language ?? '', problems };
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
      amount: formatUsd(micros),
      rows: same.slice(index * size, (index + 1) * size),
    })),
  );
}

/**
 * The Idempotency-Key of a chunk. The same file with the same settings has the same keys, so that an import that was interrupted
 * creates nothing twice when it is repeated within 24 hours. A refused chunk has created nothing: its next attempt has a new key.
 */
export async function keyOfChunk(chunk: Chunk, settings: object, place: number, refusals: number): Promise<string> {
  const rows = chunk.rows.map(({ email, code, language }) => [email, code, ...(language === '' ? [] : [language])]);
  const content = JSON.stringify([settings, place, chunk.amount, rows]);
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(content));
  const hex = [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
  return `import-${hex}-${refusals}`;
}
