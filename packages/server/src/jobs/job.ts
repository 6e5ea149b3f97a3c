/** A job to be done, once or more often: after a crash it is repeated, so its handler must bear that. */
export interface NewJob {
  readonly task: string;
  /** Becomes JSON. It names what to work on and holds no secret. */
  readonly payload: unknown;
  /** Not before this time; at once when omitted. */
  readonly runAt?: Date;
  /**
   * One waiting job at most for each task and key: enqueueing another renews the waiting one, with the new payload and
   * the earlier of both times. A job that runs already is no longer waiting.
   */
  readonly key?: string;
  readonly maxAttempts?: number;
  /** Jobs of the same queue never run at the same time. */
  readonly queue?: string;
}

export interface JobContext {
  /** Counts from 1. */
  readonly attempt: number;
  readonly maxAttempts: number;
  readonly jobId: string;
  /** Aborted when the job should end: it took too long, the process stops, or another worker may take the job over. */
  readonly signal: AbortSignal;
}

export type JobHandler<P> = (payload: P, context: JobContext) => Promise<void>;

export type JobHandlers = Readonly<Record<string, JobHandler<never>>>;

/** What the workers need of a logger; pino's fits. */
export interface JobLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

// Long messages come from answers of other machines; their beginning tells enough.
const MAX_REASON_LENGTH = 500;

/** An error in a line, for the log and the operator. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error).slice(0, MAX_REASON_LENGTH);
  const cause = error.cause instanceof Error && error.cause.message ? ` (${error.cause.message})` : '';
  return `${error.message || error.name}${cause}`.slice(0, MAX_REASON_LENGTH);
}
