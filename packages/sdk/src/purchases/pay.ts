import type { Transaction } from '@svc/protocol';
import { chainIds, encodeOutsideExecution, type OutsideExecution, selector, toHex } from '@svc/starknet';
import type { BearerToken, Client } from '../client/client.ts';
import { SvcApiError } from '../client/errors.ts';
import { isObject } from '../client/values.ts';
import { type Ask, readFelt, readFelts, rpcCodes, withNode } from '../node/rpc.ts';
import { sendSignedCalls } from '../signing/calls.ts';
import { chainIdOf } from '../signing/check.ts';
import { getTransactionList } from '../transactions.ts';
import { executionOf, type PurchaseContext, type PurchaseState, SvcPurchaseError } from './state.ts';

/**
 * Returns the hash of the paying transaction; undefined if there is none and never will be.
 *
 * A crash can occur between the service's answer and the app storing it. So the signed payment is sent again: within
 * its window the service returns the first transaction, and for a day by the idempotency key. After that the wallet
 * on the chain decides.
 */
export async function pay(context: PurchaseContext, state: PurchaseState): Promise<string | undefined> {
  let sent = await sendPayment(context, state, `sku-payment-${toHex(executionOf(state).nonce)}`);
  // A refusal is stored with its key for a day, and its cause may be gone.
  if ('refusal' in sent && context.resumed) sent = await sendPayment(context, state);
  if ('hash' in sent) return sent.hash;
  const { refusal } = sent;
  const proof = context.resumed ? await provePayment(context, state) : 'possible';
  if (proof === 'executed') return requireFound(context, state);
  if (proof === 'impossible') return undefined;
  if (proof === 'unknown') throw unclear(state, refusal);
  const message = `The payment was refused and is not paid so far: ${refusal.message} Do not start anew: call purchaseSku with resume: error.state, which tries the same payment again.`;
  throw new SvcPurchaseError('payment_refused', message, state, refusal);
}

export async function provePayment({ client }: PurchaseContext, state: PurchaseState): Promise<PaymentProof> {
  try {
    return await readPaymentProof(client, BigInt(state.payment.publicKey), executionOf(state));
  } catch (error) {
    throw unclear(state, error);
  }
}

/** The wallet has paid, so a transaction exists. */
export async function requireFound({ client, bearerToken }: PurchaseContext, state: PurchaseState): Promise<string> {
  const found = await findPayment(client, state, bearerToken).catch((error: unknown) => {
    throw unclear(state, error);
  });
  if (found !== undefined) return found;
  const { walletAddress, token } = state.purchase;
  const message = `The wallet has made the payment, but its history does not show the transaction. Find the one in which ${walletAddress} paid ${state.amount} ${token} (syncOnChain may bring it), put its hash into the state as transactionHash, and resume.`;
  throw new SvcPurchaseError('payment_unclear', message, state);
}

type Sent = { readonly hash: string } | { readonly refusal: SvcApiError };

/** Errors before the service accepts a transaction. After any other failure it may have been accepted. */
const REFUSALS: ReadonlySet<string> = new Set([
  'invalid_request',
  'invalid_typed_data',
  'typed_data_expired',
  'invalid_signature',
  'wallet_not_deployed',
  'wallet_not_found',
  'transaction_reverted',
  'fee_too_high',
  'chain_not_configured',
]);

/** Sends the signed payment. The service relays each wallet and nonce once. */
async function sendPayment(
  { client, bearerToken }: PurchaseContext,
  state: PurchaseState,
  idempotencyKey?: string,
): Promise<Sent> {
  // By name: a stored state may have more fields than the API takes.
  const { publicKey, typedData, userSignature } = state.payment;
  try {
    const signed = { publicKey, typedData, userSignature };
    return { hash: await sendSignedCalls(client, signed, bearerToken, idempotencyKey) };
  } catch (error) {
    if (error instanceof SvcApiError && REFUSALS.has(error.code)) return { refusal: error };
    throw unclear(state, error);
  }
}

export function unclear(state: PurchaseState, cause: unknown): SvcPurchaseError {
  return new SvcPurchaseError(
    'payment_unclear',
    `Whether the payment was made is not known yet: ${messageOf(cause)} Call purchaseSku with resume: error.state, and do not start anew.`,
    state,
    cause,
  );
}

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** 1,000 transactions: a resume happens within days. */
const MAX_PAGES = 10;
const PAGE_SIZE = 100;

