import { describe, expect, it } from 'vitest';
import { readPage } from '../../testing/reference-page.ts';
import type { Schema } from './document.ts';
import { fieldTable, parameterTable } from './sections.ts';

const rowsOf = (markup: string) =>
  readPage(markup)
    .filter(({ name }) => name === 'tr')
    .slice(1)
    .map(({ text }) => text);

const object = (properties: Record<string, Schema>, required: string[] = []): Schema => ({
  type: 'object',
  properties,
  required,
});

describe('a table of fields', () => {
  it('shows objects inside objects and lists under their whole path', () => {
    const schema = object(
      {
        signature: { anyOf: [object({ r: { type: 'string' } }, ['r']), { type: 'array', items: { type: 'string' } }] },
        recipients: { type: 'array', items: object({ email: { type: 'string', format: 'email' } }) },
      },
      ['signature'],
    );
    expect(rowsOf(fieldTable('Body', schema, 'required').text)).toEqual([
      'signaturerequiredobject or array of string',
      'signature.rrequiredstring',
      'recipientsarray of object',
      'recipients[].emailstring (email)',
    ]);
  });

  it('marks in an answer only what may be missing', () => {
    const schema = object({ id: { type: 'string' }, note: { type: 'string' } }, ['id']);
    expect(rowsOf(fieldTable('Fields', schema, 'optional').text)).toEqual(['idstring', 'noteoptionalstring']);
  });

  it('shows null, enum values, limits and defaults', () => {
    const schema = object({
      expiresAt: { anyOf: [{ type: 'string', format: 'date-time', description: 'When it ends' }, { type: 'null' }] },
      token: { type: 'string', enum: ['USDC'], default: 'USDC' },
      type: { type: 'string', enum: ['A', 'B'] },
      amount: { type: 'number', exclusiveMinimum: 0, maximum: 10_000 },
      code: { type: 'string', pattern: '^<a>$', maxLength: 9 },
      calls: { type: 'array', items: { $ref: '#/components/schemas/Call' }, minItems: 1, maxItems: 64 },
    });
    expect(rowsOf(fieldTable('Body', schema, 'required').text)).toEqual([
      'expiresAtstring (date-time) or nullWhen it ends',
      'tokenstringOnly USDC · Default "USDC"',
      'typestringOne of A, B',
      'amountnumberAbove 0 · At most 10,000',
      'codestringMatches ^<a>$',
      'callsarray of Call1 to 64 items',
    ]);
  });

  it('ends where an object contains itself', () => {
    const properties: Record<string, Schema> = { id: { type: 'string' } };
    properties.self = { type: 'object', properties };
    expect(rowsOf(fieldTable('Body', { type: 'object', properties }, 'required').text)).toHaveLength(8);
  });

  it('shows where a parameter belongs', () => {
    const table = parameterTable('Parameters', [
      { name: 'id', in: 'path', required: true, schema: { type: 'string' }, description: 'See `x`' },
      { name: 'page', in: 'query', schema: { type: 'integer', minimum: 1, default: 1 } },
    ]);
    expect(rowsOf(table.text)).toEqual(['idpath, requiredstringSee x', 'pagequeryintegerAt least 1 · Default 1']);
  });
});
