import { ApiError, parseMoment, parseStarknetAddress, type StarknetAddress } from '@svc/protocol';
import { ADDRESS_BOUND, parseFelt } from '@svc/starknet';
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import addFormatsModule from 'ajv-formats';
import type { TSchema } from 'typebox';

/** Bounds recursion over the body. */
const MAX_DEPTH = 32;
const MAX_FAULTS = 10;
/** A larger body is told its first fault only: every value of it could be another one. */
const MAX_VALUES = 5_000;
const MAX_IGNORED_FIELDS = 20;

const addFormats = addFormatsModule.default;
const ajv = new Ajv({ allErrors: false, useDefaults: true, coerceTypes: false, strict: true });
addFormats(ajv, ['date-time', 'email']);
const thorough = new Ajv({ allErrors: true, coerceTypes: false, strict: true });
addFormats(thorough, ['date-time', 'email']);
const compiled = new WeakMap<TSchema, ValidateFunction>();
const compiledThorough = new WeakMap<TSchema, ValidateFunction>();

export type Part = 'path' | 'query' | 'body';

/** All faults in one text, the first one first. */
export function findFault(part: Part, schema: TSchema, value: unknown): string | undefined {
  const invalidText = findInvalidText(value, part, 0);
  if (invalidText) return invalidText;
  const validate = compiled.get(schema) ?? ajv.compile(schema);
  compiled.set(schema, validate);
  if (validate(value)) return undefined;
  const [first] = faultsIn(validate.errors ?? []);
  const faults = [describe(part, first), ...allFaults(part, schema, value)];
  return shorten([...new Set(faults)]);
}

function allFaults(part: Part, schema: TSchema, value: unknown): string[] {
  if (!hasAtMost(value, { left: MAX_VALUES })) return [];
  const validate = compiledThorough.get(schema) ?? thorough.compile(schema);
  compiledThorough.set(schema, validate);
  return validate(value) ? [] : faultsIn(validate.errors ?? []).map((fault) => describe(part, fault));
}

function shorten(faults: readonly string[]): string {
  const shown = faults.slice(0, MAX_FAULTS);
  if (faults.length > MAX_FAULTS) shown.push(`and ${faults.length - MAX_FAULTS} more`);
  return shown.join('; ');
}

function hasAtMost(value: unknown, budget: { left: number }): boolean {
  if (--budget.left < 0) return false;
  if (value === null || typeof value !== 'object') return true;
  return Object.values(value).every((item) => hasAtMost(item, budget));
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

/** One error for each union, in place of those of its members. */
function faultsIn(errors: readonly ErrorObject[]): ErrorObject[] {
  const unions = errors.filter(({ keyword }) => keyword === 'anyOf');
  const outer = errors.filter((error) => !unions.some((union) => isInside(union, error)));
  return outer.map((error) => (error.keyword === 'anyOf' ? faultOfUnion(error, errors) : error));
}

function isInside(union: ErrorObject, { schemaPath, instancePath }: ErrorObject): boolean {
  const { instancePath: place } = union;
  return (
    schemaPath.startsWith(`${union.schemaPath}/`) && (instancePath === place || instancePath.startsWith(`${place}/`))
  );
}

/** The error of the member with the value's type, else one error that names all types. */
function faultOfUnion(union: ErrorObject, errors: readonly ErrorObject[]): ErrorObject {
  const ofMembers = errors.filter((error) => isInside(union, error));
  const isOtherMember = ({ keyword, instancePath }: ErrorObject) =>
    keyword === 'type' && instancePath === union.instancePath;
  const chosen = ofMembers.find((error) => !isOtherMember(error));
  if (chosen || ofMembers.length === 0) return chosen ?? union;
  return { ...union, message: `must be ${ofMembers.map(({ params }) => params.type).join(' or ')}` };
}

function describe(part: Part, error: ErrorObject | undefined): string {
  if (!error) return `${part} is not valid`;
  const field = part + error.instancePath.replace(/\/(\d+)(?=\/|$)/g, '[$1]').replace(/\//g, '.');
  if (error.keyword === 'required') return `${field}.${error.params.missingProperty} is required`;
  if (error.keyword === 'enum') return `${field} must be one of ${error.params.allowedValues.join(', ')}`;
  return `${field} ${error.message}`;
}

/** Undefined: any field is known. */
type KnownFields = ReadonlyMap<string, KnownFields | undefined> | undefined;
const knownFields = new WeakMap<TSchema, { readonly fields: KnownFields }>();
const NO_FIELDS: KnownFields = new Map();
const FIELD_NAME = /^[\w-]{1,64}$/;

/** Fields of a body that its schema does not have, as `name`, `object.name` or `list[].name`. */
export function findIgnoredFields(schema: TSchema | undefined, body: unknown): readonly string[] {
  if (body === null || typeof body !== 'object') return [];
  const found = new Set<string>();
  collectIgnored(schema ? fieldsOf(schema) : NO_FIELDS, body, '', found);
  return [...found];
}

function fieldsOf(schema: TSchema): KnownFields {
  const known = knownFields.get(schema);
  if (known) return known.fields;
  const fields = readFields(schema as JsonSchema);
  knownFields.set(schema, { fields });
  return fields;
}

interface JsonSchema {
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly patternProperties?: object;
  readonly additionalProperties?: unknown;
  readonly items?: JsonSchema;
  readonly anyOf?: readonly JsonSchema[];
}

function readFields({ properties, patternProperties, additionalProperties, items, anyOf }: JsonSchema): KnownFields {
  if (items) return readFields(items);
  if (anyOf) {
    const members = anyOf.flatMap((member) => readFields(member) ?? []);
    return members.length === 1 ? members[0] : undefined;
  }
  if (!properties || patternProperties || additionalProperties || Object.keys(properties).length === 0)
    return undefined;
  return new Map(Object.entries(properties).map(([name, property]) => [name, readFields(property)]));
}

function collectIgnored(fields: KnownFields, value: object, at: string, found: Set<string>): void {
  if (fields === undefined) return;
  if (Array.isArray(value)) {
    for (const item of value) {
      if (found.size >= MAX_IGNORED_FIELDS) return;
      if (item !== null && typeof item === 'object' && !Array.isArray(item)) {
        collectIgnored(fields, item, at === '' ? '' : `${at.slice(0, -1)}[].`, found);
      }
    }
    return;
  }
  for (const name in value) {
    if (found.size >= MAX_IGNORED_FIELDS) return;
    const inner = fields.get(name);
    if (inner !== undefined) {
      const item = value[name as keyof typeof value] as unknown;
      if (item !== null && typeof item === 'object') collectIgnored(inner, item, `${at}${name}.`, found);
    } else if (!fields.has(name) && FIELD_NAME.test(name)) found.add(at + name);
  }
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
