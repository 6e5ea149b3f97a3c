import { ApiError, type Environment, type endpoints, type RefundStatus, refundStatuses } from '@svc/protocol';
import { type Call as ContractCall, encodeU256, selector, toHex } from '@svc/starknet';
import { type Database, type Db, type Reads, sql } from '@svc/store';
import { recordChange } from '../audit-log.ts';
import type { Networks } from '../chains/networks.ts';
import { transfersIn } from '../chains/starknet/chain.ts';
import type { Answer, Call, Caller } from '../http/call.ts';
import { refuse } from '../http/validation.ts';
import type { JobLog } from '../jobs/job.ts';
import type { OutcomeHandlers, RelayOutcome } from '../relayer/outcome.ts';
import { markerCalls, type Payer, payFromFunds, readManagerFunds } from '../relayer/payer.ts';
import { executesForOthers, type StoredRelay } from '../relayer/relay.ts';
import { abandonRelay, findRelayByHash, reinstateRelay } from '../relayer/relay-store.ts';
import { awaitExecuted, type ChainTransaction, parseStarknetHash } from '../transactions/chain-transaction.ts';
import { toTransaction } from '../transactions/record.ts';
import { observePayment, type PaymentObservation, storePaid } from './confirm-payment.ts';
import { lockPurchase, lockPurchaseOfRefund, ownPurchase, type Payment, type Purchase } from './purchase.ts';

export interface RefundDeps {
  readonly db: Database;
  readonly networks: Networks;
  readonly payer: Payer;
  readonly log: JobLog;
  readonly pause?: (ms: number) => Promise<void>;
}

type RefundSkuPurchase = typeof endpoints.refundSkuPurchase;

/** By a transfer of the manager, or by one that the organisation made itself. */
export async function refundSkuPurchase(
  deps: RefundDeps,
  call: Call<RefundSkuPurchase>,
): Promise<Answer<RefundSkuPurchase>> {
  const { caller, params, body } = call;
  const purchase = await withLatePayment(deps, await ownPurchase(deps.db, caller, params.id));
  if (!purchase.refund.status) throw new ApiError('purchase_not_refundable');
  if (body.transactionHash !== undefined) return acknowledgeTransfer(deps, call, purchase, body.transactionHash);
  if (purchase.refund.status === 'DUE') {
    // Throws `chain_not_configured`, which `observePayment` would report as unanswered.
    deps.networks.starknet(caller.environment);
    requirePaymentOnChain(await observePayment(deps, purchase));
    await sendRefund(deps, caller, purchase);
  }
  return toTransaction((await ownPurchase(deps.db, caller, params.id)).record);
}

async function withLatePayment(deps: RefundDeps, purchase: Purchase): Promise<Purchase> {
  const { record, paidAt } = purchase;
  if (paidAt || (record.status !== 'FAILED' && record.status !== 'CANCELLED')) return purchase;
  const observation = await observePayment(deps, purchase);
  if (observation.state !== 'paid') return purchase;
  return deps.db.tx(async (tx) => {
    await storePaid(tx, record.id, observation);
    return ownPurchase(tx, record, record.id);
  });
}

/** Rolls the transaction back: another request has started the refund. */
class NotDueError extends Error {
  override readonly name = 'NotDueError';
}

/** The row numbers refunds: of several concurrent requests one stores its transaction, and the others find it. */
async function sendRefund(deps: RefundDeps, caller: Caller, purchase: Purchase): Promise<void> {
  const { id, environment } = purchase.record;
  const funds = await readManagerFunds(deps, environment, purchase.payment.token);
  const number = purchase.refund.begun + 1;
  const purpose = refundPurpose(id, number);
  const { token } = purchase.payment;
  const calls = [transferBack(purchase.payment), ...markerCalls(token, { kind: 'refund', id })];
  const order = { environment, kind: 'refund', purpose, calls } as const;
  try {
    const store = (tx: Db, relay: StoredRelay) => startRefund(tx, caller, { id, number, relayId: relay.id });
    const answer = await payFromFunds(deps, funds, order, store);
    if (!answer.ok) throw refundFailed(id, answer.reason);
  } catch (error) {
    if (error instanceof NotDueError) return;
    if (error instanceof ApiError && error.code === 'fee_too_high') throw refundFailed(id, error.message);
    throw error;
  }
}

