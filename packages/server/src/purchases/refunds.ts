import { ApiError, type Environment, type endpoints, type RefundStatus, refundStatuses } from '@svc/protocol';
import { type Call as ContractCall, selector, toHex } from '@svc/starknet';
import { type Database, type Db, type Reads, sql } from '@svc/store';
import { recordChange } from '../audit-log.ts';
import type { Networks } from '../chains/networks.ts';
import type { Answer, Call, Caller } from '../http/call.ts';
import { refuse } from '../http/validation.ts';
import type { JobLog } from '../jobs/job.ts';
import type { PayAnswer, Payer } from '../relayer/payer.ts';
import { executesForOthers } from '../relayer/relay.ts';
import { findRelayByHash } from '../relayer/relay-store.ts';
import { awaitExecuted, type ChainTransaction, parseStarknetHash } from '../transactions/chain-transaction.ts';
import { toTransaction } from '../transactions/record.ts';
import { observePayment, type PaymentObservation, storePaid } from './confirm-payment.ts';
import { lockPurchase, ownPurchase, type Payment, type Purchase } from './purchase.ts';

type RefundSkuPurchase = typeof endpoints.refundSkuPurchase;

/** Gives a payment back, once: by a transaction of the manager's, or by one that the organisation made itself. */
export async function refundSkuPurchase(
  deps: RefundDeps,
  call: Call<RefundSkuPurchase>,
): Promise<Answer<RefundSkuPurchase>> {
  const { caller, params, body } = call;
  const purchase = await withLatePayment(deps, await ownPurchase(deps.db, caller, params.id));
  if (!purchase.refund.status) throw new ApiError('purchase_not_refundable');
  if (body.transactionHash !== undefined) return acknowledgeTransfer(deps, call, purchase, body.transactionHash);
  if (purchase.refund.status === 'DUE') {
    // Not being configured is no lack of an answer, and throws here.
    deps.networks.starknet(caller.environment);
    requirePaymentOnChain(await observePayment(deps.networks, purchase));
    await sendRefund(deps, caller, purchase);
  }
  return toTransaction((await ownPurchase(deps.db, caller, params.id)).record);
}

/** A payment that came after its purchase had ended is found when it is asked for. */
async function withLatePayment({ db, networks }: RefundDeps, purchase: Purchase): Promise<Purchase> {
  const { record, paidAt } = purchase;
  if (paidAt || (record.status !== 'FAILED' && record.status !== 'CANCELLED')) return purchase;
  const sight = await observePayment(networks, purchase);
  if (sight.state !== 'paid') return purchase;
  return db.tx(async (tx) => {
    await storePaid(tx, record.id, sight);
    return ownPurchase(tx, record, record.id);
  });
}

const WORD = 128n;

/** Rolls back what was to be stored: somebody else was faster, and what is stored says what became of it. */
class NotDueError extends Error {
  override readonly name = 'NotDueError';
}

/**
 * Has the manager send what was paid back to the payer. A refund is REFUNDING from the moment in which its transaction is stored; the
 * row says which one is next, so of several that begin at once one is stored, and the others find it.
 */
export async function sendRefund({ payer }: RefundDeps, caller: Caller, purchase: Purchase): Promise<void> {
  const { id, environment } = purchase.record;
  const number = purchase.refund.begun + 1;
  const purpose = `refund ${id} ${number}`;
  const order = { environment, kind: 'refund', purpose, calls: [transferBack(purchase.payment)] } as const;
  const answer = await payer
    .pay(order, (tx, relay) => begin(tx, caller, { id, number, relayId: relay.id }))
    .catch((error: unknown): PayAnswer | undefined => {
      if (error instanceof NotDueError) return undefined;
      if (error instanceof ApiError && error.code === 'fee_too_high') return { ok: false, reason: error.message };
      throw error;
    });
  if (!answer || answer.ok) return;
  throw new ApiError('refund_failed', undefined, { cause: new Error(`The refund of ${id}: ${answer.reason}`) });
}

