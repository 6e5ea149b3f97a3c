import { isIP } from 'node:net';
import { type Parsed, parsed, unparsed } from '@svc/protocol';
import { isForbiddenAddress } from '../../outbound/forbidden-addresses.ts';
import { hostOf } from '../../outbound/target.ts';

/** Where orders go, and the secret that both sides sign with. */
export interface FulfilmentAccess {
  readonly url: string;
  readonly secret: Uint8Array;
}

/** An order's id is added to it, and longer addresses are refused by many servers. */
const MAX_URL_LENGTH = 1_900;
const SECRET = /^whsec_([A-Za-z0-9+/]+={0,2})$/;
/** What Standard Webhooks asks for; fewer could be guessed. */
const MIN_SECRET_BYTES = 24;
const MAX_SECRET_BYTES = 64;

/** Orders name people's telephones and contracts, so they leave the operator's network encrypted or not at all. */
export function parseFulfilmentUrl(text: string): Parsed<string> {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol) || text.length > MAX_URL_LENGTH) {
    return unparsed('must be an address that starts with https://, or with http:// inside your own network');
  }
  if (url.username !== '' || url.password !== '') return unparsed('must not contain a user or password');
  if (url.hash !== '') return unparsed('must not contain a #');
  const host = hostOf(url);
  if (url.protocol === 'http:' && isIP(host) !== 0 && !isForbiddenAddress(host)) {
    return unparsed('must start with https:// towards a public address');
  }
  return parsed(url.href);
}

/** `whsec_` and base64, as Standard Webhooks spells secrets. */
export function parseFulfilmentSecret(text: string): Parsed<Uint8Array> {
  const [, base64 = ''] = SECRET.exec(text) ?? [];
  const bytes = Buffer.from(base64, 'base64');
  // Decoding is lenient; what does not come out the same was cut off or mistyped.
  const isWhole = bytes.toString('base64') === base64;
  if (isWhole && bytes.length >= MIN_SECRET_BYTES && bytes.length <= MAX_SECRET_BYTES) return parsed(bytes);
  return unparsed(`must be whsec_ and the base64 of ${MIN_SECRET_BYTES} to ${MAX_SECRET_BYTES} random bytes`);
}