const refundPurpose = (id: string, number: number): string => `refund ${id} ${number}`;

const refundFailed = (id: string, reason: string): ApiError =>
  new ApiError('refund_failed', undefined, { cause: new Error(`The refund of ${id}: ${reason}`) });

function transferBack({ token, payer, amount }: Payment): ContractCall {
  return { to: token, selector: selector('transfer'), calldata: [payer, ...encodeU256(amount)] };
}

async function startRefund(
  tx: Db,
  caller: Caller,
  { id, number, relayId }: { readonly id: string; readonly number: number; readonly relayId: string },
): Promise<void> {
  const purchase = await lockPurchase(tx, id);
  if (purchase?.refund.status !== 'DUE' || purchase.refund.begun !== number - 1) throw new NotDueError();
  await changeRefund(tx, id, 'REFUNDING');
  await storeRefundRelay(tx, id, relayId);
  const changes = { refundStatus: 'REFUNDING' };
  await recordChange(tx, caller, { action: 'sku-purchase.refund-begun', target: id, changes });
}

/** A transfer refunds one purchase. */
async function acknowledgeTransfer(
  deps: RefundDeps,
  { caller, transact }: Call<RefundSkuPurchase>,
  purchase: Purchase,
  transactionHash: string,
): Promise<Answer<RefundSkuPurchase>> {
  const { id, environment } = purchase.record;
  const parsed = parseStarknetHash(transactionHash);
  const hash = parsed.ok ? parsed.value : refuse('body.transactionHash', parsed.reason);
  if (isRefundedBy(purchase, hash)) return toTransaction(purchase.record);
  requireDue(purchase);
  const { chainId } = deps.networks.starknet(environment).chain;
  await refuseOwnPayments(deps, chainId, hash);
  const transaction = await awaitExecuted(deps, environment, { chain: 'STARKNET', hash: toHex(hash), accepted: true });
  requireRefundTransfer(purchase, transaction);
  return transact(async (tx) => {
    const locked = await lockPurchase(tx, id);
    if (!locked || !isRefundedBy(locked, hash)) await storeAcknowledged(tx, locked, { chainId, hash, caller });
    return toTransaction((await ownPurchase(tx, caller, id)).record);
  });
}

interface RefundTransfer extends Pick<Call<RefundSkuPurchase>, 'caller'> {
  readonly chainId: bigint;
  readonly hash: bigint;
}

async function storeAcknowledged(
  tx: Db,
  purchase: Purchase | undefined,
  { chainId, hash, caller }: RefundTransfer,
): Promise<void> {
  const { id, organizationId, environment } = requireDue(purchase).record;
  const isNew = await markTransferUsed(tx, { chainId, hash, organizationId, environment, purchaseId: id });
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

async function refuseOwnPayments({ db }: RefundDeps, chainId: bigint, hash: bigint): Promise<void> {
  const relay = await findRelayByHash(db.reads, chainId, hash);
  if (relay && !executesForOthers(relay.kind)) throw new ApiError('transaction_already_used');
}

function requireRefundTransfer(
  { payment, blockTime }: Pick<Purchase, 'payment' | 'blockTime'>,
  { transfers, time }: Pick<ChainTransaction, 'transfers' | 'time'>,
): void {
  if (blockTime && time && time < blockTime) throw mismatch('it was made before the payment');
  const { token, payer, amount } = payment;
  const ofToken = transfers.filter((transfer) => transfer.token === token);
  // Net of what the payer sends in the same transaction.
  const received =
    sumOf(ofToken.filter(({ to }) => to === payer)) - sumOf(ofToken.filter(({ from }) => from === payer));
  if (received <= 0n) throw mismatch('it moves nothing of the token to the payer');
  if (received < amount) throw mismatch(`it gives ${received} of the ${amount} units back that were paid`);
}

const sumOf = (transfers: ChainTransaction['transfers']): bigint =>
  transfers.reduce((sum, { amount }) => sum + amount, 0n);

const mismatch = (found: string): ApiError =>
  new ApiError('transaction_mismatch', `The transaction is no refund of this purchase: ${found}.`);

/** A payment that a reorganisation removed is with its payer already. */
function requirePaymentOnChain(observation: PaymentObservation): void {
  switch (observation.state) {
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
        `The chain shows ${observation.amount} units of the payment at the moment, less than were recorded.`,
      );
    case 'unpaid':
      throw new ApiError('purchase_not_refundable', observation.reason);
  }
}

