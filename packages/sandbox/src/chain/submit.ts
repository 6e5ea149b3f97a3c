import { toHex } from '@svc/starknet';
import { sql } from '@svc/store';
import { executeTransaction } from '../execution/execute.ts';
import type { ExecutionOptions, Refused, Transaction } from '../execution/types.ts';
import { validate } from '../execution/validate.ts';
import type { Draft } from './draft.ts';
import { findOrder, useOrder } from './faults.ts';
import { dequeue, enqueue, MAX_NONCE_GAP } from './mempool.ts';
import type { ReadTransaction } from './read-transaction.ts';

/** What became of a transaction. Only the first two are acknowledged to the sender. */
export type Submitted =
  | { readonly outcome: 'INCLUDED' | 'QUEUED' }
  | { readonly outcome: 'DUPLICATE' | 'UNDERPRICED' | 'FULL' }
  | { readonly outcome: 'REFUSED'; readonly refusal: Refused };

/** Executes a transaction into the block that is being made, or lets it wait where its account is not there yet. */
export async function submit(draft: Draft, sent: ReadTransaction): Promise<Submitted> {
  const { tx, definition } = sent;
  if (tx.type !== 'DEPLOY_ACCOUNT' && tx.nonce > (await draft.overlay.nonceAt(tx.sender))) {
    const refusal = await validate(draft.overlay, draft.context(), tx, { maxNonceGap: MAX_NONCE_GAP });
    return refusal ? { outcome: 'REFUSED', refusal } : { outcome: await enqueue(draft, tx, definition) };
  }
  const refusal = await includeOrRevert(draft, sent);
  if (!refusal) {
    await includeFollowers(draft, tx);
    return { outcome: 'INCLUDED' };
  }
  // A transaction sent again meets the nonce that it used itself.
  return (await isKnown(draft, tx.hash)) ? { outcome: 'DUPLICATE' } : { outcome: 'REFUSED', refusal };
}

/** Executes a transaction and takes it into the open block, unless it is refused. */
export async function include(
  draft: Draft,
  { tx, definition }: ReadTransaction,
  options: ExecutionOptions = {},
): Promise<Refused | undefined> {
  const result = await executeTransaction(draft.overlay, draft.context(), tx, options);
  if ('refused' in result) return result;
  draft.include(tx, result, definition);
  return undefined;
}

/** As `include`, obeying an order to revert; a transaction that is refused leaves the order to the next one. */
async function includeOrRevert(draft: Draft, sent: ReadTransaction): Promise<Refused | undefined> {
  const order = draft.head.orders ? await findOrder(draft.tx, 'revert', methodFor[sent.tx.type]) : undefined;
  const refusal = await include(draft, sent, order ? { forceRevert: order.reason ?? 'Reverted by order' } : {});
  if (order && !refusal) await useOrder(draft.tx, order.id);
  draft.settle();
  return refusal;
}

/** Transactions of the same account that waited for this one; one that is refused now is forgotten, as on a live node. */
async function includeFollowers(draft: Draft, first: Transaction): Promise<void> {
  const sender = first.type === 'DEPLOY_ACCOUNT' ? first.address : first.sender;
  for (let nonce = first.nonce + 1n; nonce <= first.nonce + MAX_NONCE_GAP; nonce++) {
    const next = await dequeue(draft, sender, nonce);
    if (!next || (await includeOrRevert(draft, next))) return;
  }
}

const methodFor = {
  INVOKE: 'starknet_addInvokeTransaction',
  DEPLOY_ACCOUNT: 'starknet_addDeployAccountTransaction',
  DECLARE: 'starknet_addDeclareTransaction',
} as const;

async function isKnown(draft: Draft, hash: bigint): Promise<boolean> {
  const text = toHex(hash);
  if (draft.transactions.some((row) => row.hash === text)) return true;
  return (await draft.tx.one(sql`select from sandbox.transactions where hash = ${text}`)) !== undefined;
}
