import { ApiError, parseMoment, parseStarknetAddress, type StarknetAddress } from '@svc/protocol';
import { ADDRESS_BOUND, parseFelt } from '@svc/starknet';
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import addFormatsModule from 'ajv-formats';
import type { TSchema } from 'typebox';

/** Bounds recursion over the body. */
const MAX_DEPTH = 32;

const addFormats = addFormatsModule.default;
const ajv = new Ajv({ allErrors: false, useDefaults: true, coerceTypes: false, strict: true });
addFormats(ajv, ['date-time', 'email']);
const compiled = new WeakMap<TSchema, ValidateFunction>();

export type Part = 'path' | 'query' | 'body';

export function findFault(part: Part, schema: TSchema, value: unknown): string | undefined {
  const invalidText = findInvalidText(value, part, 0);
  if (invalidText) return invalidText;
  const validate = compiled.get(schema) ?? ajv.compile(schema);
  compiled.set(schema, validate);
  return validate(value) ? undefined : describe(part, faultIn(validate.errors ?? []));
}

/** PostgreSQL stores neither NUL characters nor lone surrogates. */
function findInvalidText(value: unknown, at: string, depth: number): string | undefined {
  if (typeof value === 'string') {
    return value.includes('\0') || !value.isWellFormed()
      ? `${at} contains a character that is not valid text`
      : undefined;
  }
  if (value === null || typeof value !== 'object') return undefined;
  if (depth >= MAX_DEPTH) return `${at} is nested more than ${MAX_DEPTH} levels deep`;
  for (const [key, item] of Object.entries(value)) {
    if (key.includes('\0') || !key.isWellFormed()) return `${at} has a name that is not valid text`;
    const invalidText = findInvalidText(item, Array.isArray(value) ? `${at}[${key}]` : `${at}.${key}`, depth + 1);
    if (invalidText) return invalidText;
  }
  return undefined;
}

/** The first error. Of a union: the error of the member with the value's type, else one error that names all types. */
function faultIn(errors: readonly ErrorObject[]): ErrorObject | undefined {
  const union = errors.find(({ keyword }) => keyword === 'anyOf');
  if (!union) return errors[0];
  const ofMembers = errors.filter(({ schemaPath }) => schemaPath.startsWith(`${union.schemaPath}/`));
  const isOtherMember = ({ keyword, instancePath }: ErrorObject) =>
    keyword === 'type' && instancePath === union.instancePath;
  const chosen = ofMembers.find((error) => !isOtherMember(error));
  if (chosen || ofMembers.length === 0) return chosen ?? errors[0];
  return { ...union, message: `must be ${ofMembers.map(({ params }) => params.type).join(' or ')}` };
}

function describe(part: Part, error: ErrorObject | undefined): string {
  if (!error) return `${part} is not valid`;
  const field = part + error.instancePath.replace(/\/(\d+)(?=\/|$)/g, '[$1]').replace(/\//g, '.');
  if (error.keyword === 'required') return `${field}.${error.params.missingProperty} is required`;
  if (error.keyword === 'enum') return `${field} must be one of ${error.params.allowedValues.join(', ')}`;
  return `${field} ${error.message}`;
}

/** Numbers and booleans from plain text only: `1e3`, ` 1` and `0x10` stay text, and the schema refuses them. */
export function readQuery(schema: TSchema, query: Record<string, unknown>): Record<string, unknown> {
  const { properties = {} } = schema as { properties?: Record<string, { type?: string }> };
  const values: Record<string, unknown> = {};
  for (const [name, { type }] of Object.entries(properties)) {
    const text = query[name];
    if (text !== undefined) values[name] = typeof text === 'string' ? readText(type, text) : text;
  }
  return values;
}

function readText(type: string | undefined, text: string): unknown {
  if (type === 'integer' && /^-?\d{1,15}$/.test(text)) return Number(text);
  if (type === 'number' && /^-?\d{1,15}(\.\d{1,6})?$/.test(text)) return Number(text);
  if (type === 'boolean' && (text === 'true' || text === 'false')) return text === 'true';
  return text;
}

export function readFelt(text: string, field: string): bigint {
  const felt = parseFelt(text);
  return felt.ok ? felt.value : refuse(field, felt.reason);
}

export function readClassHash(text: string, field: string): bigint {
  const hash = readFelt(text, field);
  return hash > 0n && hash < ADDRESS_BOUND ? hash : refuse(field, 'must be the hash of a class');
}

export function readAddress(text: string, field: string): StarknetAddress {
  const address = parseStarknetAddress(text);
  return address.ok ? address.value : refuse(field, address.reason);
}

export interface TimeRange {
  readonly createdAfter?: string;
  readonly createdBefore?: string;
}

export function readTimeRange({ createdAfter, createdBefore }: TimeRange): { from?: Date; before?: Date } {
  const from = createdAfter === undefined ? undefined : readMoment(createdAfter, 'query.createdAfter');
  const before = createdBefore === undefined ? undefined : readMoment(createdBefore, 'query.createdBefore');
  return { ...(from && { from }), ...(before && { before }) };
}

export function readMoment(text: string, field: string): Date {
  const moment = parseMoment(text);
  return moment.ok ? moment.value : refuse(field, moment.reason);
}

export function refuse(field: string, reason: string): never {
  throw new ApiError('invalid_request', `${field} ${reason}.`);
}
