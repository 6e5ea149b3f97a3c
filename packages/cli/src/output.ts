import { confirm, isCancel, progress, spinner } from '@clack/prompts';
import colors from 'picocolors';
import { CliError, exitCodes, usage } from './failure.ts';

export interface Column<T> {
  readonly title: string;
  readonly value: (row: T) => string | number | boolean | null | undefined;
  readonly align?: 'right';
}

export interface Progress {
  advance(count: number, message?: string): void;
  end(message: string): void;
}

/** What takes longer shows that it goes on. */
const BUSY_AFTER_MS = 1_000;

/** Answers go to stdout; questions, progress and notes to stderr, so that a pipe gets answers only. */
export class Output {
  readonly json: boolean;
  readonly isTerminal = process.stdout.isTTY === true;
  readonly #isInteractive: boolean;
  #stopBusy: () => void = () => {};

  constructor({ json = false }: { readonly json?: boolean }) {
    this.json = json;
    this.#isInteractive = !json && process.stderr.isTTY === true && !process.env.CI;
  }

  /** The answer of a command: JSON with `--json`, else text for people. */
  answer(value: unknown, text: () => string): void {
    this.#stopBusy();
    process.stdout.write(this.json ? `${JSON.stringify(value, undefined, 2)}\n` : withNewline(text()));
  }

  /** One of many, as it comes: a line of JSON, or a line of text. */
  item(value: unknown, text: () => string): void {
    this.#stopBusy();
    process.stdout.write(this.json ? `${JSON.stringify(value)}\n` : withNewline(text()));
  }

  note(text: string): void {
    this.#stopBusy();
    if (!this.json) process.stderr.write(withNewline(text));
  }

  list<T>(rows: readonly T[], columns: readonly Column<T>[], whenEmpty: string): void {
    this.answer(rows, () => (rows.length === 0 ? whenEmpty : table(rows, columns)));
  }

  /** A hash or address: shortened for people, whole in a pipe. */
  hash(value: string | null | undefined): string {
    if (!value) return '';
    return this.isTerminal && value.length > 20 ? `${value.slice(0, 8)}…${value.slice(-6)}` : value;
  }

  /** Until the command answers, and only where it takes longer than a second. */
  busy(message: string): void {
    if (!this.#isInteractive) return;
    const shown = spinner({ output: process.stderr, indicator: 'timer' });
    let started = false;
    const timer = setTimeout(() => {
      started = true;
      shown.start(message);
    }, BUSY_AFTER_MS);
    this.#stopBusy = () => {
      clearTimeout(timer);
      if (started) shown.clear();
      this.#stopBusy = () => {};
    };
  }

  stop(): void {
    this.#stopBusy();
  }

  progress(message: string, max: number): Progress {
    this.#stopBusy();
    if (!this.#isInteractive) return { advance: () => {}, end: () => {} };
    const bar = progress({ max, output: process.stderr, style: 'heavy' });
    bar.start(message);
    return { advance: (count, text) => bar.advance(count, text), end: (text) => bar.stop(text) };
  }

  /** Without a terminal `--yes` must say it. */
  async confirm(message: string, yes: boolean | undefined): Promise<void> {
    if (yes) return;
    this.#stopBusy();
    if (!this.#isInteractive || process.stdin.isTTY !== true) {
      throw usage(`${message} There is no terminal to ask at: add --yes to go on.`);
    }
    const agreed = await confirm({ message, initialValue: false, output: process.stderr });
    if (isCancel(agreed) || !agreed) throw new CliError('cancelled', 'Nothing was changed.', exitCodes.interrupted);
  }
}

/** Names come from other people: without control characters they cannot move the cursor or hide text. */
export const clean = (text: string): string => text.replace(/[\p{Cc}\p{Cf}]/gu, ' ');

export function table<T>(rows: readonly T[], columns: readonly Column<T>[]): string {
  const cells = rows.map((row) => columns.map(({ value }) => show(value(row))));
  const widths = columns.map(({ title }, at) =>
    Math.max(title.length, ...cells.map((row) => [...(row[at] ?? '')].length)),
  );
  const line = (texts: readonly string[], isLast: (at: number) => boolean) =>
    texts.map((text, at) => pad(text, widths[at] ?? 0, columns[at]?.align, isLast(at))).join('  ');
  const isLast = (at: number) => at === columns.length - 1;
  const head = line(
    columns.map(({ title }) => title),
    isLast,
  );
  return [colors.dim(head), ...cells.map((row) => colorStates(line(row, isLast)))].join('\n');
}

/** Names and values below each other. */
export function facts(rows: readonly (readonly [name: string, value: unknown])[]): string {
  const width = Math.max(...rows.map(([name]) => name.length));
  return rows
    .map(([name, value]) => `${colors.dim(name.padEnd(width))}  ${colorStates(show(value as string))}`)
    .join('\n');
}

function show(value: unknown): string {
  if (value === null || value === undefined || value === '') return '-';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  return clean(Array.isArray(value) ? value.join(', ') : String(value));
}

function pad(text: string, width: number, align: 'right' | undefined, isLast: boolean): string {
  const space = ' '.repeat(Math.max(0, width - [...text].length));
  if (align === 'right') return space + text;
  return isLast ? text : text + space;
}

const colorStates = (line: string): string =>
  line
    .replace(/\b(SUCCESS|DELIVERED|ok)\b/g, (word) => colors.green(word))
    .replace(/\b(FAILED|CANCELLED|REJECTED|REVERTED|unreachable)\b/g, (word) => colors.red(word))
    .replace(/\b(PENDING|PROCESSING|WAITING)\b/g, (word) => colors.yellow(word));

const withNewline = (text: string): string => (text.endsWith('\n') ? text : `${text}\n`);

/** `2026-11-02 18:20:11`, UTC. */
export const time = (moment: string | null | undefined): string =>
  moment ? moment.slice(0, 19).replace('T', ' ') : '';
