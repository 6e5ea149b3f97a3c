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
 * The hash of the transaction that pays; undefined when it is certain that there is none and never will be.
 *
 * A crash can fall between the service's answer and the app's storing it. So the signed payment itself is sent again: within its window
 * the service answers its first transaction, and for a day after it by the idempotency key. Beyond that the wallet is asked, on the chain.
 */
export async function pay(run: PurchaseContext, state: PurchaseState): Promise<string | undefined> {
  let sent = await sendPayment(run, state, `sku-payment-${toHex(executionOf(state).nonce)}`);
  // A refusal is kept with its key for a day, and what caused it may be over.
  if ('refusal' in sent && run.resumed) sent = await sendPayment(run, state);
  if ('hash' in sent) return sent.hash;
  const { refusal } = sent;
  const proof = run.resumed ? await provePayment(run, state) : 'possible';
  if (proof === 'executed') return requireFound(run, state);
  if (proof === 'impossible') return undefined;
  if (proof === 'unknown') throw unclear(state, refusal);
  const message = `The payment was refused and is not paid so far: ${refusal.message} Do not start anew: call purchaseSku with resume: error.state, which tries the same payment again.`;
  throw new SvcPurchaseError('payment_refused', message, state, refusal);
}

/** What the chain says of the payment. */
export async function provePayment({ client }: PurchaseContext, state: PurchaseState): Promise<PaymentProof> {
  try {
    return await paymentEvidence(client, BigInt(state.payment.publicKey), executionOf(state));
  } catch (error) {
    throw unclear(state, error);
  }
}

/** The wallet has paid, so somewhere there is a transaction. */
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

/** What the service says before it takes a transaction. After any other failure it may have taken it. */
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

/** Hands the signed payment to the service, which relays what has the same wallet and nonce once, however often it is asked. */
async function sendPayment(
  { client, bearerToken }: PurchaseContext,
  state: PurchaseState,
  idempotencyKey?: string,
): Promise<Sent> {
  // By name: a stored state may hold more than the service takes.
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

/** A crash is resumed within days; a wallet of a person has not sent more since. */
const MAX_PAGES = 10;
const PAGE_SIZE = 100;

/** The transaction that executed the payment, out of the wallet's history; undefined when it is not there. */
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

/** The same token, and the amount that was signed. */
function isCandidate(item: Transaction, { purchase }: PurchaseState, { calls: [transfer] }: OutsideExecution): boolean {
  const [, low = 0n, high = 0n] = transfer?.calldata ?? [];
  return item.chain === 'STARKNET' && item.token === purchase.token && item.amount === String((high << 128n) | low);
}

/** Equal payments are told apart by what the transaction carries: this execution with its nonce, and no other. */
async function executes(client: Client, transactionHash: string, execution: OutsideExecution): Promise<boolean> {
  const calldata = await withNode(client, (ask) =>
    ask('starknet_getTransactionByHash', { transaction_hash: transactionHash }, (result) =>
      isObject(result) ? readFelts(result.calldata) : undefined,
    ),
  );
  // Without the signature, whose length ends the encoding.
  const wanted = encodeOutsideExecution(execution, []).slice(0, -1);
  return calldata.ok && includes(calldata.value, wanted);
}

function includes(all: readonly bigint[], part: readonly bigint[]): boolean {
  return all.some((_, start) => part.every((felt, index) => all[start + index] === felt));
}

/**
 * - `spent`: the wallet has executed it
 * - `never`: it has not, and its window is over: it never will
 * - `open`: it has not, but still could
 * - `untold`: the wallet does not say, or the node is one of another chain
 */
export type PaymentProof = 'executed' | 'impossible' | 'possible' | 'unknown';

/** When blocks of the last minutes are replaced, a payment may still turn up in them. */
const SETTLED_SECONDS = 600n;

/**
 * Whether a signed payment was executed, from the wallet itself: it spends the nonce of an execution once. One node is asked for its chain, for a block
 * and then for the nonce as of that block, so that a node that lags behind cannot make a payment look undone.
 */
export async function paymentEvidence(
  client: Client,
  account: bigint,
  execution: OutsideExecution,
): Promise<PaymentProof> {
  // In the sandbox no block comes unless something happens, and the open one tells the time.
  const chainId = await chainIdOf(client);
  const isSandbox = chainId === chainIds.SVC_SANDBOX;
  return withNode(client, async (ask) => {
    // On another chain the wallet does not stand, and what it has paid would look unpaid.
    const node = await ask('starknet_chainId', [], readFelt);
    if (!node.ok || node.value !== chainId) return 'unknown';
    const block = await readBlock(ask, isSandbox ? 'pre_confirmed' : 'latest');
    if (!block) return 'unknown';
    const isSpent = await readSpent(ask, account, execution.nonce, block.id);
    if (isSpent === undefined) return 'unknown';
    if (isSpent) return 'executed';
    return block.timestamp >= execution.executeBefore + SETTLED_SECONDS ? 'impossible' : 'possible';
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

/** Undefined when the wallet does not tell. */
async function readSpent(ask: Ask, account: bigint, nonce: bigint, block_id: BlockId): Promise<boolean | undefined> {
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
