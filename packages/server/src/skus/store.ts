import type { Catalogue, Currency, SkuCategory } from '@svc/protocol';
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

const columns = sql`id, provider_id, name, description, category, reference_pattern, reference_label, amount_pattern,
  amount_label, fixed_amount, currency, can_check_reference, logo_url, created_at, updated_at`;

export function findSku(reads: Reads, id: string): Promise<SkuRow | undefined> {
  return reads.one(sql`select ${columns} from skus where id = ${id} and retired_at is null`);
}

export interface SkuFilter {
  readonly category: SkuCategory | undefined;
  readonly provider: string | undefined;
  readonly limit: number;
  readonly offset: number;
}

export async function listSkus(db: Db, filter: SkuFilter): Promise<{ rows: SkuRow[]; total: number }> {
  const category = filter.category === undefined ? sql`` : sql`and category = ${filter.category}`;
  const provider = filter.provider === undefined ? sql`` : sql`and provider_id = ${filter.provider}`;
  const matching = sql`from skus where retired_at is null ${category} ${provider}`;
  const [rows, count] = await Promise.all([
    db.rows<SkuRow>(
      sql`select ${columns} ${matching} order by position, id limit ${filter.limit} offset ${filter.offset}`,
    ),
    db.one<{ total: bigint }>(sql`select count(*) as total ${matching}`),
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
