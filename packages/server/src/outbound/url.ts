// Longer ones are refused by many servers anyway.
export const MAX_URL_LENGTH = 2048;

/**
 * Reads an address that a request may go to. The WHATWG parser turns every spelling of an IPv4 address
 * (127.1, 0x7f000001, full-width digits) into the dotted one, so later checks see one spelling only.
 */
export function parseTarget(url: string | URL): URL {
  const text = String(url);
  if (text.length > MAX_URL_LENGTH) throw invalid(`The URL is longer than ${MAX_URL_LENGTH} characters.`);
  if (!URL.canParse(text)) throw invalid('The URL cannot be read.');
  const target = new URL(text);
  if (target.protocol !== 'http:' && target.protocol !== 'https:') throw invalid('The URL must be http or https.');
  if (target.username !== '' || target.password !== '') throw invalid('The URL must not contain a user or password.');
  return target;
}

/** The name or the bare IP literal, without the brackets that a URL puts around IPv6. */
export function hostOf(target: URL): string {
  return target.hostname.replace(/^\[(.*)\]$/, '$1');
}

export function portOf(target: URL): number {
  if (target.port !== '') return Number(target.port);
  return target.protocol === 'https:' ? 443 : 80;
}

function invalid(message: string): OutboundError {
  return new OutboundError('invalid_url', message);
}

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