function transferBack({ token, payer, amount }: Payment): ContractCall {
  const calldata = [payer, BigInt.asUintN(Number(WORD), amount), amount >> WORD];
  return { to: token, selector: selector('transfer'), calldata };
}

async function begin(
  tx: Db,
  caller: Caller,
  { id, number, relayId }: { readonly id: string; readonly number: number; readonly relayId: string },
): Promise<void> {
  const purchase = await lockPurchase(tx, id);
  if (purchase?.refund.status !== 'DUE' || purchase.refund.begun !== number - 1) throw new NotDueError();
  await changeRefund(tx, id, 'REFUNDING');
  await keepRefundRelay(tx, id, relayId);
  const changes = { refundStatus: 'REFUNDING' };
  await recordChange(tx, caller, { action: 'sku-purchase.refund-begun', target: id, changes });
}

type RefundEndpoint = typeof endpoints.refundSkuPurchase;

/** Verifies a transfer that the organisation made itself, and counts it as the refund. A transfer is the refund of one purchase. */
export async function acknowledgeTransfer(
  deps: RefundDeps,
  { caller, transact }: Call<RefundEndpoint>,
  purchase: Purchase,
  transactionHash: string,
): Promise<Answer<RefundEndpoint>> {
  const { id, environment } = purchase.record;
  const parsed = parseStarknetHash(transactionHash);
  const hash = parsed.ok ? parsed.value : refuse('body.transactionHash', parsed.reason);
  if (isRefundedBy(purchase, hash)) return toTransaction(purchase.record);
  requireDue(purchase);
  const { chainId } = deps.networks.starknet(environment).chain;
  await refuseOwnPayments(deps, chainId, hash);
  const seen = await awaitExecuted(deps, environment, { chain: 'STARKNET', hash: toHex(hash), accepted: true });
  requireRefundTransfer(purchase, seen);
  return transact(async (tx) => {
    const locked = await lockPurchase(tx, id);
    if (!locked || !isRefundedBy(locked, hash)) await store(tx, locked, { chainId, hash, caller });
    return toTransaction((await ownPurchase(tx, caller, id)).record);
  });
}