export async function changeRefund(tx: Db, id: string, to: RefundStatus, hash?: bigint): Promise<void> {
  const changed = await tx.run(sql`
    update transactions
       set refund_status = ${to}, refund_transaction_hash = ${to === 'REFUNDED' && hash !== undefined ? toHex(hash) : null},
           updated_at = greatest(created_at, now())
     where id = ${id} and refund_status = any(${refundStatusesBefore(to)}::text[])`);
  if (changed !== 1) throw new Error(`The refund of ${id} cannot be ${to}.`);
}

async function changeRefundHash(tx: Db, id: string, hash: bigint): Promise<void> {
  await tx.run(sql`
    update transactions set refund_transaction_hash = ${toHex(hash)} where id = ${id} and refund_status = 'REFUNDED'`);
}

export async function storeRefundRelay(tx: Db, id: string, relayId: string): Promise<void> {
  await tx.run(sql`
    update sku_purchases set refund_relay_id = ${relayId}, refunds_begun = refunds_begun + 1 where id = ${id}`);
}

interface UsedTransfer {
  readonly chainId: bigint;
  readonly hash: bigint;
  readonly organizationId: string;
  readonly environment: Environment;
  readonly purchaseId: string;
}

async function markTransferUsed(tx: Db, used: UsedTransfer): Promise<boolean> {
  const count = await tx.run(sql`
    insert into used_payments (chain_id, transaction_hash, organization_id, environment, purpose, reference)
    values (${toHex(used.chainId)}, ${toHex(used.hash)}, ${used.organizationId}, ${used.environment}, 'refund',
            ${used.purchaseId})
    on conflict (chain_id, transaction_hash) do nothing`);
  return count === 1;
}

async function failedRefunds(reads: Reads, chainId: bigint, limit: number): Promise<string[]> {
  const rows = await reads.rows<{ id: string }>(sql`
    select id from relays
     where chain_id = ${toHex(chainId)} and state in ('REVERTED', 'VOIDED') and account is not null and kind = 'refund'
       and not_after > now()
     order by created_at limit ${limit}`);
  return rows.map(({ id }) => id);
}

/** REFUNDING to DUE: the failure of the manager's transfer is final. REFUNDED to REFUNDING: a reorganisation removed it. */
export const refundTransitions: Readonly<Record<RefundStatus, readonly RefundStatus[]>> = {
  DUE: ['REFUNDING', 'REFUNDED'],
  REFUNDING: ['REFUNDED', 'DUE'],
  REFUNDED: ['REFUNDING'],
};

function refundStatusesBefore(status: RefundStatus): readonly RefundStatus[] {
  return refundStatuses.filter((from) => refundTransitions[from].includes(status));
}

interface RefundOutcomeDeps {
  readonly networks: Pick<Networks, 'starknet'>;
  readonly log: JobLog;
}

export function refundOutcomes(deps: RefundOutcomeDeps): Pick<OutcomeHandlers, 'refund'> {
  return {
    refund: async (tx, outcome) => {
      const purchase = await lockPurchaseOfRefund(tx, outcome.relayId);
      if (!purchase) logReplaced(deps, outcome);
      else if (outcome.result === 'SUCCEEDED') await markRefunded(tx, deps, outcome, purchase);
      else await markUnpaid(tx, deps, outcome, purchase);
    },
  };
}

