import { parseUsd, type UsdMicros } from './amounts.ts';

export const GIFT_CODE = /^[A-Za-z0-9_-]{4,64}$/;
/** 10,000 USD. */
export const MAX_GIFT_MICROS = 10_000_000_000n;

/** Above 0, at most 10,000, at most 6 decimals. */
export function readGiftAmount(text: string): UsdMicros | undefined {
  const amount = parseUsd(text.trim());
  return amount.ok && amount.value > 0n && amount.value <= MAX_GIFT_MICROS ? amount.value : undefined;
}

const MAIL_ADDRESS = /^[^\s@]{1,64}@[^\s@.]+(\.[^\s@.]+)+$/;
const MAX_MAIL_ADDRESS = 254;

/** Catches mistakes of typing in a file; the service has the last word. */
export const isMailAddress = (text: string): boolean => MAIL_ADDRESS.test(text) && text.length <= MAX_MAIL_ADDRESS;

export type GiftLanguage = 'en' | 'es';

/** '' where nothing is said: the mail has both. Undefined for another language. */
export function readGiftLanguage(text: string): GiftLanguage | '' | undefined {
  const language = text.trim().toLowerCase();
  return language === 'en' || language === 'es' || language === '' ? language : undefined;
}

export type GiftFileField = 'email' | 'code' | 'amount' | 'language';

const COLUMN_NAMES: Readonly<Record<GiftFileField, RegExp>> = {
  email: /e-?mail|correo/i,
  code: /code|c[oó]digo/i,
  amount: /amount|monto|importe|usd/i,
  language: /language|idioma/i,
};

/** The column of each field, by its name in English or Spanish. A column is used once. */
export function findGiftColumns(columns: readonly string[]): Readonly<Record<GiftFileField, string | undefined>> {
  const left = [...columns];
  const take = (field: GiftFileField) => {
    const index = left.findIndex((column) => COLUMN_NAMES[field].test(column));
    return index < 0 ? undefined : left.splice(index, 1)[0];
  };
  return { email: take('email'), code: take('code'), amount: take('amount'), language: take('language') };
}

export interface TableRow {
  /** In the file, where the row begins. */
  readonly line: number;
  readonly values: Readonly<Record<string, string>>;
}

export interface Table {
  readonly columns: readonly string[];
  readonly rows: readonly TableRow[];
}

/** The cells of a file, blank lines included. The first row that is not blank names the columns; of two equal names the first counts. */
export function toTable(cells: readonly (readonly string[])[]): Table {
  const rows: TableRow[] = [];
  let columns: readonly string[] | undefined;
  let line = 1;
  for (const row of cells) {
    const isBlank = row.every((cell) => cell.trim() === '');
    if (!isBlank && columns) {
      const values = columns.map((name, index) => [name, row[index] ?? ''] as const);
      rows.push({ line, values: Object.fromEntries(values.reverse()) });
    } else if (!isBlank) columns = row.map((name) => name.trim());
    // A quoted cell may hold several lines.
    line += row.join('').split('\n').length;
  }
  return { columns: columns ?? [], rows };
}

type Cell = string | number | null | undefined;

/** Spreadsheets run texts that begin like this as formulas. */
const FORMULA = /^[=+\-@\t\r]/;
const NUMBER = /^-?\d+(\.\d+)?$/;

/** RFC 4180, with a byte order mark: without it Excel reads UTF-8 as another encoding. */
export function toCsv(header: readonly string[], rows: readonly (readonly Cell[])[]): string {
  return `\uFEFF${[header, ...rows].map((row) => row.map(cellOf).join(',')).join('\r\n')}\r\n`;
}

function cellOf(cell: Cell): string {
  const text = String(cell ?? '');
  const safe = FORMULA.test(text) && !NUMBER.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
