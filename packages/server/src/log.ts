import { type Logger, pino } from 'pino';

/** Lines are written in batches: one system call per line costs a quarter of a small request. */
const BATCH_BYTES = 4_096;
const BATCH_MS = 100;

export interface Log {
  readonly logger: Logger;
  /** For finished lines, each with its line end; written at level `info`. */
  writeLine(line: string): void;
  flush(): void;
}

/** Leaves out PostgreSQL's `detail`: it can be a whole row, with a webhook's secret or a gift code. */
export function showError(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const { detail: _, ...shown } = pino.stdSerializers.err(error) as ReturnType<typeof pino.stdSerializers.err> & {
    detail?: unknown;
  };
  return shown;
}

export function createLog(level: string): Log {
  const destination = pino.destination({ dest: 1, sync: false, minLength: BATCH_BYTES });
  const flush = () => destination.flushSync();
  setInterval(() => destination.flush(), BATCH_MS).unref();
  process.on('exit', flush);
  const logger = pino({ level, base: null, serializers: { err: showError, cause: showError } }, destination);
  const writeLine = logger.isLevelEnabled('info') ? (line: string) => void destination.write(line) : () => {};
  return { logger, writeLine, flush };
}
