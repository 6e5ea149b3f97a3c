import type { Endpoint } from '@svc/protocol';
import { findFault } from './validation.ts';

type Bodied = Pick<Endpoint, 'method' | 'body'>;

/** None at all counts as an empty one where nothing is required; undefined where none is read. */
export function readBody({ body: schema }: Bodied, body: unknown): unknown {
  if (!schema) return undefined;
  const { required = [] } = schema as { required?: readonly string[] };
  return body === undefined && required.length === 0 ? {} : body;
}

/** What is wrong with the first bad field, or undefined. */
export function faultOfBody({ method, body: schema }: Bodied, body: unknown): string | undefined {
  if (!schema) return undefined;
  const { properties = {} } = schema as { properties?: object };
  const names = Object.keys(properties);
  // Unknown names are let pass, so a slip in the only name would look like a change that was made.
  const isEmpty = method === 'PATCH' && isObject(body) && !names.some((name) => Object.hasOwn(body, name));
  return isEmpty ? `body must have at least one of ${names.join(', ')}` : findFault('body', schema, body);
}

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
