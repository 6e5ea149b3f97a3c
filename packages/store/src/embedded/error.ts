export type EmbeddedReason = 'no_binary' | 'other_version' | 'in_use' | 'unreachable' | 'not_started' | 'not_stopped';

/** The message tells the operator what to do; no stack needed. */
export class EmbeddedPostgresError extends Error {
  readonly reason: EmbeddedReason;

  constructor(reason: EmbeddedReason, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'EmbeddedPostgresError';
    this.reason = reason;
  }
}
