import { isIP } from 'node:net';
import { isForbiddenAddress, isLoopbackAddress } from './forbidden-addresses.ts';
import { hostOf, MAX_URL_LENGTH } from './target.ts';

export interface TenantUrlOptions {
  /** Whether addresses of this machine will do, over http too. */
  readonly allowLoopback: boolean;
}

/** Names that mean this machine whatever a resolver says. */
const LOCAL_NAME = /(^|\.)localhost\.?$/;
const NOT_HTTPS = 'must be an address that starts with https://';

/**
 * What is wrong with an address that a tenant gives us, to follow the field's name, or undefined. It spares people an address that
 * can never work; what a name leads to is judged whenever it is connected to.
 */
export function faultOfTenantUrl(text: string, { allowLoopback }: TenantUrlOptions): string | undefined {
  // Readers of URLs drop some of them without a word.
  if (/[\s\p{Cc}]/u.test(text)) return 'must not contain blanks';
  if (text.length > MAX_URL_LENGTH) return `must have at most ${MAX_URL_LENGTH} characters`;
  if (!URL.canParse(text)) return NOT_HTTPS;
  const target = new URL(text);
  if (target.protocol !== 'https:' && target.protocol !== 'http:') return NOT_HTTPS;
  if (target.username !== '' || target.password !== '') return 'must not contain a user or password';
  const host = hostOf(target);
  if (isLoopbackAddress(host) || LOCAL_NAME.test(host)) {
    return allowLoopback ? undefined : 'must lead to a public address, not to this machine';
  }
  if (target.protocol !== 'https:') return NOT_HTTPS;
  return isIP(host) !== 0 && isForbiddenAddress(host) ? 'must lead to a public address' : undefined;
}
