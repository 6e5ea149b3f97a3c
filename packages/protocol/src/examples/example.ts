import { sampleValues } from './sample-values.ts';

const REFERENCE = '#/components/schemas/';

export type Schemas = Readonly<Record<string, Schema>>;

export interface Schema {
  readonly $ref?: string;
  readonly type?: string;
  readonly title?: string;
  readonly description?: string;
  readonly properties?: Schemas;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly enum?: readonly string[];
  readonly const?: unknown;
  readonly default?: unknown;
  readonly examples?: readonly unknown[];
  readonly format?: string;
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
}

export const referredName = (schema: Schema): string | undefined =>
  schema.$ref?.startsWith(REFERENCE) ? schema.$ref.slice(REFERENCE.length) : undefined;

/** Deeper than any schema; ends recursive ones. */
const MAX_DEPTH = 8;
const MOMENT = '2026-11-02T18:20:11.000Z';

/** The schema's own example, or one built from sample values without optional fields. `names` are looked up in order. */
export function exampleOf(schema: Schema, schemas: Schemas, names: readonly string[] = [], depth = 0): unknown {
  if (depth > MAX_DEPTH) return null;
  const referred = referredName(schema);
  if (referred !== undefined) {
    return exampleOf(schemas[referred] ?? {}, schemas, [...names, referred], depth + 1);
  }
  if (schema.examples && schema.examples.length > 0) return schema.examples[0];
  const sample = names.flatMap((name) => sampleValues[name] ?? []).find((value) => fits(schema, value));
  if (sample !== undefined) return sample;
  if (schema.const !== undefined) return schema.const;
  if (schema.default !== undefined) return schema.default;
  if (schema.enum) return schema.enum[0];
  if (schema.anyOf?.[0]) return exampleOf(schema.anyOf[0], schemas, names, depth + 1);
  return exampleOfType(schema, schemas, depth);
}

function exampleOfType(schema: Schema, schemas: Schemas, depth: number): unknown {
  switch (schema.type) {
    case 'object':
      return Object.fromEntries(
        (schema.required ?? []).map((name) => [
          name,
          exampleOf(schema.properties?.[name] ?? {}, schemas, [`${schema.title ?? ''}.${name}`, name], depth + 1),
        ]),
      );
    case 'array':
      return [exampleOf(schema.items ?? {}, schemas, [], depth + 1)];
    case 'string':
      return schema.format === 'date-time' ? MOMENT : 'text';
    case 'integer':
    case 'number':
      return Math.max(schema.minimum ?? 1, 1);
    case 'boolean':
      return true;
    default:
      return null;
  }
}

function fits(schema: Schema, value: unknown): boolean {
  if (schema.anyOf) return schema.anyOf.some((alternative) => fits(alternative, value));
  if (schema.enum) return schema.enum.some((word) => word === value);
  if (Array.isArray(value)) return schema.type === 'array';
  if (value === null) return schema.type === 'null';
  if (typeof value === 'number') return schema.type === 'number' || schema.type === 'integer';
  return schema.type === typeof value;
}
