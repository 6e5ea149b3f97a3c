import { type Logger, pino } from 'pino';

/** Lines are gathered and written together: a system call for each would cost a quarter of a small request. */
const GATHERED_BYTES = 4_096;
const GATHERED_MS = 100;

export interface Log {
  readonly logger: Logger;
  /** For lines that are made by hand, each with its line end; they appear where the logger's `info` would. */
  writeLine(line: string): void;
  /** Writes what is gathered, now. */
  flush(): void;
}

/**
 * An error without the details of the database, which can be a whole row: a webhook's secret, a gift's code. The rest of it says
 * what was refused and where.
 */
export function showError(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const { detail: _, ...shown } = pino.stdSerializers.err(error) as ReturnType<typeof pino.stdSerializers.err> & {
    detail?: unknown;
  };
  return shown;
}

/** The structured log on standard output: one JSON object a line. Nothing is left unwritten when the process ends by itself. */
export function createLog(level: string): Log {
  const destination = pino.destination({ dest: 1, sync: false, minLength: GATHERED_BYTES });
  const flush = () => destination.flushSync();
  setInterval(() => destination.flush(), GATHERED_MS).unref();
  process.on('exit', flush);
  const logger = pino({ level, base: null, serializers: { err: showError, cause: showError } }, destination);
  const writeLine = logger.isLevelEnabled('info') ? (line: string) => void destination.write(line) : () => {};
  return { logger, writeLine, flush };
}