/** Only for an abandoned refund on a chain that is reorganised beyond its finality. */
function logReplaced({ log }: RefundOutcomeDeps, { relayId, result, hash }: RelayOutcome): void {
  if (result !== 'SUCCEEDED') return;
  log.error({ relayId, hash: hash && toHex(hash) }, 'refund executed after it was replaced');
}

/** Only the transfer event proves the refund. An error leaves the relay open, and its receipt is read again. */
async function markRefunded(
  tx: Db,
  { networks, log }: RefundOutcomeDeps,
  outcome: RelayOutcome,
  purchase: Purchase,
): Promise<void> {
  const { relayId, hash, receipt, account, environment } = outcome;
  const { record, payment, refund } = purchase;
  const { id, organizationId } = record;
  const isPaid = (receipt ? transfersIn(receipt) : []).some(
    ({ token, from, to, amount }) =>
      token === payment.token && from === account && to === payment.payer && amount === payment.amount,
  );
  if (!isPaid || hash === undefined) throw new Error(`The receipt of the refund of ${id} lacks its transfer.`);
  const { chainId } = networks.starknet(environment).chain;
  await markTransferUsed(tx, { chainId, hash, organizationId, environment, purchaseId: id });
  if (refund.status !== 'REFUNDED') {
    await reinstateRelay(tx, relayId);
    return changeRefund(tx, id, 'REFUNDED', hash);
  }
  // A fee bump changes the hash.
  if (await isRefundOf(tx, chainId, purchase, relayId)) return changeRefundHash(tx, id, hash);
  log.error({ purchaseId: id, hashes: [refund.hash, toHex(hash)] }, 'payment refunded twice');
}

async function markUnpaid(
  tx: Db,
  { networks, log }: RefundOutcomeDeps,
  outcome: RelayOutcome,
  purchase: Purchase,
): Promise<void> {
  const { relayId, result, revertReason, environment } = outcome;
  const { record, refund } = purchase;
  log.warn({ purchaseId: record.id, relayId, result, reason: revertReason }, 'refund failed');
  const { chainId } = networks.starknet(environment).chain;
  const wasThis = refund.status === 'REFUNDED' && (await isRefundOf(tx, chainId, purchase, relayId));
  if (wasThis) await changeRefund(tx, record.id, 'REFUNDING');
}

/** False where another transaction refunded it, such as the organisation's own. */
async function isRefundOf(tx: Db, chainId: bigint, { refund }: Purchase, relayId: string): Promise<boolean> {
  const known = await findRelayByHash(tx, chainId, BigInt(refund.hash ?? 0));
  return known?.id === relayId;
}

const MAX_CHECKED = 100;

/** Before the failure is final a reorganisation could execute the old transfer besides a new one. */
export async function requeueFailedRefunds(
  { db, networks, payer, log }: Omit<RefundDeps, 'pause'>,
  environment: Environment,
): Promise<number> {
  const { chainId } = networks.starknet(environment).chain;
  let requeued = 0;
  for (const relayId of await failedRefunds(db, chainId, MAX_CHECKED)) {
    try {
      if (!(await payer.isFailureFinal(environment, relayId))) continue;
      requeued += await db.tx((tx) => requeueRefund(tx, relayId));
    } catch (error) {
      log.warn({ relayId, err: error }, 'refund finality check failed');
    }
  }
  return requeued;
}

async function requeueRefund(tx: Db, relayId: string): Promise<number> {
  if (!(await abandonRelay(tx, relayId))) return 0;
  const purchase = await lockPurchaseOfRefund(tx, relayId);
  if (purchase?.refund.status !== 'REFUNDING') return 0;
  await changeRefund(tx, purchase.record.id, 'DUE');
  return 1;
}
