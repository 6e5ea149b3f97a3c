export type EmbeddedReason = 'no_binary' | 'other_version' | 'in_use' | 'unreachable' | 'not_started' | 'not_stopped';

/** What an operator can act on: the message says what to do, so it can be printed without a stack. */
export class EmbeddedPostgresError extends Error {
  readonly reason: EmbeddedReason;

  constructor(reason: EmbeddedReason, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'EmbeddedPostgresError';
    this.reason = reason;
  }
}
