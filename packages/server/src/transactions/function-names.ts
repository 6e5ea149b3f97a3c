import { toHex } from '@svc/starknet';
import { type Db, type Reads, sql } from '@svc/store';
import { wellKnownName } from './well-known-functions.ts';

/** What an organisation's applications call in a day, many times over: room for all of it, none for a flood of made-up names. */
const MAX_NAMES = 1_000;
/** A name must last from the preparation of a call to its execution, an hour at most. */
const KEPT = sql`interval '1 day'`;
/** A name that is in use is written again only so often. */
const RENEWED_AFTER = sql`interval '1 hour'`;

interface NamedFunction {
  readonly selector: bigint;
  readonly name: string | undefined;
}

/** Remembers what the functions are called, because what is signed and executed has their selectors alone. */
export async function rememberNames(db: Db, organizationId: string, named: readonly NamedFunction[]): Promise<void> {
  const names = new Map(
    named.flatMap(({ selector, name }) =>
      name === undefined || wellKnownName(selector) !== undefined ? [] : [[toHex(selector), name] as const],
    ),
  );
  if (names.size === 0) return;
  // In one order, so that two callers with the same functions do not wait for each other in a circle.
  await db.run(sql`
    insert into function_names as known (organization_id, selector, name)
    select ${organizationId}, selector, name
      from unnest(${[...names.keys()]}::text[], ${[...names.values()]}::text[]) as given (selector, name)
     where (select count(*) from function_names where organization_id = ${organizationId}) < ${MAX_NAMES}
     order by selector
    on conflict (organization_id, selector) do update set used_at = now()
     where known.used_at < now() - ${RENEWED_AFTER}`);
}

/** The names of these functions, as far as they are known. */
export async function namesOf(
  reads: Reads,
  organizationId: string,
  selectors: Iterable<bigint>,
): Promise<ReadonlyMap<bigint, string>> {
  const names = new Map<bigint, string>();
  const unknown: string[] = [];
  for (const selector of new Set(selectors)) {
    const name = wellKnownName(selector);
    if (name === undefined) unknown.push(toHex(selector));
    else names.set(selector, name);
  }
  if (unknown.length === 0) return names;
  const rows = await reads.rows<{ selector: string; name: string }>(sql`
    select selector, name from function_names
     where organization_id = ${organizationId} and selector = any(${unknown}::text[])`);
  for (const { selector, name } of rows) names.set(BigInt(selector), name);
  return names;
}

export async function forgetUnusedNames(db: Db): Promise<void> {
  await db.run(sql`delete from function_names where used_at < now() - ${KEPT}`);
}
