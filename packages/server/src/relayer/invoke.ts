import { ApiError, type Environment } from '@svc/protocol';
import {
  type Call,
  encodeArray,
  encodeCalls,
  encodeOutsideExecution,
  type InvokeFields,
  type ResourceBounds,
  selector,
  TRANSACTION_VERSION,
  UDC_ADDRESS,
} from '@svc/starknet';
import { type Db, isDatabaseUnavailable, sentTogether, TenantBusyError } from '@svc/store';
import { ChainUnavailableError } from '../chains/node-fetch.ts';
import {
  type Estimate,
  type GasUse,
  padAddress,
  type RawInvoke,
  type Refusal,
  rawInvoke,
  type SignedInvoke,
  type StarknetChain,
} from '../chains/starknet/chain.ts';
import type { Crypto } from '../crypto/crypto.ts';
import { enqueue } from '../jobs/job.ts';
import { newId } from '../util/ids.ts';
import { canPay, type RelayerDeps, type RelayerKey, signingKeyOf, takeNonces } from './accounts.ts';
import { type Budget, dayOf, NO_LIMITS, reserveBudgets } from './budget.ts';
import type { RelayKind, SponsoredUser, Sponsorship, StoreWithRelay } from './relay.ts';
import { type BudgetShare, insertRelays, type NewRelay, relayWorkerJob } from './relay-store.ts';

export interface Transaction {
  readonly chainId: bigint;
  readonly sender: bigint;
  readonly nonce: bigint;
  readonly calls: readonly Call[];
}

export async function signTransaction(
  crypto: Crypto,
  key: RelayerKey,
  transaction: Transaction,
  fee: Fee,
): Promise<SignedInvoke> {
  const fields = fieldsOf(transaction, fee);
  const { hash, signature } = await crypto.signInvoke(fields, signingKeyOf(key));
  return { hash, transaction: rawInvoke(fields, signature) };
}

export function unsigned(transaction: Transaction): RawInvoke {
  return rawInvoke(fieldsOf(transaction, NO_FEE), []);
}

function fieldsOf({ chainId, sender, nonce, calls }: Transaction, { tip, bounds }: Fee): InvokeFields {
  return {
    version: TRANSACTION_VERSION,
    chainId,
    sender,
    nonce,
    calldata: encodeCalls(calls),
    tip,
    resourceBounds: bounds,
    paymasterData: [],
    accountDeploymentData: [],
    nonceDataAvailabilityMode: 0,
    feeDataAvailabilityMode: 0,
  };
}

export interface Fee {
  readonly tip: bigint;
  readonly bounds: InvokeFields['resourceBounds'];
}

type Bounds = Fee['bounds'];

const NOTHING: ResourceBounds = { maxAmount: 0n, maxPricePerUnit: 0n };
export const NO_FEE: Fee = { tip: 0n, bounds: { l1Gas: NOTHING, l2Gas: NOTHING, l1DataGas: NOTHING } };

const withRoom = (value: bigint): bigint => (value * 3n + 1n) / 2n;
/** Sequencers replace a pending transaction only by one that pays more, usually by a tenth. */
const bumped = (value: bigint): bigint => (value * 13n) / 10n + 1n;
const PRICE_PER_TIP = 10n;

/** Room in amounts and prices. Where it would exceed the limit, prices have less of it. */
export function firstFee(estimate: Estimate, maxFeeFri?: bigint): Fee {
  const { l1Gas, l2Gas, l1DataGas } = estimate;
  const needed = neededFee(estimate);
  const priceOf = (price: bigint) => {
    const fitting = maxFeeFri === undefined || needed === 0n ? undefined : (price * maxFeeFri) / needed;
    return fitting === undefined ? withRoom(price) : min(withRoom(price), max(price, fitting));
  };
  const bound = ({ amount, price }: GasUse) => ({ maxAmount: withRoom(amount), maxPricePerUnit: priceOf(price) });
  return { tip: 0n, bounds: { l1Gas: bound(l1Gas), l2Gas: bound(l2Gas), l1DataGas: bound(l1DataGas) } };
}

/** The least that a transaction is signed for: room in amounts, none in prices. */
function neededFee({ l1Gas, l2Gas, l1DataGas }: Estimate): bigint {
  return [l1Gas, l2Gas, l1DataGas].reduce((sum, { amount, price }) => sum + withRoom(amount) * price, 0n);
}

