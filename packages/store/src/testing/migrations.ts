import type { Db } from '../database.ts';
import { type MigrationSet, readMigrations } from '../migrate.ts';
import { sql } from '../sql.ts';

export function everyPrefix(set: MigrationSet): number[] {
  return readMigrations(set).map((_, index) => index);
}

export async function schemaOf(db: Db): Promise<string[]> {
  const rows = await db.rows<{ line: string }>(sql`
    with own as (select oid from pg_namespace where nspname not like 'pg\\_%' and nspname <> 'information_schema')
    select line from (
      select format('column %s.%s %s%s %s', a.attrelid::regclass, a.attname, format_type(a.atttypid, a.atttypmod),
               case when a.attnotnull then ' not null' else '' end, pg_get_expr(d.adbin, d.adrelid)) as line
        from pg_attribute a
        join pg_class c on c.oid = a.attrelid and c.relkind in ('r', 'p', 'v', 'm')
        left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
       where c.relnamespace in (select oid from own) and a.attnum > 0 and not a.attisdropped
      union all
      select format('constraint %s %s %s', conrelid::regclass, conname, pg_get_constraintdef(oid))
        from pg_constraint where connamespace in (select oid from own)
      union all
      select format('index %s', pg_get_indexdef(i.indexrelid))
        from pg_index i join pg_class c on c.oid = i.indexrelid where c.relnamespace in (select oid from own)
      union all
      select format('trigger %s', pg_get_triggerdef(oid)) from pg_trigger where not tgisinternal
      union all
      select format('function %s', pg_get_functiondef(oid))
        from pg_proc where pronamespace in (select oid from own) and prokind in ('f', 'p')
    ) as lines order by line`);
  return rows.map((row) => row.line);
}
