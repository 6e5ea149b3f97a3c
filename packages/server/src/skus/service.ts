import { ApiError, type OfferedSku, type Sku } from '@svc/protocol';
import type { Db, Reads } from '@svc/store';
import { matchesPattern } from './pattern.ts';
import * as store from './store.ts';

export type { OfferedSkuRow, Owner, SkuRow } from './store.ts';

export async function getSku(reads: Reads, owner: store.Owner, id: string): Promise<Sku> {
  return toSku(await findOfferedSku(reads, owner, id));
}

/** A service that the environment offers. One that is hidden there or retired is as good as none. */
export async function findOfferedSku(reads: Reads, owner: store.Owner, id: string): Promise<store.OfferedSkuRow> {
  const row = await store.findOfferedSku(reads, owner, id);
  if (!row) throw new ApiError('sku_not_found');
  return row;
}

export async function listSkus(
  db: Db,
  owner: store.Owner,
  filter: store.SkuFilter,
): Promise<{ skus: Sku[]; total: number }> {
  const { rows, total } = await store.listSkus(db, owner, filter);
  return { skus: rows.map(toSku), total };
}

/** Everything that the environment offers or could offer. */
export async function listOfferedSkus(
  db: Db,
  owner: store.Owner,
  page: { readonly limit: number; readonly offset: number },
): Promise<{ skus: OfferedSku[]; total: number }> {
  const { rows, total } = await store.listSkus(db, owner, { ...page, withHidden: true });
  return { skus: rows.map((row) => ({ ...toSku(row), isOwn: row.is_own, isOffered: row.is_offered })), total };
}

export type ReferenceCheck = { valid: true } | { valid: false; reason: string };

/** Whether a reference has the form that the service expects, for services that offer the check. */
export async function checkReference(
  reads: Reads,
  owner: store.Owner,
  id: string,
  reference: string,
): Promise<ReferenceCheck> {
  const sku = await findOfferedSku(reads, owner, id);
  if (!sku.can_check_reference) throw new ApiError('reference_check_unavailable');
  if (matchesPattern(sku.reference_pattern, reference)) return { valid: true };
  return { valid: false, reason: `The reference does not have the expected form: ${sku.reference_label}` };
}

export function toSku(row: store.SkuRow): Sku {
  return {
    id: row.id,
    providerId: row.provider_id,
    name: row.name,
    ...(row.description !== null && { description: row.description }),
    category: row.category,
    referenceRegexValidation: row.reference_pattern,
    referenceLabel: row.reference_label,
    amountRegexValidation: row.amount_pattern,
    amountLabel: row.amount_label,
    ...(row.fixed_amount !== null && { fixedAmount: Number(row.fixed_amount) }),
    currency: row.currency,
    canCheckSkuReference: row.can_check_reference,
    ...(row.logo_url !== null && { logoUrl: row.logo_url }),
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
  };
}