/** Higher tip and prices than before, at least the current ones. Without an estimate the amounts stay. */
export function bumpedFee(before: Fee, estimate: Estimate | undefined): Fee {
  const fresh = estimate && firstFee(estimate).bounds;
  const bound = (resource: keyof Bounds) => {
    const { maxAmount, maxPricePerUnit } = before.bounds[resource];
    return {
      maxAmount: fresh?.[resource].maxAmount ?? maxAmount,
      maxPricePerUnit: max(bumped(maxPricePerUnit), fresh?.[resource].maxPricePerUnit ?? 0n),
    };
  };
  const bounds = { l1Gas: bound('l1Gas'), l2Gas: bound('l2Gas'), l1DataGas: bound('l1DataGas') };
  return { tip: max(bumped(before.tip), bounds.l2Gas.maxPricePerUnit / PRICE_PER_TIP), bounds };
}

export function maxFeeOf({ tip, bounds: { l1Gas, l2Gas, l1DataGas } }: Fee): bigint {
  const most = ({ maxAmount, maxPricePerUnit }: ResourceBounds) => maxAmount * maxPricePerUnit;
  return most(l1Gas) + most(l2Gas) + most(l1DataGas) + l2Gas.maxAmount * tip;
}

export function covers({ bounds }: Fee, estimate: Estimate): boolean {
  return (['l1Gas', 'l2Gas', 'l1DataGas'] as const).every(
    (resource) =>
      estimate[resource].amount <= bounds[resource].maxAmount &&
      estimate[resource].price <= bounds[resource].maxPricePerUnit,
  );
}

export function feeOf({ tip, resource_bounds }: RawInvoke): Fee {
  const bound = ({ max_amount, max_price_per_unit }: RawInvoke['resource_bounds']['l1_gas']) => ({
    maxAmount: BigInt(max_amount),
    maxPricePerUnit: BigInt(max_price_per_unit),
  });
  const { l1_gas, l2_gas, l1_data_gas } = resource_bounds;
  return { tip: BigInt(tip), bounds: { l1Gas: bound(l1_gas), l2Gas: bound(l2_gas), l1DataGas: bound(l1_data_gas) } };
}

const max = (a: bigint, b: bigint): bigint => (a > b ? a : b);
const min = (a: bigint, b: bigint): bigint => (a < b ? a : b);

