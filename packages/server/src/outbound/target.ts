import { OutboundError } from './outbound-error.ts';

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
