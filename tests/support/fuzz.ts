import type { Endpoint } from '@svc/protocol';
import { PRIME, toHex } from '@svc/starknet';
import fc from 'fast-check';
import type { RawRequest } from './client.ts';
import type { Example } from './examples.ts';

/** JSON text that `JSON.stringify` never prints. */
class RawJson {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
  toString(): string {
    return this.text.slice(0, 80);
  }
}

const nested = (open: string, close: string, levels: number) => open.repeat(levels) + close.repeat(levels);

const rawJson = fc
  .constantFrom(
    ...['1e400', '-1e400', '-0', '1e-7', '1E+2', '0.1', '5e-324', '9007199254740993', '9'.repeat(400), '1.0000000'],
    ...['{"__proto__":{"admin":true}}', '{"constructor":{"prototype":{"admin":true}}}', '{"a":1,"a":2}', '{"":""}'],
    ...['"\\u0000"', '"\\ud800"', '"\\udc00\\ud800"', '{"\\u0000":1}', nested('[', ']', 33), nested('[', ']', 5_000)],
    nested('{"a":', '}', 40).replace(':}', ':1}'),
  )
  .map((text) => new RawJson(text));

const oddText = fc.oneof(
  fc.constantFrom(
    '',
    ' ',
    '\0',
    'a\0b',
    '\u202e',
    '\ufeff',
    '😀',
    'İ',
    '\ud83d',
    '__proto__',
    'constructor',
    'toString',
  ),
  fc.constantFrom("'; drop table skus; --", '../../etc/passwd', '%00', '$(id)', '{{7*7}}', '<script>', '\r\nx: y'),
  fc.constantFrom('null', 'true', 'NaN', 'Infinity', '-1', '0', '1e400', '0x10', '1_000', '٣', '1,5', '2026-02-30'),
  fc.constantFrom('0x0', '0X1', toHex(PRIME), toHex(PRIME - 1n), `${2n ** 251n}`),
  fc.constantFrom('x'.repeat(129), 'x'.repeat(257), 'é'.repeat(5_000), `0x${'f'.repeat(200)}`),
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.string({ unit: 'grapheme', maxLength: 40 }),
);

const oddJson: fc.Arbitrary<unknown> = fc.oneof(
  rawJson,
  oddText,
  fc.jsonValue({ maxDepth: 5 }),
  fc.constantFrom<unknown>(null, true, 0, -1, 1.5, 2 ** 53, [], {}, [[]], [null]),
  fc.array(oddText, { maxLength: 5 }),
  fc.dictionary(oddText, oddText, { maxKeys: 4 }),
);

function toJson(value: unknown): string {
  if (value instanceof RawJson) return value.text;
  if (Array.isArray(value)) return `[${value.map(toJson).join(',')}]`;
  if (value === null || typeof value !== 'object') return JSON.stringify(value) ?? 'null';
  return `{${Object.entries(value)
    .filter(([, item]) => item !== undefined)
    .map(([name, item]) => `${JSON.stringify(name)}:${toJson(item)}`)
    .join(',')}}`;
}

/** A path in an example: names and indexes. */
type Place = readonly string[];

function placesIn(value: unknown, place: Place): Place[] {
  if (value === null || typeof value !== 'object') return [place];
  return [place, ...Object.entries(value).flatMap(([name, item]) => placesIn(item, [...place, name]))];
}

function withChange(value: unknown, [name, ...rest]: Place, change: unknown): unknown {
  if (name === undefined) return change;
  const inner = value as Record<string, unknown>;
  const changed = { ...inner, [name]: withChange(inner[name], rest, change) };
  return Array.isArray(value) ? Object.values(changed) : changed;
}

function mutated(example: object): fc.Arbitrary<string> {
  // A field first, then a path in it: otherwise one large field would get nearly all changes.
  const place = fc
    .constantFrom(...Object.entries(example))
    .chain(([name, value]) => fc.oneof(fc.constant([name]), fc.constantFrom(...placesIn(value, [name]))));
  const value = fc.oneof(oddText, oddJson);
  return fc.tuple(fc.nat(9), place, value, oddText).map(([how, where, odd, extra]) => {
    if (how === 0) return toJson(example);
    if (how === 1) return toJson(withChange(example, where, undefined));
    if (how === 2) return toJson(withChange(example, [...where.slice(0, -1), extra], odd));
    return toJson(withChange(example, where, odd));
  });
}

const brokenText = fc.constantFrom(
  ...['', '{', '[1,', '"\\u"', 'nul', '\ufeff{}', '{}{}', '// {}', '{"a":01}', "{'a':1}", '{"a":1,}', '\0', '<xml/>'],
  'x'.repeat(70_000),
);

const anyBody = fc.oneof(oddJson.map(toJson), brokenText);

