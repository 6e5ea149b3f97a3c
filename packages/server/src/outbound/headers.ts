import { type IncomingHttpHeaders, validateHeaderName, validateHeaderValue } from 'node:http';
import { OutboundError, toOutboundError } from './outbound-error.ts';

// They say where the request goes and where it ends; a caller who set them could make it mean something else.
const OWN_HEADERS = new Set([
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** The caller's headers, checked, with the ones that frame the request. */
export function requestHeaders(
  target: URL,
  given: Readonly<Record<string, string>>,
  bodyBytes: number | undefined,
): Record<string, string> {
  for (const [name, value] of Object.entries(given)) checkHeader(name, value);
  const framing = bodyBytes === undefined ? {} : { 'content-length': String(bodyBytes) };
  return { ...given, ...framing, host: target.host, connection: 'close' };
}

/** Lower-case names; a header that came several times is joined by commas. */
export function responseHeaders(headers: IncomingHttpHeaders): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : (value ?? '')]),
  );
}

function checkHeader(name: string, value: string): void {
  if (OWN_HEADERS.has(name.toLowerCase())) throw new OutboundError('protocol', `The header ${name} cannot be set`);
  try {
    validateHeaderName(name);
    validateHeaderValue(name, value);
  } catch (error) {
    throw toOutboundError('protocol', 'A header of the request is not valid', error);
  }
}
