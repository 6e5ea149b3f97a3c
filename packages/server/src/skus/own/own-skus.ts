import { ApiError, type BodyOf, endpoints, type OfferedSku, type Sku } from '@svc/protocol';
import type { Db } from '@svc/store';
import { type Actor, recordChange } from '../../audit/record-change.ts';
import { type SkuRow, toSku } from '../service.ts';
import { problemOfOwnSku } from './problem.ts';
import * as store from './store.ts';

/** Far more than people choose from. Whoever sells more runs a deployment with a catalogue file of its own. */
const MAX_OWN_SKUS = 500;

type Creation = BodyOf<typeof endpoints.createOwnSku>;
type Changes = BodyOf<typeof endpoints.updateOwnSku>;

/** What an organisation decides of a service of its own. */
type Field = Exclude<keyof Changes, 'isOffered'>;
const fields = Object.keys(endpoints.updateOwnSku.body.properties).filter((name) => name !== 'isOffered') as Field[];

export async function createOwnSku(tx: Db, actor: Actor, body: Creation): Promise<OfferedSku> {
  const { isOffered = true } = body;
  const sku = withChanges({ id: body.id }, body);
  refuseUnsellable(sku);
  if ((await store.lockCount(tx, actor)) >= MAX_OWN_SKUS) throw new ApiError('sku_limit_reached');
  const isTaken = (await store.findSharedSku(tx, sku.id)) !== undefined;
  if (isTaken || !(await store.insertOwnSku(tx, actor, sku))) throw new ApiError('sku_id_taken');
  // The id may have been that of a service of the deployment, hidden and meanwhile gone.
  await store.setOffered(tx, actor, sku.id, isOffered);
  const { id, ...described } = sku;
  await recordChange(tx, actor, { action: 'sku.created', target: id, changes: { ...described, isOffered } });
  return show(tx, actor, await store.lockOwnSku(tx, actor, sku.id), true);
}

/** Changes concern later purchases only: a purchase keeps what it was made with. */
export async function updateOwnSku(tx: Db, actor: Actor, id: string, body: Changes): Promise<OfferedSku> {
  const own = await store.lockOwnSku(tx, actor, id);
  // What the deployment has under this id by now is what is offered.
  if (!own || (await store.findSharedSku(tx, id))) return updateSharedSku(tx, actor, id, body);
  const before = toSku(own);
  const names = fields.filter((name) => body[name] !== undefined && body[name] !== (before[name] ?? null));
  if (names.length > 0) {
    const after = withChanges(before, body);
    refuseUnsellable(after);
    await store.updateOwnSku(tx, actor, after);
  }
  const changes = Object.fromEntries(names.map((name) => [name, body[name]]));
  await offerOrNot(tx, actor, id, body.isOffered, changes);
  return show(tx, actor, await store.lockOwnSku(tx, actor, id), true);
}

async function updateSharedSku(tx: Db, actor: Actor, id: string, body: Changes): Promise<OfferedSku> {
  const row = await store.findSharedSku(tx, id);
  if (!row) throw new ApiError('sku_not_found');
  const foreign = fields.find((name) => body[name] !== undefined);
  if (foreign) {
    const message = `body.${foreign} cannot be changed: of the deployment's services isOffered is yours alone.`;
    throw new ApiError('invalid_request', message);
  }
  await offerOrNot(tx, actor, id, body.isOffered, {});
  return show(tx, actor, row, false);
}

/** Removes an own service. Where the deployment has one with the same id by now, that comes to light, hidden if this one was. */
export async function deleteOwnSku(tx: Db, actor: Actor, id: string): Promise<void> {
  if (!(await store.deleteOwnSku(tx, actor, id))) throw new ApiError('sku_not_found');
  if (!(await store.findSharedSku(tx, id))) await store.setOffered(tx, actor, id, true);
  await recordChange(tx, actor, { action: 'sku.deleted', target: id, changes: {} });
}

async function offerOrNot(
  tx: Db,
  actor: Actor,
  id: string,
  isOffered: boolean | undefined,
  others: Readonly<Record<string, unknown>>,
): Promise<void> {
  const isChange = isOffered !== undefined && (await store.setOffered(tx, actor, id, isOffered));
  const changes = { ...others, ...(isChange && { isOffered }) };
  if (Object.keys(changes).length > 0) await recordChange(tx, actor, { action: 'sku.updated', target: id, changes });
}

/** The fields as they are then; null takes one away. What the interface does not know is left out. */
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
  return { ...toSku(row), isOwn, isOffered: !(await store.isHidden(tx, actor, row.id)) };
}
