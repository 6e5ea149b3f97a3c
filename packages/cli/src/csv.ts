import { readFileSync } from 'node:fs';
import {
  findGiftColumns,
  GIFT_CODE,
  type GiftLanguage,
  isMailAddress,
  readGiftAmount,
  readGiftLanguage,
  type Table,
  toTable,
  type UsdMicros,
} from '@svc/protocol/values';
import Papa from 'papaparse';
import { usage } from './failure.ts';

export interface Person {
  readonly email: string;
  readonly code?: string | undefined;
  readonly micros: UsdMicros;
  /** Of the mail; without it the mail has both. */
  readonly language?: GiftLanguage | undefined;
}

export interface People {
  readonly people: readonly Person[];
  /** With the line of the file. */
  readonly problems: readonly string[];
}

const MAX_ROWS = 100_000;
const MAX_FILE_BYTES = 50_000_000;

export interface PeopleOptions {
  /** For rows without an amount of their own. */
  readonly amount?: string | undefined;
  readonly allowDuplicates?: boolean | undefined;
}

export function readTable(file: string): Table {
  const text = readFileSync(file, 'utf8');
  if (text.length > MAX_FILE_BYTES) throw usage(`${file} is larger than ${MAX_FILE_BYTES / 1e6} MB. Split it.`);
  // Blank lines mislead the guess of the separator.
  const { delimiter } = Papa.parse<string[]>(text, { preview: 1, skipEmptyLines: 'greedy' }).meta;
  const table = toTable(Papa.parse<string[]>(text, { delimiter }).data);
  const { rows } = table;
  if (rows.length === 0) throw usage(`${file} has no rows. Its first line names the columns, such as email,amount.`);
  if (rows.length > MAX_ROWS) throw usage(`${file} has more than ${MAX_ROWS} rows. Split it.`);
  return table;
}

/** Columns `email`, and optionally `code`, `amount` and `language`, by name in English or Spanish. */
export function readPeople(file: string, { amount: amountOfAll = '', allowDuplicates }: PeopleOptions): People {
  const { columns, rows } = readTable(file);
  const { email, code, amount, language } = findGiftColumns(columns);
  if (email === undefined) throw usage(`${file} has no column email. Its columns are ${columns.join(', ')}.`);
  const [emails, codes] = [new Map<string, number>(), new Map<string, number>()];
  const problems: string[] = [];
  const people = rows.map(({ line, values }): Person => {
    const value = (column: string | undefined) => (column === undefined ? '' : (values[column] ?? '').trim());
    const person = { email: value(email), code: value(code), amount: value(amount) || amountOfAll };
    const micros = readGiftAmount(person.amount);
    const spoken = readGiftLanguage(value(language));
    const report = (problem: string) => problems.push(`line ${line}: ${problem}`);
    const once = (seen: Map<string, number>, key: string, what: string) => {
      const before = seen.get(key);
      if (before !== undefined) report(`${what} is in line ${before} already`);
      else seen.set(key, line);
    };
    if (person.email === '') report('there is no e-mail address');
    else if (!isMailAddress(person.email)) report(`${person.email} is no e-mail address`);
    else if (!allowDuplicates) once(emails, person.email.toLowerCase(), person.email);
    if (person.code !== '' && !GIFT_CODE.test(person.code)) report('a code has 4 to 64 letters, digits, _ and -');
    else if (person.code !== '') once(codes, person.code.toLowerCase(), 'the code');
    if (micros === undefined) report(amountProblem(person.amount));
    if (spoken === undefined) report(`${value(language)} is no language of mails: use en, es, or nothing for both`);
    return {
      email: person.email,
      code: person.code || undefined,
      micros: micros ?? 0n,
      language: spoken || undefined,
    };
  });
  return { people, problems };
}

const amountProblem = (text: string) =>
  text === ''
    ? 'there is no amount. Add a column amount, or --amount for all'
    : `${text} is no amount above 0 and up to 10000, with at most 6 decimals`;