/** The transaction in the wallet's history that executed the payment; undefined if it is not there. */
async function findPayment(
  client: Client,
  state: PurchaseState,
  bearerToken?: BearerToken,
): Promise<string | undefined> {
  const { walletAddress } = state.purchase;
  const execution = executionOf(state);
  for (let page = 1; page <= MAX_PAGES; page++) {
    const { items, total } = await getTransactionList(client, { walletAddress, page, limit: PAGE_SIZE }, bearerToken);
    for (const item of items.filter((one) => isCandidate(one, state, execution))) {
      if (await executes(client, item.transactionHash, execution)) return item.transactionHash;
    }
    if (page * PAGE_SIZE >= total) return undefined;
  }
  return undefined;
}

function isCandidate(item: Transaction, { purchase }: PurchaseState, { calls: [transfer] }: OutsideExecution): boolean {
  const [, low = 0n, high = 0n] = transfer?.calldata ?? [];
  return item.chain === 'STARKNET' && item.token === purchase.token && item.amount === String((high << 128n) | low);
}

/** Equal payments differ in the execution that the calldata contains, by its nonce. */
async function executes(client: Client, transactionHash: string, execution: OutsideExecution): Promise<boolean> {
  const calldata = await withNode(client, (ask) =>
    ask('starknet_getTransactionByHash', { transaction_hash: transactionHash }, (result) =>
      isObject(result) ? readFelts(result.calldata) : undefined,
    ),
  );
  // Without the signature, whose length ends the encoding.
  const encoded = encodeOutsideExecution(execution, []).slice(0, -1);
  return calldata.ok && includes(calldata.value, encoded);
}

function includes(all: readonly bigint[], part: readonly bigint[]): boolean {
  return all.some((_, start) => part.every((felt, index) => all[start + index] === felt));
}

/**
 * - `executed`: the wallet has executed it
 * - `impossible`: not executed, and its window is closed
 * - `possible`: not executed, but still could be
 * - `unknown`: the wallet does not answer, or the node is on another chain
 */
export type PaymentProof = 'executed' | 'impossible' | 'possible' | 'unknown';

/** A payment may still appear in blocks that a reorg replaces. */
const REORG_SECONDS = 600n;

/**
 * Asks the wallet whether a signed payment was executed: it uses each nonce once. One node is asked for its chain, a
 * block and the nonce at that block, so that a lagging node cannot make a payment look unpaid.
 */
export async function readPaymentProof(
  client: Client,
  account: bigint,
  execution: OutsideExecution,
): Promise<PaymentProof> {
  // The sandbox creates blocks only on activity; its open block has the time.
  const chainId = await chainIdOf(client);
  const isSandbox = chainId === chainIds.SVC_SANDBOX;
  return withNode(client, async (ask) => {
    // On another chain the wallet does not exist, and its payment would look unpaid.
    const node = await ask('starknet_chainId', [], readFelt);
    if (!node.ok || node.value !== chainId) return 'unknown';
    const block = await readBlock(ask, isSandbox ? 'pre_confirmed' : 'latest');
    if (!block) return 'unknown';
    const isUsed = await readNonceUsed(ask, account, execution.nonce, block.id);
    if (isUsed === undefined) return 'unknown';
    if (isUsed) return 'executed';
    return block.timestamp >= execution.executeBefore + REORG_SECONDS ? 'impossible' : 'possible';
  });
}

type BlockId = 'pre_confirmed' | { readonly block_hash: string };

async function readBlock(ask: Ask, tag: 'pre_confirmed' | 'latest') {
  const block = await ask('starknet_getBlockWithTxHashes', { block_id: tag }, (result) => {
    if (!isObject(result) || !Number.isSafeInteger(result.timestamp)) return undefined;
    const timestamp = BigInt(Number(result.timestamp));
    if (tag === 'pre_confirmed') return { id: tag as BlockId, timestamp };
    return typeof result.block_hash === 'string'
      ? { id: { block_hash: result.block_hash } as BlockId, timestamp }
      : undefined;
  });
  return block.ok ? block.value : undefined;
}

async function readNonceUsed(
  ask: Ask,
  account: bigint,
  nonce: bigint,
  block_id: BlockId,
): Promise<boolean | undefined> {
  const request = {
    contract_address: toHex(account),
    entry_point_selector: toHex(selector('is_valid_outside_execution_nonce')),
    calldata: [toHex(nonce)],
  };
  const answer = await ask('starknet_call', { request, block_id }, readFelts);
  // A wallet that is not deployed has executed nothing.
  if (!answer.ok) return answer.code === rpcCodes.contractNotFound ? false : undefined;
  const [isValid, ...more] = answer.value;
  if (more.length > 0 || (isValid !== 0n && isValid !== 1n)) return undefined;
  return isValid === 0n;
}