const FAILS: readonly number[] = [40, 41, 55];
export const INVALID_NONCE = 52;
/** Wording of Pathfinder and Juno, and of devnet. A contract's text is in quotes. */
const NONCE_WORDS = /^[^'"]*(?:invalid transaction nonce|transaction nonce is invalid)/i;
/** Nodes estimate for any unused nonce; one far ahead stays valid while others land. */
const AHEAD = 1_000n;
/** A transaction that lands between reading the nonce and the estimate takes the nonce. */
const MAX_NONCE_READS = 10;

export async function requireEstimate(chain: StarknetChain, transaction: Transaction): Promise<Estimate> {
  const estimate = await estimateFee(chain, transaction);
  if (estimate.ok) return estimate;
  throw new ApiError('transaction_reverted', `The transaction would revert, so it was not sent: ${estimate.reason}`);
}

export async function estimateFee(chain: StarknetChain, transaction: Transaction): Promise<Estimate | Refusal> {
  let estimate = await chain.estimate(unsigned({ ...transaction, nonce: transaction.nonce + AHEAD }));
  for (let reads = 0; reads < MAX_NONCE_READS && isAboutNonce(estimate); reads += 1) {
    estimate = await estimateNow(chain, transaction);
  }
  if (estimate.ok || (FAILS.includes(estimate.code) && !isAboutNonce(estimate))) return estimate;
  const cause = new Error(`The fee could not be estimated (${estimate.code}): ${estimate.reason}`);
  throw new ChainUnavailableError('STARKNET', { cause });
}

async function estimateNow(chain: StarknetChain, transaction: Transaction): Promise<Estimate | Refusal> {
  const nonce = await chain.nonceAt(transaction.sender, 'pre_confirmed');
  return chain.estimate(unsigned({ ...transaction, nonce: nonce ?? transaction.nonce }));
}

function isAboutNonce(answer: Estimate | Refusal): boolean {
  return !answer.ok && (answer.code === INVALID_NONCE || NONCE_WORDS.test(answer.reason));
}

/** Sequencers accept 5,000; some networks slightly fewer. */
const MAX_CALLDATA_FELTS = 4_500;
const FRI_PER_STRK = 10n ** 18n;
const SHOWN_DECIMALS = 4;

export function requireCalldataLimit(calls: readonly Call[]): void {
  const felts = encodeCalls(calls).length;
  if (felts <= MAX_CALLDATA_FELTS) return;
  const message = `The transaction has ${felts} felts of calldata, and the chain takes ${MAX_CALLDATA_FELTS} at most. Split its calls.`;
  throw new ApiError('invalid_request', message);
}

/** Bounds what is signed: estimated fees are lower. */
export function requireFee(estimate: Estimate, maxFeeFri: bigint | undefined): Fee {
  const needed = neededFee(estimate);
  if (maxFeeFri === undefined || needed <= maxFeeFri) return firstFee(estimate, maxFeeFri);
  const message = `The transaction may cost ${strk(needed)} STRK of gas, and this deployment pays ${strk(maxFeeFri)} STRK at most.`;
  throw new ApiError('fee_too_high', message);
}

function strk(fri: bigint): string {
  const fraction = String(fri % FRI_PER_STRK).padStart(18, '0');
  return `${fri / FRI_PER_STRK}.${fraction.slice(0, SHOWN_DECIMALS)}`;
}

const NOT_UNIQUE = 0n;

/** Without a signature there is nothing to execute: the account is deployed alone. */
export function relayedCalls({ account, deployment, execution, signature, poolFee }: Sponsorship): Call[] {
  const execute = {
    to: account,
    selector: selector('execute_from_outside_v2'),
    calldata: encodeOutsideExecution(execution, signature),
  };
  const paid = poolFee ? [poolFee.payment] : [];
  if (!deployment) return [...paid, execute];
  const { classHash, salt, constructorCalldata } = deployment;
  const calldata = [classHash, salt, NOT_UNIQUE, ...encodeArray(constructorCalldata)];
  const deploy = { to: UDC_ADDRESS, selector: selector('deploy_contract'), calldata };
  return signature.length === 0 ? [deploy] : [...paid, deploy, execute];
}

export function fillerCalls(account: bigint, strk: bigint): Call[] {
  return [{ to: strk, selector: selector('transfer'), calldata: [account, 0n, 0n] }];
}

export interface RelayOrder {
  readonly environment: Environment;
  readonly chainId: bigint;
  readonly kind: RelayKind;
  readonly keys: readonly RelayerKey[];
  readonly purpose: string;
  readonly messageHash: bigint;
  readonly wallet: bigint;
  readonly notAfter: Date;
  readonly calls: readonly Call[];
  readonly fee: Fee;
  readonly poolFri?: bigint | undefined;
  readonly user?: SponsoredUser | undefined;
  readonly traceparent?: string | undefined;
}

type StoreDeps = Pick<RelayerDeps, 'db' | 'crypto' | 'now' | 'sponsorLimits'>;

export interface CreatedRelay {
  readonly id: string;
  readonly account: string;
  readonly signed: SignedInvoke;
}

/** If this process dies before it sends, the worker sends after this delay. */
const SEND_AFTER_CRASH_MS = 3_000;

/** Constraints and deadlocks. */
const ROW_CONFLICT = /^(23|40)/;

class DuplicateRelayError extends Error {
  override readonly name = 'DuplicateRelayError';
}

/** What a request wants to be stored, and the rows of its own that are stored with it. */
export interface RelayToStore {
  readonly order: RelayOrder;
  readonly store: StoreWithRelay;
}

/** Assigns a nonce, signs and stores in one transaction, before anything is sent. Undefined when a duplicate was stored first. */
export async function createRelay(
  deps: StoreDeps,
  order: RelayOrder,
  store: StoreWithRelay,
): Promise<CreatedRelay | undefined> {
  try {
    return (await deps.db.tx((tx) => storeRelays(tx, deps, [{ order, store }])))[0];
  } catch (error) {
    if (error instanceof DuplicateRelayError) return undefined;
    throw error;
  }
}

/** Of one organisation and environment, in one transaction. Where one of them is refused, each is stored alone. */
export async function createRelays(
  deps: StoreDeps,
  relays: readonly RelayToStore[],
): Promise<PromiseSettledResult<CreatedRelay | undefined>[]> {
  if (relays.length > 1) {
    try {
      const created = await deps.db.tx((tx) => storeRelays(tx, deps, relays));
      return created.map((value) => ({ status: 'fulfilled', value }));
    } catch (error) {
      if (!isAboutOne(error)) throw error;
    }
  }
  const results: PromiseSettledResult<CreatedRelay | undefined>[] = [];
  for (const { order, store } of relays) {
    results.push(...(await Promise.allSettled([createRelay(deps, order, store)])));
  }
  return results;
}

/** Others can be stored without it. Where the database is slow or gone, each would wait as long again. */
function isAboutOne(error: unknown): boolean {
  if (error instanceof ApiError) return true;
  if (error instanceof TenantBusyError || isDatabaseUnavailable(error)) return false;
  return error instanceof Error && (!('code' in error) || ROW_CONFLICT.test(String(error.code)));
}

async function storeRelays(tx: Db, deps: StoreDeps, relays: readonly RelayToStore[]): Promise<CreatedRelay[]> {
  const [first] = relays;
  if (!first) return [];
  const { environment, chainId, keys } = first.order;
  const now = deps.now?.() ?? Date.now();
  const accounts = keys.map(({ address }) => padAddress(address));
  const costs = relays.map(({ order }) => maxFeeOf(order.fee) + (order.poolFri ?? 0n));
  const maxFee = costs.reduce((sum, cost) => sum + cost, 0n);
  const at = new Date(now);
  // Sent together and run in this order: no account waits for a tenant's budget.
  const [shares, taken] = await Promise.all([
    reserve(tx, deps, relays, costs, at),
    takeNonces(tx, chainId, accounts, maxFee, relays.length),
  ]);
  const key = taken && keys.find(({ address }) => padAddress(address) === taken.account);
  if (!key) throw (await canPay(tx, chainId, accounts, maxFee)) ? accountsBusy() : insufficientStrk();
  const created = await Promise.all(
    relays.map(async ({ order }, index) => {
      const transaction = { chainId, sender: key.address, nonce: taken.nonce + BigInt(index), calls: order.calls };
      const signed = await signTransaction(deps.crypto, key, transaction, order.fee);
      return { id: newId('rly'), account: taken.account, signed };
    }),
  );
  const rows = created.map(({ id, account, signed }, index): NewRelay => {
    const { order } = relays[index] as RelayToStore;
    const nonce = taken.nonce + BigInt(index);
    return { ...order, id, account, nonce, attempt: 'FIRST', signed, budget: shares[index] };
  });
  const runAt = new Date(now + SEND_AFTER_CRASH_MS);
  const insert = async () => {
    const inserted = await insertRelays(tx, rows);
    if (inserted.length < relays.length) throw new DuplicateRelayError();
  };
  await sentTogether([
    insert(),
    storeRowsOf(tx, relays, created),
    enqueue(tx, relayWorkerJob(environment, chainId, taken.account, { runAt, isSent: true })),
  ]);
  return created;
}

/** In order, because one may lock what the next one looks for; those of calls are rows of their own, and are sent together. */
async function storeRowsOf(tx: Db, relays: readonly RelayToStore[], created: readonly CreatedRelay[]): Promise<void> {
  const storing = relays.map(({ order, store }, index) => {
    const { id, signed } = created[index] as CreatedRelay;
    return { order, run: () => store(tx, { id, hash: signed.hash }) };
  });
  await Promise.all(storing.map(({ order, run }) => (order.kind === 'calls' ? run() : undefined)));
  for (const { order, run } of storing) if (order.kind !== 'calls') await run();
}

/** Undefined for those that count on no budget. */
async function reserve(
  tx: Db,
  { sponsorLimits }: StoreDeps,
  relays: readonly RelayToStore[],
  costs: readonly bigint[],
  at: Date,
): Promise<(BudgetShare | undefined)[]> {
  const budgets = relays.map(({ order: { environment, kind, user } }, index): Budget | undefined => {
    const { organizationId, externalUserId } = user ?? {};
    if (organizationId === undefined || externalUserId === undefined) return undefined;
    return { organizationId, externalUserId, environment, kind, fri: costs[index] ?? 0n, at };
  });
  const [first] = relays;
  const limits = (first && sponsorLimits?.(first.order.environment)) ?? NO_LIMITS;
  await reserveBudgets(
    tx,
    limits,
    budgets.filter((budget) => budget !== undefined),
  );
  return budgets.map((budget) => budget && { day: dayOf(at), fri: budget.fri });
}

export function accountsBusy(): ApiError {
  return new ApiError(
    'chain_unavailable',
    'The accounts that pay for gas have too much under way. Nothing was stored or sent. Try again later.',
  );
}

function insufficientStrk(): ApiError {
  return new ApiError(
    'chain_unavailable',
    'The accounts that pay for gas lack STRK for this. Nothing was stored or sent. Try again when the operator has sent more.',
  );
}
