import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import {
  ApiError,
  Catalogue,
  type Currency,
  type Environment,
  type OfferedSku,
  PATTERN_LENGTH,
  REFERENCE_LENGTH,
  type Sku,
  type SkuCategory,
} from '@svc/protocol';
import { type Db, type Reads, sql } from '@svc/store';
import { RE2JS } from 're2js';
import { findFault } from '../http/validation.ts';

export async function getSku(reads: Reads, owner: Owner, id: string): Promise<Sku> {
  return toSku(await findOfferedSku(reads, owner, id));
}

/** A hidden or retired service is not found. */
export async function findOfferedSku(reads: Reads, owner: Owner, id: string): Promise<OfferedSkuRow> {
  const row = await selectOfferedSku(reads, owner, id);
  if (!row) throw new ApiError('sku_not_found');
  return row;
}

export async function listSkus(db: Reads, owner: Owner, filter: SkuFilter): Promise<{ skus: Sku[]; total: number }> {
  const { rows, total } = await selectSkus(db, owner, filter);
  return { skus: rows.map(toSku), total };
}

export async function listOfferedSkus(
  db: Reads,
  owner: Owner,
  page: { readonly limit: number; readonly offset: number },
): Promise<{ skus: OfferedSku[]; total: number }> {
  const { rows, total } = await selectSkus(db, owner, { ...page, withHidden: true });
  return { skus: rows.map((row) => ({ ...toSku(row), isOwn: row.is_own, isOffered: row.is_offered })), total };
}

type ReferenceCheck = { valid: true } | { valid: false; reason: string };

export async function checkReference(
  reads: Reads,
  owner: Owner,
  id: string,
  reference: string,
): Promise<ReferenceCheck> {
  const sku = await findOfferedSku(reads, owner, id);
  if (!sku.can_check_reference) throw new ApiError('reference_check_unavailable');
  if (matchesPattern(sku.reference_pattern, reference)) return { valid: true };
  return { valid: false, reason: `The reference does not have the expected form: ${sku.reference_label}` };
}

export function toSku(row: SkuRow): Sku {
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

export interface Owner {
  readonly organizationId: string;
  readonly environment: Environment;
}

export interface OfferedSkuRow extends SkuRow {
  readonly is_own: boolean;
}

/** The catalogue's service before the environment's own, so that no one resells a catalogue id at another price. Primary key reads only. */
function selectOfferedSku(
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
  readonly withHidden?: boolean;
  readonly limit: number;
  readonly offset: number;
}

interface ListedSkuRow extends OfferedSkuRow {
  readonly is_offered: boolean;
}

async function selectSkus(
  db: Reads,
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

/** True when it changed. Replicas that start together are serialised by the one row. */
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

/** A match takes some milliseconds at this size; a hundred times that would block the thread. */
const MAX_PROGRAM_SIZE = 2_000;
/** About 100 MB of compiled patterns. */
const MAX_CACHED_SIZE = 250_000;
const compiled = new Map<string, RE2JS>();
let cachedSize = 0;

function compilePattern(pattern: string): RE2JS {
  const known = compiled.get(pattern);
  if (known) return known;
  if (pattern.length > PATTERN_LENGTH) throw new Error(`the pattern has more than ${PATTERN_LENGTH} characters`);
  const fresh = RE2JS.compile(pattern);
  const size = fresh.programSize();
  if (size > MAX_PROGRAM_SIZE) throw new Error('the pattern repeats too much');
  if (cachedSize + size > MAX_CACHED_SIZE) {
    compiled.clear();
    cachedSize = 0;
  }
  compiled.set(pattern, fresh);
  cachedSize += size;
  return fresh;
}

/** Linear in the input. */
export function matchesPattern(pattern: string, input: string): boolean {
  return input.length <= REFERENCE_LENGTH && compilePattern(pattern).matcher(input).find();
}

type Checked = Pick<Sku, 'referenceRegexValidation' | 'amountRegexValidation' | 'fixedAmount'>;

export function problemOfSku(sku: Checked): string | undefined {
  for (const field of ['referenceRegexValidation', 'amountRegexValidation'] as const) {
    try {
      compilePattern(sku[field]);
    } catch (error) {
      return `${field}: ${error instanceof Error ? error.message : 'not a pattern'}`;
    }
  }
  if (sku.fixedAmount !== undefined && !matchesPattern(sku.amountRegexValidation, String(sku.fixedAmount))) {
    return 'fixedAmount does not match amountRegexValidation';
  }
  return undefined;
}

/** 10,000 services are about 8 MB. */
const MAX_FILE_BYTES = 32 * 1024 * 1024;

export class CatalogueError extends Error {
  override readonly name = 'CatalogueError';
}

export async function loadCatalogue(db: Db, file: string): Promise<{ count: number; changed: boolean }> {
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    throw new CatalogueError(`The SKU catalogue ${file} cannot be read.`, { cause: error });
  });
  const catalogue = parseCatalogue(text, file);
  const checksum = createHash('sha256').update(text).digest('hex');
  const changed = await db.tx((tx) => replaceCatalogue(tx, catalogue.skus, checksum));
  return { count: catalogue.skus.length, changed };
}

export function parseCatalogue(text: string, file: string): Catalogue {
  const refuse = (problem: string) => new CatalogueError(`The SKU catalogue ${file} is not usable: ${problem}.`);
  if (text.length > MAX_FILE_BYTES) throw refuse(`it is larger than ${MAX_FILE_BYTES} bytes`);
  let catalogue: Catalogue;
  try {
    catalogue = JSON.parse(text) as Catalogue;
  } catch {
    throw refuse('it is not valid JSON');
  }
  const fault = findFault('body', Catalogue, catalogue);
  if (fault) throw refuse(fault.replace(/^body\.?/, ''));
  const seen = new Set<string>();
  for (const sku of catalogue.skus) {
    if (seen.has(sku.id)) throw refuse(`the id ${sku.id} is used twice`);
    seen.add(sku.id);
    const problem = findProblem(sku);
    if (problem) throw refuse(`${sku.id}: ${problem}`);
  }
  return catalogue;
}

function findProblem(sku: Catalogue['skus'][number]): string | undefined {
  const problem = problemOfSku(sku);
  if (problem || !sku.example) return problem;
  if (!matchesPattern(sku.referenceRegexValidation, sku.example.reference)) return 'example.reference does not match';
  if (!matchesPattern(sku.amountRegexValidation, sku.example.amount)) return 'example.amount does not match';
  return undefined;
}
