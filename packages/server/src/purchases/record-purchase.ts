import {
  type AnswerOf,
  ApiError,
  type BodyOf,
  type ChainToken,
  type Currency,
  type Environment,
  type endpoints,
  formatDecimal,
  formatTokenAmount,
  formatUsd,
  MAX_CURRENCY_AMOUNT,
  parseDecimal,
  parseStarknetAddress,
  type QueryOf,
  type StarknetAddress,
  type Transaction,
  USD_DECIMALS,
  type UsdMicros,
} from '@svc/protocol';
import { toHex } from '@svc/starknet';
import { type Database, type Db, type Reads, sql } from '@svc/store';
import type { Networks, StarknetNetwork } from '../chains/networks.ts';
import type { Token } from '../chains/tokens.ts';
import { type Exchange, mxnToUsd } from '../exchanges/exchange.ts';
import { type Answer, type Call, type Caller, publicKeyOf, readPage, toPage } from '../http/call.ts';
import { readAddress, refuse } from '../http/validation.ts';
import { findOfferedSku, matchesPattern, type OfferedSkuRow, type SkuRow } from '../skus/skus.ts';
import { awaitExecuted, parseStarknetHash, requireTransfers } from '../transactions/chain-transaction.ts';
import { type TransactionRecord, toTransaction } from '../transactions/record.ts';
import { recordById } from '../transactions/record-store.ts';
import { newId } from '../util/ids.ts';
import { findWallet, requireWallet, type WalletRecord } from '../wallets/wallet.ts';
import type { Providers } from './provider.ts';
import { listPurchases, type NewPurchase, purchaseOf, storePurchase } from './purchase.ts';

export interface PurchaseDeps {
  readonly db: Database;
  readonly networks: Networks;
  readonly exchange: Pick<Exchange, 'ratesOfLast'>;
  readonly providers: Providers;
  readonly pause?: (ms: number) => Promise<void>;
  readonly now?: () => number;
}

type CreateSkuPurchase = typeof endpoints.createSkuPurchase;
type Body = BodyOf<CreateSkuPurchase>;

const FIELDS = { token: 'token', sender: 'walletAddress', recipient: 'The payment address' };

/** A payment buys once. */
export async function createPurchase(
  deps: PurchaseDeps,
  { caller, body, transact }: Call<CreateSkuPurchase>,
): Promise<Answer<CreateSkuPurchase>> {
  const { db, networks, providers } = deps;
  const amount = readAmount(body);
  const payment = readPayment(networks, caller, body);
  const wallet = await requireWallet(db.reads, caller, payment.walletAddress);
  // Before everything that may change later: a repeated request always gets the same answer.
  const known = await purchaseOf(db.reads, caller, payment);
  if (known) return toTransaction(requireSame(known, payment, body, amount));
  const sku = await findOfferedSku(db.reads, caller, body.skuId);
  requireFit(sku, body.skuReference, amount);
  if (!providers(caller.environment)) throw new ApiError('provider_not_configured');
  const paid = await paidAmount(deps, caller, payment);
  const price = await lowestPrice(deps.exchange, {
    micros: amount.micros,
    currency: sku.currency,
    environment: caller.environment,
  });
  requireEnough(paid, payment.token, price);
  const purchase = newPurchase(deps, { caller, body, payment, wallet, sku, amount, paid, price });
  return transact(async (tx) => {
    const stored = (await storePurchase(tx, payment, purchase)) ?? (await findStored(tx, caller, payment));
    return toTransaction(requireSame(stored, payment, body, amount));
  });
}

async function findStored(tx: Db, caller: Caller, payment: ClaimedPayment): Promise<TransactionRecord> {
  const record = await purchaseOf(tx, caller, payment);
  if (!record) throw new Error('A payment is used, and nothing says for what.');
  return record;
}

