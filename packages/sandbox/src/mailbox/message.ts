export interface Header {
  readonly name: string;
  readonly value: string;
}

export interface Message {
  readonly headers: readonly Header[];
  readonly text: string | undefined;
  readonly html: string | undefined;
}

/** Our mails have one level and two parts. */
const MAX_DEPTH = 5;
const MAX_PARTS = 50;

interface Entity {
  readonly headers: readonly { readonly name: string; readonly value: Bytes }[];
  readonly body: Bytes;
}

/** Parses RFC 5322 with MIME: the headers, and the first plain and first HTML text. */
export function readMessage(raw: Uint8Array): Message {
  const entity = readEntity(Buffer.from(raw).toString('latin1'));
  const texts = textsIn(entity, MAX_DEPTH);
  return {
    headers: entity.headers.map(({ name, value }) => ({ name, value: decodeHeader(value) })),
    text: texts.find(({ type }) => type === 'text/plain')?.content,
    html: texts.find(({ type }) => type === 'text/html')?.content,
  };
}

export function headerOf(headers: readonly Header[], name: string): string {
  return headers.find((header) => header.name.toLowerCase() === name)?.value ?? '';
}

function readEntity(bytes: Bytes): Entity {
  const end = /\r?\n\r?\n/.exec(bytes);
  const head = end ? bytes.slice(0, end.index) : bytes;
  const lines = head.replace(/\r?\n(?=[ \t])/g, '').split(/\r?\n/);
  const headers = lines.flatMap((line) => {
    const colon = line.indexOf(':');
    return colon > 0 ? [{ name: line.slice(0, colon), value: line.slice(colon + 1).trim() }] : [];
  });
  return { headers, body: end ? bytes.slice(end.index + end[0].length) : '' };
}

function textsIn(entity: Entity, depth: number): { type: string; content: string }[] {
  const contentType = headerOf(entity.headers, 'content-type') || 'text/plain';
  const type = (contentType.split(';')[0] ?? '').trim().toLowerCase();
  const boundary = parameterOf(contentType, 'boundary');
  if (type.startsWith('multipart/')) {
    if (boundary === undefined || depth === 0) return [];
    return partsOf(entity.body, boundary).flatMap((part) => textsIn(readEntity(part), depth - 1));
  }
  const encoding = headerOf(entity.headers, 'content-transfer-encoding').toLowerCase();
  return [{ type, content: decodeText(decodeBody(entity.body, encoding), parameterOf(contentType, 'charset')) }];
}

function partsOf(body: Bytes, boundary: string): Bytes[] {
  const [whole = ''] = `\n${body}`.split(`\n--${boundary}--`);
  const [, ...parts] = whole.split(`\n--${boundary}`, MAX_PARTS + 1);
  // Drops the rest of the boundary line; the line break before the next boundary belongs to that boundary.
  return parts.map((part) => part.slice(part.indexOf('\n') + 1).replace(/\r$/, ''));
}

function parameterOf(value: string, name: string): string | undefined {
  const found = value.split(';').find((part) => part.trim().toLowerCase().startsWith(`${name}=`));
  return found
    ?.slice(found.indexOf('=') + 1)
    .trim()
    .replace(/^"(.*)"$/, '$1');
}

/** One character per byte (latin1). */
export type Bytes = string;

export function decodeText(bytes: Bytes, charset = 'utf-8'): string {
  const buffer = Buffer.from(bytes, 'latin1');
  try {
    return new TextDecoder(charset).decode(buffer);
  } catch {
    return buffer.toString('utf8');
  }
}

export function decodeBody(body: Bytes, encoding: string): Bytes {
  if (encoding === 'base64') return Buffer.from(body, 'base64').toString('latin1');
  if (encoding === 'quoted-printable') return decodeHexPairs(body.replace(/=\r?\n/g, ''));
  return body;
}

export function decodeHeader(value: Bytes): string {
  // Whitespace between two encoded words is not content.
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
