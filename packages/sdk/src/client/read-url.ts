import { SvcInputError } from './errors.ts';

/** Does not repeat what it was given: node addresses carry keys. */
export function readUrl(
  name: string,
  text: string,
  code: 'invalid_options' | 'invalid_input' = 'invalid_options',
): URL {
  if (typeof text !== 'string' || !URL.canParse(text)) throw new SvcInputError(code, `${name} is not an address.`);
  const url = new URL(text);
  if (!/^https?:$/.test(url.protocol)) throw new SvcInputError(code, `${name} must begin with https://`);
  return url;
}