interface Given extends Pick<Call<RefundEndpoint>, 'caller'> {
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
async function refuseOwnPayments({ db }: RefundDeps, chainId: bigint, hash: bigint): Promise<void> {
  const relay = await findRelayByHash(db.reads, chainId, hash);
  if (relay && !executesForOthers(relay.kind)) throw new ApiError('transaction_already_used');
}

/** A `transaction_mismatch` unless the transaction left the payer with at least what was paid, after it was paid. */
export function requireRefundTransfer(
  { payment, blockTime }: Pick<Purchase, 'payment' | 'blockTime'>,
  { transfers, time }: Pick<ChainTransaction, 'transfers' | 'time'>,
): void {
  if (blockTime && time && time < blockTime) throw mismatch('it was made before the payment');
  const { token, payer, amount } = payment;
  const ofToken = transfers.filter((transfer) => transfer.token === token);
  // What the payer sends to itself, or on to somebody in the same transaction, was not given back.
  const got = sumOf(ofToken.filter(({ to }) => to === payer)) - sumOf(ofToken.filter(({ from }) => from === payer));
  if (got <= 0n) throw mismatch('it moves nothing of the token to the payer');
  if (got < amount) throw mismatch(`it gives ${got} of the ${amount} units back that were paid`);
}

const sumOf = (transfers: ChainTransaction['transfers']): bigint =>
  transfers.reduce((sum, { amount }) => sum + amount, 0n);

const mismatch = (found: string): ApiError =>
  new ApiError('transaction_mismatch', `The transaction is no refund of this purchase: ${found}.`);

/** What a reorganisation took back from us is not given back: the payer has it already. */
export function requirePaymentOnChain(sight: PaymentObservation): void {
  switch (sight.state) {
    case 'paid':
      return;
    case 'unanswered':
      throw new ApiError('chain_unavailable');
    case 'waiting':
      throw new ApiError('chain_unavailable', 'The payment waits for a block again. Try again once it stands in one.');
    case 'missing':
      throw new ApiError('purchase_not_refundable', 'The chain no longer knows the payment of this purchase.');
    case 'less':
      throw new ApiError(
        'purchase_not_refundable',
        `The chain shows ${sight.amount} units of the payment at the moment, less than were recorded.`,
      );
    case 'unpaid':
      throw new ApiError('purchase_not_refundable', sight.reason);
  }
}

/** Throws, and so ends the transaction, where the refund's status does not lead to the new one. */
export async function changeRefund(tx: Db, id: string, to: RefundStatus, hash?: bigint): Promise<void> {
  const changed = await tx.run(sql`
    update transactions
       set refund_status = ${to}, refund_transaction_hash = ${to === 'REFUNDED' && hash !== undefined ? toHex(hash) : null},
           updated_at = greatest(created_at, now())
     where id = ${id} and refund_status = any(${refundStatusesBefore(to)}::text[])`);
  if (changed !== 1) throw new Error(`The refund of ${id} cannot be ${to}.`);
}

/** The transaction on the chain is another one than before, because a fee had to be raised. */
export async function changeRefundHash(tx: Db, id: string, hash: bigint): Promise<void> {
  await tx.run(sql`
    update transactions set refund_transaction_hash = ${toHex(hash)} where id = ${id} and refund_status = 'REFUNDED'`);
}

/** The transaction of ours that gives the payment back from now on. */
export async function keepRefundRelay(tx: Db, id: string, relayId: string): Promise<void> {
  await tx.run(sql`
    update sku_purchases set refund_relay_id = ${relayId}, refunds_begun = refunds_begun + 1 where id = ${id}`);
}

export interface UsedTransfer {
  readonly chainId: bigint;
  readonly hash: bigint;
  readonly organizationId: string;
  readonly environment: Environment;
  readonly purchaseId: string;
}

/** A transfer gives back one payment. False when it was used for something before. */
export async function useTransfer(tx: Db, used: UsedTransfer): Promise<boolean> {
  const count = await tx.run(sql`
    insert into used_payments (chain_id, transaction_hash, organization_id, environment, purpose, reference)
    values (${toHex(used.chainId)}, ${toHex(used.hash)}, ${used.organizationId}, ${used.environment}, 'refund',
            ${used.purchaseId})
    on conflict (chain_id, transaction_hash) do nothing`);
  return count === 1;
}

/** Transactions of ours that ended without giving anything back, and were not given up, the oldest first. */
export async function unpaidRefunds(reads: Reads, chainId: bigint, limit: number): Promise<string[]> {
  const rows = await reads.rows<{ id: string }>(sql`
    select id from relays
     where chain_id = ${toHex(chainId)} and state in ('REVERTED', 'VOIDED') and account is not null and kind = 'refund'
       and not_after > now()
     order by created_at limit ${limit}`);
  return rows.map(({ id }) => id);
}

/**
 * What may follow what, once a refund is due. A transfer that the organisation made itself leads from DUE to REFUNDED. A transaction of
 * ours that did not give the payment back leads back to DUE, when it is over for good; one that a reorganisation took away is under
 * way again.
 */
export const refundTransitions: Readonly<Record<RefundStatus, readonly RefundStatus[]>> = {
  DUE: ['REFUNDING', 'REFUNDED'],
  REFUNDING: ['REFUNDED', 'DUE'],
  REFUNDED: ['REFUNDING'],
};

export function refundStatusesBefore(status: RefundStatus): readonly RefundStatus[] {
  return refundStatuses.filter((from) => refundTransitions[from].includes(status));
}

export interface RefundDeps {
  readonly db: Database;
  readonly networks: Networks;
  readonly payer: Payer;
  readonly log: JobLog;
  /** Waits between two looks at the chain. */
  readonly pause?: (ms: number) => Promise<void>;
}