/** Another body with this payment is `transaction_already_used`. */
function requireSame(
  record: TransactionRecord,
  { walletAddress, token }: ClaimedPayment,
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

async function paidAmount(
  deps: PurchaseDeps,
  { environment }: Caller,
  { network, hash, walletAddress, token }: ClaimedPayment,
): Promise<bigint> {
  const { transfers } = await awaitExecuted(deps, environment, { chain: 'STARKNET', hash });
  const expected = { chain: 'STARKNET', token, sender: walletAddress, recipient: network.paymentAddress } as const;
  const payments = requireTransfers(expected, transfers, network.tokens, FIELDS);
  return payments.reduce((sum, { amount }) => sum + amount, 0n);
}

interface VerifiedPurchase {
  readonly caller: Caller;
  readonly body: Body;
  readonly payment: ClaimedPayment;
  readonly wallet: WalletRecord;
  readonly sku: OfferedSkuRow;
  readonly amount: Money;
  readonly paid: bigint;
  readonly price: bigint;
}

function newPurchase({ now = Date.now }: PurchaseDeps, verified: VerifiedPurchase): NewPurchase {
  const { caller, body, payment, wallet, sku, amount, paid, price } = verified;
  const record = {
    organizationId: caller.organizationId,
    environment: caller.environment,
    apiPublicKey: publicKeyOf(caller),
    type: 'SKU_PURCHASE',
    subType: undefined,
    chain: 'STARKNET',
    transactionHash: payment.hash,
    // The transfer has a record of its own, with its event, block and relay.
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

/** How long a quoted price stays valid. */
export const PRICE_WINDOW_MINUTES = 10;
/** Amounts are rounded between price and transfer. */
const ENOUGH_PERCENT = 99n;

export async function lowestPrice(
  exchange: Pick<Exchange, 'ratesOfLast'>,
  { micros, currency, environment }: { micros: bigint; currency: Currency; environment: Environment },
): Promise<UsdMicros> {
  if (currency === 'USD') return micros;
  const rates = await exchange.ratesOfLast(PRICE_WINDOW_MINUTES, environment);
  const prices = rates.map(({ mxnPerUsd }) => mxnToUsd(micros, mxnPerUsd));
  const [first, ...others] = prices;
  if (first === undefined) throw new ApiError('rate_unavailable');
  return others.reduce((lowest, price) => (price < lowest ? price : lowest), first);
}

/** A token counts as one dollar; the comparison is exact in the token's unit. */
export function requireEnough(
  paid: bigint,
  { token, decimals }: Pick<Token, 'token' | 'decimals'>,
  price: UsdMicros,
): void {
  const [tokenUnit, dollarUnit] = [10n ** BigInt(decimals), 10n ** BigInt(USD_DECIMALS)];
  if (paid * dollarUnit * 100n >= price * ENOUGH_PERCENT * tokenUnit) return;
  const needed = formatUsd((price * ENOUGH_PERCENT + 99n) / 100n);
  throw new ApiError(
    'payment_too_small',
    `The payment is ${formatTokenAmount(paid, decimals)} ${token}, and ${needed} are needed: ` +
      `${ENOUGH_PERCENT} % of ${formatUsd(price)} USD, the lowest price of the last ${PRICE_WINDOW_MINUTES} minutes.`,
  );
}

const MONEY_DECIMALS = 2;
const MICROS_A_CENT = 10_000n;
const MAX_CENTS = BigInt(MAX_CURRENCY_AMOUNT) * 100n;

export interface Money {
  readonly cents: bigint;
  /** Shortest decimal. */
  readonly text: string;
  readonly micros: bigint;
}

/** Amounts with more decimals than money has are refused, never rounded. */
export function readAmount({ currencyAmount }: Pick<Body, 'currencyAmount'>): Money {
  const cents = parseDecimal(String(currencyAmount), MONEY_DECIMALS);
  if (!cents.ok || cents.value === 0n || cents.value > MAX_CENTS) {
    const bounds = `above 0 and at most ${MAX_CURRENCY_AMOUNT}, with at most ${MONEY_DECIMALS} decimals`;
    throw new ApiError('invalid_amount', `currencyAmount must be ${bounds}.`);
  }
  const text = formatDecimal(cents.value, MONEY_DECIMALS);
  return { cents: cents.value, text, micros: cents.value * MICROS_A_CENT };
}

export function requireFit(sku: SkuRow, reference: string, amount: Money): void {
  if (!matchesPattern(sku.reference_pattern, reference)) {
    throw new ApiError('invalid_reference', `skuReference does not have the expected form: ${sku.reference_label}.`);
  }
  if (sku.fixed_amount !== null && !isSameAmount(sku.fixed_amount, amount)) {
    const fixed = `${Number(sku.fixed_amount)} ${sku.currency}`;
    throw new ApiError('invalid_amount', `currencyAmount must be ${fixed}, the fixed amount of this service.`);
  }
  if (!formatsOf(amount).some((text) => matchesPattern(sku.amount_pattern, text))) {
    throw new ApiError('invalid_amount', `currencyAmount does not have the expected form: ${sku.amount_label}.`);
  }
}

const FIXED_DECIMALS = 30;

function isSameAmount(fixed: string, { text }: Money): boolean {
  const [one, other] = [parseDecimal(fixed, FIXED_DECIMALS), parseDecimal(text, FIXED_DECIMALS)];
  return one.ok && other.ok && one.value === other.value;
}

/** A pattern may expect 50.5 or 50.50. */
function formatsOf({ cents, text }: Money): string[] {
  const [whole, fraction] = [cents / 100n, (cents % 100n).toString().padStart(MONEY_DECIMALS, '0')];
  return [text, `${whole}.${fraction}`];
}

const DOLLARS: readonly ChainToken[] = ['USDC', 'USDC_E', 'USDT', 'DAI'];

export interface ClaimedPayment {
  readonly network: StarknetNetwork;
  readonly chainId: string;
  readonly hash: string;
  readonly walletAddress: StarknetAddress;
  readonly token: Token;
}

export function readPayment(networks: Networks, { environment }: Caller, body: Body): ClaimedPayment {
  if (body.chain !== 'STARKNET') {
    throw new ApiError('unsupported_chain', 'The payment address is on STARKNET only. GET /config tells it.');
  }
  const hash = parseStarknetHash(body.transactionHash);
  if (!hash.ok) refuse('body.transactionHash', hash.reason);
  const walletAddress = readAddress(body.walletAddress, 'body.walletAddress');
  const network = networks.starknet(environment);
  const token = DOLLARS.includes(body.token) ? networks.token(environment, body.chain, body.token) : undefined;
  if (!token) {
    const offered = DOLLARS.filter((name) => networks.token(environment, body.chain, name));
    throw new ApiError('token_not_supported', `Purchases are paid in ${offered.join(', ')}, not in ${body.token}.`);
  }
  return { network, chainId: toHex(network.chain.chainId), hash: toHex(hash.value), walletAddress, token };
}

type ListSkuPurchases = typeof endpoints.listSkuPurchases;

export async function getPurchase(reads: Reads, caller: Caller, id: string): Promise<Transaction> {
  const record = await recordById(reads, caller, id);
  if (record?.type !== 'SKU_PURCHASE' || !(await mayRead(reads, caller, record))) {
    throw new ApiError('purchase_not_found');
  }
  return toTransaction(record);
}

/** With a user's token: payments of that user's wallets. */
async function mayRead(reads: Reads, caller: Caller, { senderAddress }: TransactionRecord): Promise<boolean> {
  if (caller.proof !== 'user token') return true;
  const address = parseStarknetAddress(senderAddress);
  return address.ok && (await findWallet(reads, caller, address.value)) !== undefined;
}

/** Bounds the search for the last failure of an organisation that has none. */
const RECENT = 1_000;

export async function getProviderStatus(
  reads: Reads,
  providers: Providers,
  { organizationId, environment }: Caller,
): Promise<AnswerOf<typeof endpoints.getProviderStatus>> {
  const own = sql`type = 'SKU_PURCHASE' and organization_id = ${organizationId} and environment = ${environment}`;
  const ended = (status: 'SUCCESS' | 'FAILED') =>
    reads.one<{ at: Date; reason: string | null }>(sql`
      select coalesce(ended_at, updated_at) as at, revert_reason as reason
        from (select id, status, revert_reason, updated_at from transactions
               where ${own} order by id desc limit ${RECENT}) recent
        join sku_purchases using (id)
       where status = ${status} and ordered_at is not null
       order by 1 desc limit 1`);
  const [pending, completed, failed] = await Promise.all([
    reads.one<{ count: bigint; oldest: Date | null }>(sql`
      select count(*) as count, min(paid_at) as oldest from transactions join sku_purchases using (id)
       where ${own} and status = 'PROCESSING'`),
    ended('SUCCESS'),
    ended('FAILED'),
  ]);
  return {
    environment,
    configured: providers(environment) !== undefined,
    pending: Number(pending?.count ?? 0n),
    oldestPendingAt: pending?.oldest?.toISOString() ?? null,
    lastCompletedAt: completed?.at.toISOString() ?? null,
    lastFailedAt: failed?.at.toISOString() ?? null,
    lastFailure: failed?.reason ?? null,
  };
}

export async function listOwnPurchases(
  reads: Reads,
  caller: Caller,
  query: QueryOf<ListSkuPurchases>,
): Promise<AnswerOf<ListSkuPurchases>> {
  const page = readPage(query);
  const filter = { status: query.status, refundStatus: query.refundStatus, ...page };
  const { records, total } = await listPurchases(reads, caller, filter);
  return toPage(records.map(toTransaction), total, page);
}
