import { ApiError, type BodyOf, endpoints, MAX_CURRENCY_AMOUNT, type OfferedSku, type Sku } from '@svc/protocol';
import { type Db, sql } from '@svc/store';
import { type Actor, recordChange } from '../audit-log.ts';
import { columns, type Owner, problemOfSku, type SkuRow, toSku } from './skus.ts';

/** A larger offer belongs in the deployment's catalogue file. */
const MAX_OWN_SKUS = 500;

type Creation = BodyOf<typeof endpoints.createOwnSku>;
type Changes = BodyOf<typeof endpoints.updateOwnSku>;

type Field = Exclude<keyof Changes, 'isOffered'>;
const fields = Object.keys(endpoints.updateOwnSku.body.properties).filter((name) => name !== 'isOffered') as Field[];

export async function createOwnSku(tx: Db, actor: Actor, body: Creation): Promise<OfferedSku> {
  const { isOffered = true } = body;
  const sku = withChanges({ id: body.id }, body);
  refuseUnsellable(sku);
  if ((await lockCount(tx, actor)) >= MAX_OWN_SKUS) throw new ApiError('sku_limit_reached');
  const isTaken = (await findSharedSku(tx, sku.id)) !== undefined;
  if (isTaken || !(await insertOwnSku(tx, actor, sku))) throw new ApiError('sku_id_taken');
  // The id may have belonged to a hidden service of the catalogue.
  await setOffered(tx, actor, sku.id, isOffered);
  const { id, ...described } = sku;
  await recordChange(tx, actor, { action: 'sku.created', target: id, changes: { ...described, isOffered } });
  return show(tx, actor, await lockOwnSku(tx, actor, sku.id), true);
}

/** Later purchases only: a purchase keeps what it was made with. */
export async function updateOwnSku(tx: Db, actor: Actor, id: string, body: Changes): Promise<OfferedSku> {
  const own = await lockOwnSku(tx, actor, id);
  // The catalogue's service has precedence.
  if (!own || (await findSharedSku(tx, id))) return updateSharedSku(tx, actor, id, body);
  const before = toSku(own);
  const names = fields.filter((name) => body[name] !== undefined && body[name] !== (before[name] ?? null));
  if (names.length > 0) {
    const after = withChanges(before, body);
    refuseUnsellable(after);
    await saveOwnSku(tx, actor, after);
  }
  const changes = Object.fromEntries(names.map((name) => [name, body[name]]));
  await offerOrNot(tx, actor, id, body.isOffered, changes);
  return show(tx, actor, await lockOwnSku(tx, actor, id), true);
}

async function updateSharedSku(tx: Db, actor: Actor, id: string, body: Changes): Promise<OfferedSku> {
  const row = await findSharedSku(tx, id);
  if (!row) throw new ApiError('sku_not_found');
  const foreign = fields.find((name) => body[name] !== undefined);
  if (foreign) {
    const message = `body.${foreign} cannot be changed: of the deployment's services isOffered is yours alone.`;
    throw new ApiError('invalid_request', message);
  }
  await offerOrNot(tx, actor, id, body.isOffered, {});
  return show(tx, actor, row, false);
}

/** A catalogue service with the same id becomes visible again, hidden if this one was. */
export async function deleteOwnSku(tx: Db, actor: Actor, id: string): Promise<void> {
  if (!(await removeOwnSku(tx, actor, id))) throw new ApiError('sku_not_found');
  if (!(await findSharedSku(tx, id))) await setOffered(tx, actor, id, true);
  await recordChange(tx, actor, { action: 'sku.deleted', target: id, changes: {} });
}

async function offerOrNot(
  tx: Db,
  actor: Actor,
  id: string,
  isOffered: boolean | undefined,
  others: Readonly<Record<string, unknown>>,
): Promise<void> {
  const isChange = isOffered !== undefined && (await setOffered(tx, actor, id, isOffered));
  const changes = { ...others, ...(isChange && { isOffered }) };
  if (Object.keys(changes).length > 0) await recordChange(tx, actor, { action: 'sku.updated', target: id, changes });
}

