/**
 * A call to a provider that ended without an answer of the protocol: what was ordered may have been delivered. Its message names no more
 * than the host and what came back, so that it can be logged.
 */
export class UnknownOutcomeError extends Error {
  override readonly name = 'UnknownOutcomeError';
}
