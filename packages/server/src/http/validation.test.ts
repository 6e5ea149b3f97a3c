import { Type } from 'typebox';
import { describe, expect, it } from 'vitest';
import { findFault, findIgnoredFields, readQuery } from './validation.ts';

const schema = Type.Object({
  amount: Type.Number({ maximum: 10 }),
  chain: Type.Optional(Type.String({ enum: ['A', 'B'] })),
  list: Type.Optional(Type.Array(Type.Object({ email: Type.String({ format: 'email' }) }))),
  free: Type.Optional(Type.Unknown()),
  signature: Type.Optional(
    Type.Union([Type.Object({ r: Type.String() }), Type.Array(Type.String(), { minItems: 2, maxItems: 4 })]),
  ),
});

describe('a fault in the input', () => {
  it.each([
    [undefined, 'body must be object'],
    [null, 'body must be object'],
    [[], 'body must be object'],
    [{}, 'body.amount is required'],
    [{ amount: '1' }, 'body.amount must be number'],
    [{ amount: 11 }, 'body.amount must be <= 10'],
    [{ amount: Number.POSITIVE_INFINITY }, 'body.amount must be number'],
    [{ amount: 1, chain: 'C' }, 'body.chain must be one of A, B'],
    [{ amount: 1, list: [{ email: 'a@b.mx' }, { email: 'x' }] }, 'body.list[1].email must match format "email"'],
    [{ amount: 1, signature: ['r'] }, 'body.signature must NOT have fewer than 2 items'],
    [{ amount: 1, signature: [] }, 'body.signature must NOT have fewer than 2 items'],
    [{ amount: 1, signature: ['1', '2', '3', '4', '5'] }, 'body.signature must NOT have more than 4 items'],
    [{ amount: 1, signature: ['1', 2] }, 'body.signature[1] must be string'],
    [{ amount: 1, signature: { r: 1 } }, 'body.signature.r must be string'],
    [{ amount: 1, signature: {} }, 'body.signature.r is required'],
    [{ amount: 1, signature: 'r' }, 'body.signature must be object or array'],
    [{ amount: 1, free: 'a\0b' }, 'body.free contains a character that is not valid text'],
    [{ amount: 1, free: { 'a\0': 1 } }, 'body.free has a name that is not valid text'],
    [{ amount: 1, free: ['\ud800'] }, 'body.free[0] contains a character that is not valid text'],
  ])('in %j is named by its field: %s', (value, fault) => {
    expect(findFault('body', schema, value)).toBe(fault);
  });

  it('does not hide others: all are named, the first one first', () => {
    const value = { chain: 'C', list: [{ email: 'x' }, {}], signature: 'r' };
    expect(findFault('body', schema, value)?.split('; ')).toEqual([
      'body.amount is required',
      'body.chain must be one of A, B',
      'body.list[0].email must match format "email"',
      'body.list[1].email is required',
      'body.signature must be object or array',
    ]);
  });

  it('is one of at most ten that are named', () => {
    const list = Array.from({ length: 15 }, () => ({}));
    const faults = findFault('body', schema, { amount: 1, list })?.split('; ') ?? [];
    expect([faults.length, faults[9], faults[10]]).toEqual([11, 'body.list[9].email is required', 'and 5 more']);
  });

  it('is the only one that is named in a body of very many values', () => {
    const list = Array.from({ length: 10_000 }, () => ({}));
    expect(findFault('body', schema, { amount: 1, list })).toBe('body.list[0].email is required');
  });

  it('is found before a deep nest is walked to its end', () => {
    let nest: unknown = 1;
    for (let i = 0; i < 10_000; i++) nest = [nest];
    expect(findFault('body', schema, { amount: 1, free: nest })).toMatch(/nested more than 32 levels/);
  });

  it('is not found in valid input with unknown fields', () => {
    expect(findFault('body', schema, { amount: 1, unknown: true })).toBeUndefined();
  });
});

describe('ignored fields', () => {
  it('are named with their place', () => {
    const body = {
      amount: 1,
      colour: 'blue',
      list: [
        { email: 'a@b.mx', age: 3 },
        { age: 4, size: 1 },
      ],
      free: { any: 1 },
    };
    expect(findIgnoredFields(schema, body)).toEqual(['colour', 'list[].age', 'list[].size']);
  });

  it.each([[{ amount: 1, chain: 'A' }], [undefined], [null], ['text'], [[1]]])('are none in %j', (body) => {
    expect(findIgnoredFields(schema, body)).toEqual([]);
  });

  it('are all of a body that the endpoint does not read', () => {
    expect(findIgnoredFields(undefined, { some: 1, other: 2 })).toEqual(['some', 'other']);
  });

  it('are named only where they look like names, and at most twenty', () => {
    expect(findIgnoredFields(schema, { 'a b': 1, é: 1, 'x\r\ny': 1, ['n'.repeat(65)]: 1, fine: 1 })).toEqual(['fine']);
    const many = Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`field${index}`, 1]));
    expect(findIgnoredFields(schema, many)).toHaveLength(20);
  });
});

describe('a query', () => {
  const query = Type.Object({
    page: Type.Optional(Type.Integer({ minimum: 1, default: 1 })),
    amount: Type.Optional(Type.Number()),
    active: Type.Optional(Type.Boolean()),
    name: Type.Optional(Type.String()),
  });

  it('is read by the types of its schema, and unknown names are left out', () => {
    const values = readQuery(query, { page: '2', amount: '1.5', active: 'false', name: '3', other: 'x' });
    expect(values).toEqual({ page: 2, amount: 1.5, active: false, name: '3' });
  });

  it.each(['1e3', ' 1', '1 ', '', '0x10', '1.0', 'NaN', 'Infinity', '9'.repeat(16), ['1', '2'], '１'])(
    'refuses %j for a whole number',
    (page) => {
      expect(findFault('query', query, readQuery(query, { page }))).toMatch(/^query\.page must be integer/);
    },
  );

  it('fills in defaults', () => {
    const values = readQuery(query, {});
    expect(findFault('query', query, values)).toBeUndefined();
    expect(values).toEqual({ page: 1 });
  });
});