export const bodiesLike = (example: object): fc.Arbitrary<string> =>
  fc.oneof({ weight: 2, arbitrary: mutated(example) }, { weight: 1, arbitrary: anyBody });

function bodyOf(endpoint: Endpoint, { body }: Example): fc.Arbitrary<string | undefined> {
  if (!endpoint.body) return fc.option(anyBody, { nil: undefined });
  // Also fields that the example leaves out.
  const { properties = {} } = endpoint.body as { properties?: object };
  const leftOut = Object.fromEntries(Object.keys(properties).map((name) => [name, undefined]));
  return bodiesLike({ ...leftOut, ...(body as object) });
}

/** `encodeURIComponent` refuses half a surrogate pair. */
const encoded = oddText.map((text) => encodeURIComponent(text.toWellFormed()));
const oddSegment = fc.oneof(
  encoded,
  fc.constantFrom(
    '%00',
    '%ff',
    '%',
    '%zz',
    '%C3%28',
    '%u0041',
    '..',
    '%2e%2e',
    '.',
    '%2F',
    '%252F',
    '%5C',
    '',
    ';',
    '*',
  ),
  fc.constantFrom(
    'x'.repeat(1_024),
    'x'.repeat(1_025),
    'x'.repeat(6_000),
    '%F0%9F%98%80'.repeat(128),
    'usage',
    'claim',
  ),
);

function pathOf(endpoint: Endpoint, { params = {} }: Example): fc.Arbitrary<string> {
  const segments = endpoint.path.split('/').map((segment) => {
    const name = /^\{(\w+)\}$/.exec(segment)?.[1];
    return name === undefined ? fc.constant(segment) : fc.oneof(fc.constant(params[name] ?? 'x'), oddSegment);
  });
  return fc.tuple(...segments).map((deps) => deps.join('/'));
}

const oddValue = fc.oneof(
  encoded,
  fc.constantFrom('%', '%ff', '%00', '+', '1', '100', '-0', '0.0000001', '1e-7', '=', '&'),
);

function queryOf(endpoint: Endpoint, { query }: Example): fc.Arbitrary<string> {
  const { properties = {} } = (endpoint.query ?? {}) as { properties?: object };
  const known = new URLSearchParams(query);
  const name = fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom(...Object.keys(properties), 'page') },
    {
      weight: 1,
      arbitrary: fc.constantFrom('__proto__', 'constructor', '', 'a[b]', 'a[]', '%00', '%ff', 'x'.repeat(3_000)),
    },
  );
  const pair = fc.tuple(name, oddValue).map(([key, value]) => `${key}=${value}`);
  // Half keep the required parameters, so that the odd ones are reached.
  return fc.tuple(fc.boolean(), fc.array(pair, { maxLength: 4 })).map(([keep, pairs]) => {
    const all = keep ? [...pairs, ...(known.size > 0 ? [known.toString()] : [])] : pairs;
    return all.length > 0 ? `?${all.join('&')}` : '';
  });
}

const headerNames = [
  'x-request-id',
  'content-type',
  'content-encoding',
  'accept',
  'origin',
  'cookie',
  'x-forwarded-for',
];
const headerValues = ['', ' ', 'a', 'é', 'a\tb', '"{}"', 'gzip', 'text/plain', 'application/json;', '*/*', '1.2.3.4'];
const idempotencyKeys = ['a', 'b', '', 'é', 'a\tb', 'x'.repeat(255), 'x'.repeat(256)];

const oddHeaders = fc
  .tuple(
    fc.option(fc.constantFrom(...idempotencyKeys)),
    fc.dictionary(fc.constantFrom(...headerNames), fc.constantFrom(...headerValues), { maxKeys: 3 }),
  )
  .map(([key, headers]) => ({ ...headers, ...(key !== null && { 'idempotency-key': key }) }));

/** Malformed requests to an endpoint. `base` is the path of the interface. */
export function requestsTo(
  endpoint: Endpoint,
  example: Example,
  base: string,
  keys: Record<string, string>,
): fc.Arbitrary<RawRequest> {
  const headers = fc.oneof(fc.constant({}), fc.constant({}), oddHeaders);
  return fc
    .tuple(pathOf(endpoint, example), queryOf(endpoint, example), bodyOf(endpoint, example), headers, fc.boolean())
    .map(([path, query, body, odd, chunked]) => ({
      method: endpoint.method,
      path: base + path + query,
      headers: {
        'content-type': 'application/json',
        ...keys,
        ...odd,
        ...(body !== undefined && sizeOf(body, chunked)),
      },
      ...(body !== undefined && { body }),
    }));
}

const sizeOf = (body: string, chunked: boolean): Record<string, string> =>
  chunked ? { 'transfer-encoding': 'chunked' } : { 'content-length': String(Buffer.byteLength(body)) };
