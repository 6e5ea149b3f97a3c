import { ApiError, type BodyOf, type endpoints } from '@svc/protocol';
import type { Db } from '@svc/store';
import { tokensOf } from '../chains/tokens.ts';
import type { Answer, Call } from '../http/call.ts';
import type { Caller } from '../http/caller.ts';
import { newId } from '../ids.ts';
import { findOfferedSku, type OfferedSkuRow } from '../skus/service.ts';
import { awaitExecuted } from '../transactions/await-executed.ts';
import { publicKeyOf } from '../transactions/caller-key.ts';
import type { TransactionRecord } from '../transactions/record.ts';
import { requireTransfers } from '../transactions/require-transfer.ts';
import { requireWallet } from '../transactions/require-wallet.ts';
import { toTransaction } from '../transactions/to-transaction.ts';
import type { WalletRecord } from '../wallets/wallet.ts';
import type { PurchaseParts } from './parts.ts';
import { lowestPrice, requireEnough } from './price.ts';
import { type Money, readAmount, requireFit } from './read-order.ts';
import { readPayment, type SaidPayment } from './read-payment.ts';
import { type NewPurchase, purchaseOf, storePurchase } from './store.ts';

type CreateSkuPurchase = typeof endpoints.createSkuPurchase;
type Body = BodyOf<CreateSkuPurchase>;

const FIELDS = { token: 'token', sender: 'walletAddress', recipient: 'The payment address' };

/** Records a purchase once the chain shows its payment. A payment buys once, whoever offers it and however often. */
export async function createPurchase(
  parts: PurchaseParts,
  { caller, body, transact }: Call<CreateSkuPurchase>,
): Promise<Answer<CreateSkuPurchase>> {
  const { db, networks, providers } = parts;
  const amount = readAmount(body);
  const payment = readPayment(networks, caller, body);
  const wallet = await requireWallet(db.reads, caller, payment.walletAddress);
  // Before everything that may be different later: a repetition is answered for ever.
  const known = await purchaseOf(db.reads, caller, payment);
  if (known) return toTransaction(requireSame(known, payment, body, amount));
  const sku = await findOfferedSku(db.reads, caller, body.skuId);
  requireFit(sku, body.skuReference, amount);
  if (!providers(caller.environment)) throw new ApiError('provider_not_configured');
  const paid = await paidAmount(parts, caller, payment);
  const price = await lowestPrice(parts.exchange, {
    micros: amount.micros,
    currency: sku.currency,
    environment: caller.environment,
  });
  requireEnough(paid, payment.token, price);
  const purchase = newPurchase(parts, { caller, body, payment, wallet, sku, amount, paid, price });
  return transact(async (tx) => {
    const stored = (await storePurchase(tx, payment, purchase)) ?? (await storedMeanwhile(tx, caller, payment));
    return toTransaction(requireSame(stored, payment, body, amount));
  });
}

async function storedMeanwhile(tx: Db, caller: Caller, payment: SaidPayment): Promise<TransactionRecord> {
  const record = await purchaseOf(tx, caller, payment);
  if (!record) throw new Error('A payment is used, and nothing says for what.');
  return record;
}

/** The same body, by value; another one with this payment is `transaction_already_used`. */
function requireSame(
  record: TransactionRecord,
  { walletAddress, token }: SaidPayment,
  { skuId, skuReference }: Body,
  { text }: Money,
): TransactionRecord {
  const isSame =
    record.senderAddress === walletAddress &&
    record.token === token.token &&
    record.skuId === skuId &&
    record.skuReference === skuReference &&
    record.skuPurchaseAmount === text;
  if (!isSame) throw new ApiError('transaction_already_used');
  return record;
}

/** The sum of what the wallet sent to the payment address in this transaction, in the token's smallest unit. */
async function paidAmount(
  parts: PurchaseParts,
  { environment }: Caller,
  { network, hash, walletAddress, token }: SaidPayment,
): Promise<bigint> {
  const { transfers } = await awaitExecuted(parts, environment, { chain: 'STARKNET', hash });
  const expected = { chain: 'STARKNET', token, sender: walletAddress, recipient: network.paymentAddress } as const;
  const payments = requireTransfers(expected, transfers, tokensOf(network.name, 'STARKNET'), FIELDS);
  return payments.reduce((sum, { amount }) => sum + amount, 0n);
}

interface Bought {
  readonly caller: Caller;
  readonly body: Body;
  readonly payment: SaidPayment;
  readonly wallet: WalletRecord;
  readonly sku: OfferedSkuRow;
  readonly amount: Money;
  readonly paid: bigint;
  readonly price: bigint;
}

function newPurchase({ now = Date.now }: PurchaseParts, bought: Bought): NewPurchase {
  const { caller, body, payment, wallet, sku, amount, paid, price } = bought;
  const record = {
    organizationId: caller.organizationId,
    environment: caller.environment,
    apiPublicKey: publicKeyOf(caller),
    type: 'SKU_PURCHASE',
    subType: undefined,
    chain: 'STARKNET',
    transactionHash: payment.hash,
    // The transfer that paid has a record of its own, with its event, its block and its relay.
    eventIndex: undefined,
    blockNumber: undefined,
    relayId: undefined,
    callIndex: undefined,
    contractAddress: undefined,
    contractName: undefined,
    functionName: undefined,
    functionSelector: undefined,
    senderAddress: payment.walletAddress,
    destinationAddress: payment.network.paymentAddress,
    token: payment.token.token,
    tokenAddress: payment.token.address ?? undefined,
    amount: paid,
    skuId: sku.id,
    skuReference: body.skuReference,
    skuPurchaseAmount: amount.text,
    skuPurchaseCurrency: sku.currency,
    status: 'PENDING',
    senderWalletId: wallet.id,
    destinationWalletId: undefined,
    createdAt: new Date(now()),
    confirmedAt: undefined,
  } as const;
  const catalogue = sku.is_own ? 'organization' : 'deployment';
  return { id: newId('txn'), record, providerId: sku.provider_id, catalogue, skuName: sku.name, price };
}
