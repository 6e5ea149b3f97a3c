/** Bytes are carried as strings of one character each, as Node's latin1 has them. */
export type Bytes = string;

/** Text of a charset that is not known is read as UTF-8; what is no text of it becomes replacement characters. */
export function decodeText(bytes: Bytes, charset = 'utf-8'): string {
  const buffer = Buffer.from(bytes, 'latin1');
  try {
    return new TextDecoder(charset).decode(buffer);
  } catch {
    return buffer.toString('utf8');
  }
}

/** A body as its Content-Transfer-Encoding says. */
export function decodeBody(body: Bytes, encoding: string): Bytes {
  if (encoding === 'base64') return Buffer.from(body, 'base64').toString('latin1');
  if (encoding === 'quoted-printable') return decodeHexPairs(body.replace(/=\r?\n/g, ''));
  return body;
}

/** A header's value with its encoded words (RFC 2047) decoded. */
export function decodeHeader(value: Bytes): string {
  // Blanks between two encoded words belong to neither.
  const joined = value.replace(/\?=[ \t]+=\?/g, '?==?');
  const parts = joined.split(/(=\?[^?\s]{1,40}\?[bq]\?[^?\s]*\?=)/i);
  return parts.map((part, index) => (index % 2 === 1 ? decodeWord(part) : decodeText(part))).join('');
}

function decodeWord(word: string): string {
  const [, charset = '', encoding = '', text = ''] = word.split('?');
  const isBase64 = encoding.toLowerCase() === 'b';
  const bytes = isBase64 ? decodeBody(text, 'base64') : decodeHexPairs(text.replaceAll('_', ' '));
  return decodeText(bytes, charset);
}

const decodeHexPairs = (text: Bytes): Bytes =>
  text.replace(/=([0-9a-f]{2})/gi, (_, pair: string) => String.fromCharCode(Number.parseInt(pair, 16)));
