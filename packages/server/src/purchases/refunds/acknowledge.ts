import { ApiError, type endpoints } from '@svc/protocol';
import { toHex } from '@svc/starknet';
import type { Db } from '@svc/store';
import { recordChange } from '../../audit/record-change.ts';
import type { Answer, Call } from '../../http/call.ts';
import { findRelayByHash } from '../../relayer/find-relay.ts';
import { executesForOthers } from '../../relayer/relay.ts';
import { awaitExecuted } from '../../transactions/await-executed.ts';
import { parseStarknetHash } from '../../transactions/hashes.ts';
import { toTransaction } from '../../transactions/to-transaction.ts';
import { refuse } from '../../wallets/fields.ts';
import { ownPurchase } from '../fulfilment/own-purchase.ts';
import { lockPurchase, type Purchase } from '../fulfilment/purchase.ts';
import { requireGivenBack } from './given-back.ts';
import type { RefundParts } from './parts.ts';
import { changeRefund, useTransfer } from './store.ts';

type RefundSkuPurchase = typeof endpoints.refundSkuPurchase;

/** Verifies a transfer that the organisation made itself, and counts it as the refund. A transfer is the refund of one purchase. */
export async function acknowledgeTransfer(
  parts: RefundParts,
  { caller, transact }: Call<RefundSkuPurchase>,
  purchase: Purchase,
  transactionHash: string,
): Promise<Answer<RefundSkuPurchase>> {
  const { id, environment } = purchase.record;
  const parsed = parseStarknetHash(transactionHash);
  const hash = parsed.ok ? parsed.value : refuse('body.transactionHash', parsed.reason);
  if (isRefundedBy(purchase, hash)) return toTransaction(purchase.record);
  requireDue(purchase);
  const { chainId } = parts.networks.starknet(environment).chain;
  await refuseOwnPayments(parts, chainId, hash);
  const seen = await awaitExecuted(parts, environment, { chain: 'STARKNET', hash: toHex(hash), accepted: true });
  requireGivenBack(purchase, seen);
  return transact(async (tx) => {
    const locked = await lockPurchase(tx, id);
    if (!locked || !isRefundedBy(locked, hash)) await store(tx, locked, { chainId, hash, caller });
    return toTransaction((await ownPurchase(tx, caller, id)).record);
  });
}

interface Given extends Pick<Call<RefundSkuPurchase>, 'caller'> {
  readonly chainId: bigint;
  readonly hash: bigint;
}

async function store(tx: Db, purchase: Purchase | undefined, { chainId, hash, caller }: Given): Promise<void> {
  const { id, organizationId, environment } = requireDue(purchase).record;
  const isNew = await useTransfer(tx, { chainId, hash, organizationId, environment, purchaseId: id });
  if (!isNew) throw new ApiError('transaction_already_used');
  await changeRefund(tx, id, 'REFUNDED', hash);
  const changes = { refundStatus: 'REFUNDED', refundTransactionHash: toHex(hash) };
  await recordChange(tx, caller, { action: 'sku-purchase.refunded', target: id, changes });
}

function requireDue(purchase: Purchase | undefined): Purchase {
  if (purchase?.refund.status === 'DUE') return purchase;
  const reason = purchase?.refund.status === 'REFUNDED' ? 'was given back already' : 'is on its way back already';
  throw new ApiError('purchase_not_refundable', `The payment of this purchase ${reason}.`);
}

const isRefundedBy = ({ refund }: Purchase, hash: bigint): boolean =>
  refund.status === 'REFUNDED' && refund.hash !== undefined && BigInt(refund.hash) === hash;

/** What the manager sends is a gift, a burn or the refund of another purchase, and is no second thing besides. */
async function refuseOwnPayments({ db }: RefundParts, chainId: bigint, hash: bigint): Promise<void> {
  const relay = await findRelayByHash(db.reads, chainId, hash);
  if (relay && !executesForOthers(relay.kind)) throw new ApiError('transaction_already_used');
}
