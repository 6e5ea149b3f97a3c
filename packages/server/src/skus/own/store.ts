import type { Sku } from '@svc/protocol';
import { type Db, sql } from '@svc/store';
import { columns, type Owner, type SkuRow } from '../store.ts';

/** Answers whether it was stored: an id that the environment has already is left alone. */
export async function insertOwnSku(tx: Db, { organizationId, environment }: Owner, sku: Sku): Promise<boolean> {
  const stored = await tx.run(sql`
    insert into own_skus (organization_id, environment, id, provider_id, name, description, category, reference_pattern,
      reference_label, amount_pattern, amount_label, fixed_amount, currency, can_check_reference, logo_url)
    values (${organizationId}, ${environment}, ${sku.id}, ${sku.providerId}, ${sku.name}, ${sku.description ?? null},
      ${sku.category}, ${sku.referenceRegexValidation}, ${sku.referenceLabel}, ${sku.amountRegexValidation},
      ${sku.amountLabel}, ${sku.fixedAmount ?? null}, ${sku.currency}, ${sku.canCheckSkuReference}, ${sku.logoUrl ?? null})
    on conflict do nothing`);
  return stored === 1;
}

export async function updateOwnSku(tx: Db, { organizationId, environment }: Owner, sku: Sku): Promise<void> {
  await tx.run(sql`
    update own_skus set provider_id = ${sku.providerId}, name = ${sku.name}, description = ${sku.description ?? null},
      category = ${sku.category}, reference_pattern = ${sku.referenceRegexValidation},
      reference_label = ${sku.referenceLabel}, amount_pattern = ${sku.amountRegexValidation},
      amount_label = ${sku.amountLabel}, fixed_amount = ${sku.fixedAmount ?? null}, currency = ${sku.currency},
      can_check_reference = ${sku.canCheckSkuReference}, logo_url = ${sku.logoUrl ?? null}, updated_at = now()
    where organization_id = ${organizationId} and environment = ${environment} and id = ${sku.id}`);
}

/** An own service; until the transaction ends nobody else changes it. */
export function lockOwnSku(tx: Db, { organizationId, environment }: Owner, id: string): Promise<SkuRow | undefined> {
  return tx.one(sql`
    select ${columns} from own_skus
    where organization_id = ${organizationId} and environment = ${environment} and id = ${id} for update`);
}

export async function deleteOwnSku(tx: Db, { organizationId, environment }: Owner, id: string): Promise<boolean> {
  const deleted = await tx.run(sql`
    delete from own_skus where organization_id = ${organizationId} and environment = ${environment} and id = ${id}`);
  return deleted === 1;
}

/** How many there are. The environment is locked, so that two that are made at once are counted one after the other. */
export async function lockCount(tx: Db, { organizationId, environment }: Owner): Promise<number> {
  await tx.run(sql`
    select from environments
    where organization_id = ${organizationId} and environment = ${environment} for no key update`);
  const count = await tx.one<{ total: bigint }>(sql`
    select count(*) as total from own_skus where organization_id = ${organizationId} and environment = ${environment}`);
  return Number(count?.total ?? 0n);
}

/** A service of the deployment. */
export function findSharedSku(db: Db, id: string): Promise<SkuRow | undefined> {
  return db.one(sql`select ${columns} from skus where id = ${id} and retired_at is null`);
}

export async function isHidden(db: Db, { organizationId, environment }: Owner, id: string): Promise<boolean> {
  const found = await db.rows(sql`
    select from hidden_skus
    where organization_id = ${organizationId} and environment = ${environment} and sku_id = ${id}`);
  return found.length > 0;
}

/** Answers whether it was otherwise before. */
export async function setOffered(
  tx: Db,
  { organizationId, environment }: Owner,
  id: string,
  isOffered: boolean,
): Promise<boolean> {
  const change = isOffered
    ? sql`delete from hidden_skus
        where organization_id = ${organizationId} and environment = ${environment} and sku_id = ${id}`
    : sql`insert into hidden_skus (organization_id, environment, sku_id)
        values (${organizationId}, ${environment}, ${id}) on conflict do nothing`;
  return (await tx.run(change)) === 1;
}
