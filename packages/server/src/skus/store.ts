import type { Catalogue, Currency, Environment, SkuCategory } from '@svc/protocol';
import { type Db, type Reads, sql } from '@svc/store';

export interface SkuRow {
  readonly id: string;
  readonly provider_id: string;
  readonly name: string;
  readonly description: string | null;
  readonly category: SkuCategory;
  readonly reference_pattern: string;
  readonly reference_label: string;
  readonly amount_pattern: string;
  readonly amount_label: string;
  readonly fixed_amount: string | null;
  readonly currency: Currency;
  readonly can_check_reference: boolean;
  readonly logo_url: string | null;
  readonly created_at: Date;
  readonly updated_at: Date;
}

export const columns = sql`id, provider_id, name, description, category, reference_pattern, reference_label, amount_pattern,
  amount_label, fixed_amount, currency, can_check_reference, logo_url, created_at, updated_at`;

/** The environment of an organisation in which services are offered. */
export interface Owner {
  readonly organizationId: string;
  readonly environment: Environment;
}

export interface OfferedSkuRow extends SkuRow {
  readonly is_own: boolean;
}

/**
 * One service that the environment offers: the deployment's, or else its own, so that nobody sells under a name of the deployment's at a
 * price of their own. Each part is one look into a primary key.
 */
export function findOfferedSku(
  reads: Reads,
  { organizationId, environment }: Owner,
  id: string,
): Promise<OfferedSkuRow | undefined> {
  return reads.one(sql`
    select ${columns}, is_own from (
      select false as is_own, ${columns} from skus where id = ${id} and retired_at is null
      union all
      select true as is_own, ${columns} from own_skus
      where organization_id = ${organizationId} and environment = ${environment} and id = ${id}
    ) found
    where not exists (
      select from hidden_skus h
      where h.organization_id = ${organizationId} and h.environment = ${environment} and h.sku_id = ${id})
    order by is_own limit 1`);
}

export interface SkuFilter {
  readonly category?: SkuCategory | undefined;
  readonly provider?: string | undefined;
  /** Whether services that are not offered are listed too. */
  readonly withHidden?: boolean;
  readonly limit: number;
  readonly offset: number;
}

export interface ListedSkuRow extends OfferedSkuRow {
  readonly is_offered: boolean;
}

/** The deployment's services in the catalogue's order, then the environment's own as they were made. */
export async function listSkus(
  db: Db,
  { organizationId, environment }: Owner,
  filter: SkuFilter,
): Promise<{ rows: ListedSkuRow[]; total: number }> {
  const here = sql`organization_id = ${organizationId} and environment = ${environment}`;
  const isOffered = sql`not exists (select from hidden_skus where ${here} and sku_id = s.id)`;
  const offered = filter.withHidden ? sql`` : sql`and ${isOffered}`;
  const category = filter.category === undefined ? sql`` : sql`and category = ${filter.category}`;
  const provider = filter.provider === undefined ? sql`` : sql`and provider_id = ${filter.provider}`;
  const shared = sql`from skus s where retired_at is null ${category} ${provider} ${offered}`;
  const own = sql`from own_skus s where ${here} ${category} ${provider} ${offered}
    and not exists (select from skus d where d.id = s.id and d.retired_at is null)`;
  const [rows, count] = await Promise.all([
    db.rows<ListedSkuRow>(sql`
      select ${columns}, is_own, is_offered from (
        (select ${columns}, false as is_own, position, ${isOffered} as is_offered ${shared}
         order by position, id limit ${filter.offset + filter.limit})
        union all
        select ${columns}, true as is_own, 0 as position, ${isOffered} as is_offered ${own}
      ) listed
      order by is_own, position, created_at, id limit ${filter.limit} offset ${filter.offset}`),
    db.one<{ total: bigint }>(sql`select (select count(*) ${shared}) + (select count(*) ${own}) as total`),
  ]);
  return { rows, total: Number(count?.total ?? 0n) };
}

/** Answers whether the catalogue differed from what was stored. Replicas that start together take turns on the one row. */
export async function replaceCatalogue(tx: Db, skus: Catalogue['skus'], checksum: string): Promise<boolean> {
  const changed = await tx.run(sql`
    insert into sku_catalogue as c (checksum) values (${checksum})
    on conflict (only_one) do update set checksum = excluded.checksum, loaded_at = now()
    where c.checksum <> excluded.checksum`);
  if (changed === 0) return false;
  await tx.run(sql`
    insert into skus as s (id, provider_id, name, description, category, reference_pattern, reference_label,
      amount_pattern, amount_label, fixed_amount, currency, can_check_reference, logo_url, position)
    select item->>'id', item->>'providerId', item->>'name', item->>'description', item->>'category',
      item->>'referenceRegexValidation', item->>'referenceLabel', item->>'amountRegexValidation', item->>'amountLabel',
      (item->>'fixedAmount')::numeric, item->>'currency', (item->>'canCheckSkuReference')::boolean, item->>'logoUrl',
      place::integer
    from jsonb_array_elements(${JSON.stringify(skus)}::jsonb) with ordinality as list (item, place)
    on conflict (id) do update set
      provider_id = excluded.provider_id, name = excluded.name, description = excluded.description,
      category = excluded.category, reference_pattern = excluded.reference_pattern,
      reference_label = excluded.reference_label, amount_pattern = excluded.amount_pattern,
      amount_label = excluded.amount_label, fixed_amount = excluded.fixed_amount, currency = excluded.currency,
      can_check_reference = excluded.can_check_reference, logo_url = excluded.logo_url, position = excluded.position,
      retired_at = null, updated_at = now()`);
  const ids = skus.map((sku) => sku.id);
  await tx.run(sql`update skus set retired_at = now() where retired_at is null and not id = any(${ids}::text[])`);
  return true;
}