/** null removes a field. Unknown fields are dropped. */
function withChanges(before: Partial<Sku> & Pick<Sku, 'id'>, changes: Changes): Sku {
  const entries = fields.map((name) => [name, changes[name] === undefined ? before[name] : changes[name]]);
  const present = entries.filter(([, value]) => value !== undefined && value !== null);
  return { id: before.id, ...Object.fromEntries(present) } as Sku;
}

function refuseUnsellable(sku: Sku): void {
  const problem = problemOfOwnSku(sku);
  if (problem) throw new ApiError('invalid_sku', `${problem}.`);
}

async function show(tx: Db, actor: Actor, row: SkuRow | undefined, isOwn: boolean): Promise<OfferedSku> {
  if (!row) throw new ApiError('sku_not_found');
  return { ...toSku(row), isOwn, isOffered: !(await isHidden(tx, actor, row.id)) };
}

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

export async function saveOwnSku(tx: Db, { organizationId, environment }: Owner, sku: Sku): Promise<void> {
  await tx.run(sql`
    update own_skus set provider_id = ${sku.providerId}, name = ${sku.name}, description = ${sku.description ?? null},
      category = ${sku.category}, reference_pattern = ${sku.referenceRegexValidation},
      reference_label = ${sku.referenceLabel}, amount_pattern = ${sku.amountRegexValidation},
      amount_label = ${sku.amountLabel}, fixed_amount = ${sku.fixedAmount ?? null}, currency = ${sku.currency},
      can_check_reference = ${sku.canCheckSkuReference}, logo_url = ${sku.logoUrl ?? null}, updated_at = now()
    where organization_id = ${organizationId} and environment = ${environment} and id = ${sku.id}`);
}

export function lockOwnSku(tx: Db, { organizationId, environment }: Owner, id: string): Promise<SkuRow | undefined> {
  return tx.one(sql`
    select ${columns} from own_skus
    where organization_id = ${organizationId} and environment = ${environment} and id = ${id} for update`);
}

export async function removeOwnSku(tx: Db, { organizationId, environment }: Owner, id: string): Promise<boolean> {
  const deleted = await tx.run(sql`
    delete from own_skus where organization_id = ${organizationId} and environment = ${environment} and id = ${id}`);
  return deleted === 1;
}

/** Locks the environment, so that concurrent creations are counted. */
export async function lockCount(tx: Db, { organizationId, environment }: Owner): Promise<number> {
  await tx.run(sql`
    select from environments
    where organization_id = ${organizationId} and environment = ${environment} for no key update`);
  const count = await tx.one<{ total: bigint }>(sql`
    select count(*) as total from own_skus where organization_id = ${organizationId} and environment = ${environment}`);
  return Number(count?.total ?? 0n);
}

export function findSharedSku(db: Db, id: string): Promise<SkuRow | undefined> {
  return db.one(sql`select ${columns} from skus where id = ${id} and retired_at is null`);
}

export async function isHidden(db: Db, { organizationId, environment }: Owner, id: string): Promise<boolean> {
  const found = await db.rows(sql`
    select from hidden_skus
    where organization_id = ${organizationId} and environment = ${environment} and sku_id = ${id}`);
  return found.length > 0;
}

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

const TWO_DECIMALS = /^\d+(\.\d{1,2})?$/;

export function problemOfOwnSku(sku: Sku): string | undefined {
  return problemOfAmount(sku.fixedAmount) ?? problemOfSku(sku) ?? problemOfLogo(sku.logoUrl);
}

function problemOfAmount(amount: number | undefined): string | undefined {
  if (amount === undefined) return undefined;
  if (amount > MAX_CURRENCY_AMOUNT) return `fixedAmount is more than ${MAX_CURRENCY_AMOUNT}`;
  return TWO_DECIMALS.test(String(amount)) ? undefined : 'fixedAmount has more than two decimals';
}

/** Apps display it, so it must be an https image. */
function problemOfLogo(url: string | undefined): string | undefined {
  const isSecure = url === undefined || (URL.canParse(url) && new URL(url).protocol === 'https:');
  return isSecure ? undefined : 'logoUrl must be an address that starts with https://';
}
