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

/** The structured log on standard output: one JSON object a line. Nothing is left unwritten when the process ends by itself. */
export function createLog(level: string): Log {
  const destination = pino.destination({ dest: 1, sync: false, minLength: GATHERED_BYTES });
  const flush = () => destination.flushSync();
  setInterval(() => destination.flush(), GATHERED_MS).unref();
  process.on('exit', flush);
  const logger = pino({ level, base: null }, destination);
  const writeLine = logger.isLevelEnabled('info') ? (line: string) => void destination.write(line) : () => {};
  return { logger, writeLine, flush };
}
