export const MAX_URL_LENGTH = 2048;

/** The WHATWG parser normalises every spelling of an IPv4 address (127.1, 0x7f000001, full-width digits). */
export function parseTarget(url: string | URL): URL {
  const text = String(url);
  if (text.length > MAX_URL_LENGTH) throw invalid(`The URL is longer than ${MAX_URL_LENGTH} characters.`);
  if (!URL.canParse(text)) throw invalid('The URL cannot be read.');
  const target = new URL(text);
  if (target.protocol !== 'http:' && target.protocol !== 'https:') throw invalid('The URL must be http or https.');
  if (target.username !== '' || target.password !== '') throw invalid('The URL must not contain a user or password.');
  return target;
}

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

export type OutboundErrorKind =
  | 'invalid_url'
  | 'forbidden_address'
  | 'connect' // name, network or certificate
  | 'protocol' // no whole HTTP answer, or a request that HTTP cannot express
  | 'too_large'
  | 'timeout';

/** Safe to show to a tenant: names the host only, and has no cause, which would hold addresses and raw bytes. */
export class OutboundError extends Error {
  readonly kind: OutboundErrorKind;

  constructor(kind: OutboundErrorKind, message: string) {
    super(message);
    this.name = 'OutboundError';
    this.kind = kind;
  }
}

export function toOutboundError(kind: OutboundErrorKind, message: string, error: unknown): OutboundError {
  if (error instanceof OutboundError) return error;
  const code = error instanceof Error && 'code' in error && typeof error.code === 'string' ? ` (${error.code})` : '';
  return new OutboundError(kind, message + code);
}
