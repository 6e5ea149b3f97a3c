import { describe, expect, it } from 'vitest';
import { Sql, sql } from './sql.ts';

describe('the sql tag', () => {
  it('turns every value into a parameter and never into text', () => {
    const query = sql`select id from gift where code = ${"'; drop table gift; --"} and amount > ${5n}`;
    expect(query.text).toBe('select id from gift where code = $1 and amount > $2');
    expect(query.values).toEqual(["'; drop table gift; --", 5n]);
  });

  it('splices one piece into another and counts the parameters through', () => {
    const active = sql`is_active = ${true}`;
    const both = sql`${active} and kind = ${'SINGLE'}`;
    const query = sql`select ${1} from gift where (${both}) or (${active}) limit ${10}`;
    expect(query.text).toBe('select $1 from gift where (is_active = $2 and kind = $3) or (is_active = $4) limit $5');
    expect(query.values).toEqual([1, true, 'SINGLE', true, 10]);
  });

  it('splices a piece without values, first, last or alone', () => {
    const column = sql`created_at`;
    expect(sql`${column}`.text).toBe('created_at');
    expect(sql`${column} < ${1} or ${column}`.text).toBe('created_at < $1 or created_at');
    expect(sql`${sql``}${2}${sql``}`.text).toBe('$1');
  });

  it('puts one template together with other pieces, or values in their place, each time anew', () => {
    const [id, name] = [sql`id`, sql`name = ${'Ana'}`];
    const find = (first: unknown, second: unknown) => sql`select ${first} where ${second} limit ${1}`;
    for (const _ of ['first', 'again']) {
      expect(find(id, name)).toMatchObject({ text: 'select id where name = $1 limit $2', values: ['Ana', 1] });
      expect(find(name, id)).toMatchObject({ text: 'select name = $1 where id limit $2', values: ['Ana', 1] });
      expect(find(id, 7)).toMatchObject({ text: 'select id where $1 limit $2', values: [7, 1] });
      expect(find(id, [7])).toMatchObject({ text: 'select id where $1 limit $2', values: [[7], 1] });
    }
  });

  it('leaves a dollar sign in spliced text alone', () => {
    const label = sql`'costs $1'`;
    expect(sql`select ${7} as price, ${label} as label`.text).toBe(`select $1 as price, 'costs $1' as label`);
  });

  it('does not take an object that looks like a piece of SQL for one', () => {
    const forged = { text: 'true or true', values: [], name: 'x', strings: ['true or true'] };
    const query = sql`select 1 where ${forged}`;
    expect(query.text).toBe('select 1 where $1');
    expect(query.values).toEqual([forged]);
  });

  it('gives the same text the same name, and another text another', () => {
    const ask = (id: number) => sql`select ${id}::int`;
    expect(ask(1).name).toBe(ask(2).name);
    expect(ask(1).name).toMatch(/^svc_[0-9a-f]{32}$/);
    expect(ask(1).name).toBe(sql`select ${sql`${5}::int`}`.name);
    expect(ask(1).name).not.toBe(sql`select ${1}::bigint`.name);
  });

  it('gives an unnamed statement its text and values, and uses up no name', () => {
    const query = sql`select ${3}::numeric`;
    expect(query.unnamed).toMatchObject({ text: 'select $1::numeric', values: [3], name: undefined });
    expect(query.name).toMatch(/^svc_/);
  });

  it('stops naming texts beyond its bound, so that a server never keeps an unlimited number', () => {
    const early = sql`select 'early'`;
    const name = early.name;
    const named = new Set<string>();
    let filler = sql`1`;
    for (let count = 0; count < 2_000; count++) {
      filler = sql`${filler},1`;
      const { name: given } = sql`select ${filler}`;
      if (given) named.add(given);
    }
    expect(named.size).toBeGreaterThan(0);
    expect(named.size).toBeLessThan(1_000);
    expect(sql`select ${filler}`.name).toBeUndefined();
    expect(sql`select 'early'`.name).toBe(name);
  });

  it('makes instances of Sql', () => {
    expect(sql`select 1`).toBeInstanceOf(Sql);
  });
});
