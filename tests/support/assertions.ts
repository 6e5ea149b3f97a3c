import { catalogue, type Endpoint, type ErrorCode } from '@svc/protocol';
import { Ajv, type ValidateFunction } from 'ajv';
import addFormatsModule from 'ajv-formats';
import type { TSchema } from 'typebox';
import { expect } from 'vitest';
import type { Reply } from './client.ts';
import type { Receipt } from './starknet-client.ts';

const ajv = new Ajv({ allErrors: true });
addFormatsModule.default(ajv, ['date-time', 'email']);
const compiled = new WeakMap<TSchema, ValidateFunction>();
const JSON_TYPE = 'application/json; charset=utf-8';

/** A declared success whose body has every field of its schema and no other. */
export function expectAnswer(reply: Reply, endpoint: Endpoint): void {
  const schema = endpoint.answers[reply.status];
  if (!schema) throw new Error(`${endpoint.operationId} answered ${reply.status}: ${reply.text}`);
  const validate = compiled.get(schema) ?? ajv.compile(closed(structuredClone(schema)) as object);
  compiled.set(schema, validate);
  validate(endpoint.stream ? reply.text : reply.body);
  expect(validate.errors ?? [], `${endpoint.operationId}: ${reply.text}`).toEqual([]);
  expect(reply.headers.get('content-type')).toBe(endpoint.stream ? 'text/event-stream; charset=utf-8' : JSON_TYPE);
}

export function expectError(reply: Reply, status: number, code: ErrorCode): void {
  expect({ status: reply.status, fault: faultOfError(reply), body: reply.body }).toMatchObject({
    status,
    fault: undefined,
    body: { error: code },
  });
}

/** Why a reply is not an Error body; undefined where it is. */
export function faultOfError(reply: Pick<Reply, 'body' | 'headers'>): string | undefined {
  const { body } = reply;
  if (body === null || typeof body !== 'object') return 'the body is not a JSON object';
  if (Object.keys(body).sort().join() !== 'error,message') return `the body has the fields ${Object.keys(body)}`;
  const { error, message } = body as Record<string, unknown>;
  if (typeof error !== 'string' || !(error in catalogue)) return `the code ${error} is not in the catalogue`;
  if (typeof message !== 'string' || message === '') return 'there is no message';
  const type = reply.headers.get('content-type');
  return type === JSON_TYPE ? undefined : `the content type is ${type}`;
}

function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed);
  if (schema === null || typeof schema !== 'object') return schema;
  const inner = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, closed(value)]));
  return 'properties' in inner ? { ...inner, additionalProperties: false } : inner;
}

interface RpcFailure {
  readonly baseError: { readonly code: number; readonly data?: unknown };
  isType(type: string): boolean;
}

export async function failure(attempt: Promise<unknown>, type: string): Promise<RpcFailure['baseError']> {
  const error = await attempt.then(
    (answer) =>
      expect.fail(
        `should fail, but answered ${JSON.stringify(answer, (_, v) => (typeof v === 'bigint' ? String(v) : v))}`,
      ),
    (reason: unknown) => reason as RpcFailure,
  );
  expect(error, String(error)).toHaveProperty('baseError');
  expect(error.isType(type), String(error)).toBe(true);
  return error.baseError;
}

export function expectSucceeded(receipt: Receipt): void {
  expect(receipt.revert_reason ?? receipt.execution_status).toBe('SUCCEEDED');
}

/** A node writes a panic as its felt and its text. */
export function expectReverted({ execution_status, revert_reason }: Receipt, reason: string): void {
  expect(execution_status).toBe('REVERTED');
  expect(revert_reason).toContain(`('${reason}')`);
}
