import { type Logger, pino } from 'pino';

/** Lines are written in batches: one system call per line costs a quarter of a small request. */
const BATCH_BYTES = 16_000;
const BATCH_MS = 100;

export interface Log {
  readonly logger: Logger;
  /** For finished lines, each with its line end; written at level `info`. */
  writeLine(line: string): void;
  flush(): void;
  /** After all lines so far, in one piece. */
  print(text: string): void;
}

/** Leaves out PostgreSQL's `detail`: it can be a whole row, with a webhook's secret or a gift code. */
export function showError(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const { detail: _, ...shown } = pino.stdSerializers.err(error) as ReturnType<typeof pino.stdSerializers.err> & {
    detail?: unknown;
  };
  return shown;
}

const STANDARD_OUTPUT = 1;

/** JSON lines can go to a file in place of the standard output. */
export function createLog(
  level: string,
  format: 'json' | 'text' = isTerminal() ? 'text' : 'json',
  dest: number | string = STANDARD_OUTPUT,
): Log {
  if (format === 'text') return createTextLog(level, (text) => process.stdout.write(text));
  const destination = pino.destination({ dest, sync: false, minLength: BATCH_BYTES });
  const flush = () => destination.flushSync();
  setInterval(() => destination.flush(), BATCH_MS).unref();
  process.on('exit', flush);
  const logger = pino({ level, base: null, serializers: { err: showError, cause: showError } }, destination);
  const writeLine = logger.isLevelEnabled('info') ? (line: string) => void destination.write(line) : () => {};
  const print = (text: string) => {
    destination.write(text);
    flush();
  };
  return { logger, writeLine, flush, print };
}

export const isTerminal = (): boolean => process.stdout.isTTY === true;

/** For people: no batches, because they wait for each line. */
export function createTextLog(level: string, write: (text: string) => void, color = hasColor()): Log {
  const show = (line: string) => write(toText(line, color));
  const logger = pino({ level, base: null, serializers: { err: showError, cause: showError } }, { write: show });
  const writeLine = logger.isLevelEnabled('info') ? show : () => {};
  return { logger, writeLine, flush: () => {}, print: write };
}

const hasColor = (): boolean => process.env.NO_COLOR === undefined;

const levels: Readonly<Record<number, readonly [name: string, color: number]>> = {
  10: ['trace', 90],
  20: ['debug', 90],
  30: ['', 0],
  40: ['warning', 33],
  50: ['error', 31],
  60: ['fatal', 31],
};

interface LogLine {
  readonly level: number;
  readonly time: number;
  readonly msg?: string;
  readonly [field: string]: unknown;
}

/** `12:03:11 GET /v1/skus 200 3 ms`, or the message and its fields; stacks below, indented. */
export function toText(line: string, color: boolean): string {
  const paint = (code: number, text: string) => (color && code !== 0 ? `\x1b[${code}m${text}\x1b[0m` : text);
  const parsed = parseLine(line);
  if (!parsed) return line;
  const { level, time, msg = '', err, cause, ...fields } = parsed;
  const [name, shade] = levels[level] ?? ['', 0];
  const clock = paint(90, new Date(time).toTimeString().slice(0, 8));
  if (msg === 'request' && fields.route !== undefined) {
    const status = Number(fields.status);
    const result = paint(status >= 500 ? 31 : status >= 400 ? 33 : 32, String(status));
    return `${clock} ${fields.method} ${fields.route} ${result} ${paint(90, `${fields.ms} ms`)}\n`;
  }
  const shown = Object.entries(fields).map(([key, value]) => ` ${key}=${fieldText(value)}`);
  const head = [name && paint(shade, name), msg].filter((part) => part !== '').join(' ');
  const stacks = [err, cause].flatMap((error) => stackOf(error)).map((text) => `    ${paint(90, text)}\n`);
  return `${clock} ${head}${paint(90, shown.join(''))}\n${stacks.join('')}`;
}

const fieldText = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

function stackOf(error: unknown): string[] {
  if (error === null || typeof error !== 'object') return [];
  const { stack, message } = error as { stack?: unknown; message?: unknown };
  return String(stack ?? message ?? JSON.stringify(error)).split('\n');
}

function parseLine(line: string): LogLine | undefined {
  try {
    const value: unknown = JSON.parse(line);
    const isLine = value !== null && typeof value === 'object' && 'level' in value && 'time' in value;
    return isLine ? (value as LogLine) : undefined;
  } catch {
    return undefined;
  }
}

export interface BannerFacts {
  readonly role: 'all' | 'api' | 'worker';
  readonly publicUrl: string;
  readonly startedInMs: number;
  readonly database: string;
  readonly development: { readonly publicKey: string; readonly secretKey: string | undefined } | undefined;
  readonly signInUrl: string | undefined;
  readonly credentialsFile: string;
  /** The secret key is shown to people, not to files that keep what a process writes. */
  readonly isTerminal: boolean;
}

export function banner(facts: BannerFacts): string {
  const { publicUrl, development } = facts;
  if (facts.role === 'worker') return `\nsvc is ready to run jobs; its health is at ${publicUrl}/readyz\n`;
  const rows: [string, string][] = [
    ['Interface', `${publicUrl}/v1`],
    ['Reference', `${publicUrl}/docs`],
    ['Dashboard', facts.signInUrl === undefined ? `${publicUrl}/dashboard` : `${facts.signInUrl} (once, 15 minutes)`],
    ...(development ? [['Starknet', `${publicUrl}/sandbox/starknet/rpc`] as [string, string]] : []),
    ['Database', facts.database],
    ...keyRows(facts),
  ];
  const table = rows.map(([name, value]) => `  ${name.padEnd(12)}${value}`).join('\n');
  const blocks = [`svc is ready (${(facts.startedInMs / 1000).toFixed(1)} s)`, table];
  if (facts.isTerminal && development?.secretKey !== undefined)
    blocks.push(firstCall(publicUrl, development.publicKey, development.secretKey));
  return `\n${blocks.join('\n\n')}\n`;
}

function keyRows({ development, credentialsFile, isTerminal }: BannerFacts): [string, string][] {
  if (!development) return [['Keys', 'none for development; `npm run admin` makes organisations and keys']];
  const { publicKey, secretKey } = development;
  if (secretKey === undefined) {
    return [
      ['Public key', publicKey],
      ['Secret key', 'shown at the first start; `npm run admin` makes another, or set SVC_DEV_SECRET_KEY'],
    ];
  }
  if (!isTerminal) {
    return [
      ['Public key', publicKey],
      ['Secret key', `in ${credentialsFile}`],
    ];
  }
  return [
    ['Public key', publicKey],
    ['Secret key', secretKey],
    ['Kept in', credentialsFile],
  ];
}

function firstCall(publicUrl: string, publicKey: string, secretKey: string): string {
  return [
    '  Try it:',
    '',
    `  curl '${publicUrl}/v1/skus?category=RECARGAS&limit=3' \\`,
    `    -H 'x-api-key: ${publicKey}' \\`,
    `    -H 'Authorization: Bearer ${secretKey}'`,
  ].join('\n');
}
