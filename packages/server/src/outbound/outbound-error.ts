/**
 * - `invalid_url`: the address is not one that a request could go to
 * - `forbidden_address`: it leads to a place that its owner may not reach through us
 * - `connect`: no connection: the name, the network or the certificate failed
 * - `protocol`: connected, but no whole HTTP answer came back, or the request cannot be said in HTTP
 * - `too_large`, `timeout`: the answer broke a bound
 */
export type OutboundErrorKind = 'invalid_url' | 'forbidden_address' | 'connect' | 'protocol' | 'too_large' | 'timeout';

/**
 * Its message names the host and never the path, the query, a header or a resolved address, so that it can be shown to a tenant.
 * It carries no cause: Node's own errors hold internal addresses and raw bytes of the answer.
 */
export class OutboundError extends Error {
  readonly kind: OutboundErrorKind;

  constructor(kind: OutboundErrorKind, message: string) {
    super(message);
    this.name = 'OutboundError';
    this.kind = kind;
  }
}

/** Turns what Node threw into an `OutboundError` of this kind, keeping only its code. */
export function toOutboundError(kind: OutboundErrorKind, message: string, error: unknown): OutboundError {
  if (error instanceof OutboundError) return error;
  const code = error instanceof Error && 'code' in error && typeof error.code === 'string' ? ` (${error.code})` : '';
  return new OutboundError(kind, message + code);
}
