import { ApiError, type Environment } from '@svc/protocol';
import { type Call, type OutsideExecution, selector, starkKey, toHex } from '@svc/starknet';
import { type Database, type Db, type Sql, sentTogether, sql } from '@svc/store';
import type { Networks } from '../chains/networks.ts';
import { padAddress, type Receipt, type StarknetChain } from '../chains/starknet/chain.ts';
import { enqueue } from '../jobs/job.ts';
import { ID_BITS, idFromBits, idToBits } from '../util/ids.ts';
import { createAccountPool, type ReadyAccount, type RelayerDeps, type RelayerKey, signingKeyOf } from './accounts.ts';
import {
  type CreatedRelay,
  createRelay,
  estimateFee,
  type Fee,
  INVALID_NONCE,
  requireCalldataLimit,
  requireFee,
} from './invoke.ts';
import type { StoreWithRelay } from './relay.ts';
import {
  type AttemptKind,
  findRelayByPurpose,
  markMissing,
  markSent,
  NO_DEADLINE,
  offerAttempt,
  relayWorkerJob,
} from './relay-store.ts';
import { requireReconciled } from './unknown-nonces.ts';

/**
 * Names on chain what a payment is for: a call of `balanceOf` right after the payment's own, with the ids as the address. It moves
 * nothing, every token has it, and every node shows the calldata. After a restore it tells what was paid.
 */
export interface PaymentMarker {
  readonly kind: MarkedKind;
  /** Of the redeem, or of the refunded purchase. */
  readonly id: string;
  readonly giftId?: string | undefined;
}

export type MarkedKind = 'payout' | 'burn' | 'refund';

/** Above both ids there is room for 0 to 6: an address is below 2²⁵¹ − 256. */
const KINDS: readonly (MarkedKind | undefined)[] = [undefined, 'payout', 'burn', 'refund'];
const MARKER = selector('balanceOf');

/** No call where an id has another form. */
export function markerCalls(token: bigint, { kind, id, giftId }: PaymentMarker): Call[] {
  const [own, gift] = [idToBits(id), giftId === undefined ? 0n : idToBits(giftId)];
  if (own === undefined || gift === undefined) return [];
  const felt = (((BigInt(KINDS.indexOf(kind)) << ID_BITS) | gift) << ID_BITS) | own;
  return [{ to: token, selector: MARKER, calldata: [felt] }];
}

export function readMarker({ selector: called, calldata }: Call): PaymentMarker | undefined {
  const [felt, ...rest] = calldata;
  if (called !== MARKER || felt === undefined || rest.length > 0) return undefined;
  const kind = KINDS[Number(felt >> (2n * ID_BITS))];
  const own = BigInt.asUintN(Number(ID_BITS), felt);
  const gift = BigInt.asUintN(Number(ID_BITS), felt >> ID_BITS);
  if (kind === undefined || own === 0n || (kind === 'refund') !== (gift === 0n)) return undefined;
  if (kind === 'refund') return { kind, id: idFromBits('txn', own) };
  return { kind, id: idFromBits('rdm', own), giftId: idFromBits('gift', gift) };
}

/** A transfer of the account, or a burn, as its calls say. */
export interface FoundPayment {
  readonly token: bigint;
  readonly to: bigint;
  readonly amount: bigint;
  readonly marker: PaymentMarker | undefined;
}

const TRANSFER = selector('transfer');
const APPROVE = selector('approve');
const WORD_BITS = 128n;

/** The marker follows the transfer; of a burn, the burn that follows the approval. */
export function paymentsIn(calls: readonly Call[]): FoundPayment[] {
  return calls.flatMap(({ to: token, selector: called, calldata: [to, low, high, ...rest] }, index) => {
    const takes = called === TRANSFER ? 1 : called === APPROVE && calls[index + 1]?.to === to ? 2 : undefined;
    if (takes === undefined || to === undefined || low === undefined || high === undefined || rest.length > 0)
      return [];
    const next = calls[index + takes];
    const marker = next?.to === token ? readMarker(next) : undefined;
    return [{ token, to, amount: low + (high << WORD_BITS), marker }];
  });
}

export interface PayOrder {
  readonly environment: Environment;
  readonly kind: 'payout' | 'burn' | 'refund';
  readonly purpose: string;
  readonly calls: readonly Call[];
}

export type PayAnswer =
  | { readonly ok: true; readonly relayId: string; readonly hash: bigint }
  | { readonly ok: false; readonly reason: string };

export interface Payer {
  manager(environment: Environment): bigint;
  /** Of the key that owns the deposit addresses; undefined where no account pays out. */
  publicKey(environment: Environment): bigint | undefined;
  /** Signs for a deposit address. */
  signExecution(environment: Environment, account: bigint, execution: OutsideExecution): Promise<ManagerSignature>;
  /**
   * Signs, stores with `store` in one transaction, and sends; the relay worker continues. A payment that would revert is refused
   * without being stored, as with an `ApiError` (`chain_unavailable`, `fee_too_high`, `invalid_request`). A known purpose answers
   * the first payment. An `UnreconciledError` while the chain has transactions of the manager that the database does not know.
   */
  pay(order: PayOrder, store: StoreWithRelay): Promise<PayAnswer>;
  /** Throws an `UnreconciledError` while payments are stopped. */
  requireReconciled(environment: Environment): Promise<void>;
  isFailureFinal(environment: Environment, relayId: string): Promise<boolean>;
}

interface ManagerSignature {
  readonly messageHash: bigint;
  readonly signature: readonly bigint[];
}

type PayerDeps = Omit<RelayerDeps, 'keys'>;

export function createPayer(deps: PayerDeps): Payer {
  const accounts = createAccountPool('MANAGER_ACCOUNT');
  // Deriving one takes milliseconds.
  const publicKeys = new Map<bigint, bigint>();
  const keyOf = (environment: Environment) => deps.managerKey?.(environment) ?? noManager(environment);
  const ownerOf = (environment: Environment, key: RelayerKey) => deps.depositKey?.(environment) ?? signingKeyOf(key);
  const readyAccount = async (environment: Environment): Promise<ReadyAccount> => {
    const { chain } = deps.networks.starknet(environment);
    const key = keyOf(environment);
    const account = await accounts.ready(deps.db, chain, [key]);
    await requireReconciled(deps.db.reads, chain.chainId, padAddress(key.address));
    return account;
  };
  return {
    manager: (environment) => keyOf(environment).address,
    publicKey(environment) {
      const key = deps.managerKey?.(environment);
      if (!key) return undefined;
      const owner = ownerOf(environment, key);
      if (typeof owner !== 'bigint') return owner.publicKey;
      const publicKey = publicKeys.get(owner) ?? starkKey(owner);
      publicKeys.set(owner, publicKey);
      return publicKey;
    },
    async signExecution(environment, account, execution) {
      const key = keyOf(environment);
      if (account === key.address) throw new Error('The manager signs transactions of its own account itself.');
      const { chainId } = deps.networks.starknet(environment).chain;
      const { hash, signature } = await deps.crypto.signExecution(
        execution,
        account,
        chainId,
        ownerOf(environment, key),
      );
      return { messageHash: hash, signature };
    },
    async pay(order, store) {
      const { chain } = deps.networks.starknet(order.environment);
      // Read together. Of a payment that is known the account does not matter.
      const ready = readyAccount(order.environment);
      ready.catch(() => {});
      const known = await findPayment(deps, chain, order.purpose);
      if (known) return known;
      const key = keyOf(order.environment);
      const priced = await priceOf(deps, chain, await ready, order.calls);
      if (!priced.ok) return priced;
      const storeChecked: StoreWithRelay = (tx, relay) =>
        // Again under the lock on the nonce, which is held where an unknown transaction is recorded.
        sentTogether([requireReconciled(tx, chain.chainId, padAddress(key.address)), store(tx, relay)]);
      const stored = await storeOrder(deps, chain, key, { ...order, fee: priced.fee }, storeChecked);
      if (stored) return send(deps, order.environment, stored);
      const duplicate = await findPayment(deps, chain, order.purpose);
      if (!duplicate) throw new Error(`The payment ${order.purpose} could not be stored.`);
      return duplicate;
    },
    async requireReconciled(environment) {
      await readyAccount(environment);
    },
    isFailureFinal: (environment, relayId) =>
      isFailureFinal(deps.db, deps.networks.starknet(environment).chain, relayId),
  };
}

async function findPayment(
  { db }: PayerDeps,
  { chainId }: StarknetChain,
  purpose: string,
): Promise<PayAnswer | undefined> {
  const known = await findRelayByPurpose(db.reads, chainId, purpose);
  if (known?.hash === undefined) return undefined;
  return { ok: true, relayId: known.id, hash: known.hash };
}

async function priceOf(
  { maxFeeFri }: PayerDeps,
  chain: StarknetChain,
  { sender, nonce }: ReadyAccount,
  calls: readonly Call[],
): Promise<{ readonly ok: true; readonly fee: Fee } | { readonly ok: false; readonly reason: string }> {
  requireCalldataLimit(calls);
  const estimate = await estimateFee(chain, { chainId: chain.chainId, sender, nonce, calls });
  if (!estimate.ok) return { ok: false, reason: estimate.reason };
  return { ok: true, fee: requireFee(estimate, maxFeeFri) };
}

function storeOrder(
  deps: PayerDeps,
  { chainId }: StarknetChain,
  key: RelayerKey,
  order: PayOrder & { readonly fee: Fee },
  store: StoreWithRelay,
): Promise<CreatedRelay | undefined> {
  const about = { chainId, keys: [key], wallet: key.address, messageHash: 0n, notAfter: NO_DEADLINE };
  return createRelay(deps, { ...order, ...about }, store);
}

/** It is stored: where sending fails, the relay worker sends it again. */
async function send(
  { db, networks }: PayerDeps,
  environment: Environment,
  { id, account, signed }: CreatedRelay,
): Promise<PayAnswer> {
  const { chain } = networks.starknet(environment);
  const sent = await offerAttempt(db, chain, id, signed);
  const isSent = sent.outcome === 'sent';
  // The nonce may be used by an unknown transaction: no other payment is made until the relay worker has seen.
  if (sent.outcome === 'refused' && sent.code === INVALID_NONCE) await markMissing(db, id);
  // On two connections, which wait for the disk together. A worker that comes first reads the receipt before the mark.
  await Promise.all([
    isSent && markSent(db, chain.chainId, [{ id, hash: signed.hash }]),
    enqueue(db, relayWorkerJob(environment, chain.chainId, account, { isSent })),
  ]);
  return { ok: true, relayId: id, hash: signed.hash };
}

function noManager(environment: Environment): never {
  const message = `No account of this deployment pays out in ${environment}. Its operator sets MANAGER_ACCOUNT.`;
  throw new ApiError('chain_not_configured', message);
}

interface Row {
  readonly account: string;
  readonly nonce: bigint;
  readonly block_number: bigint | null;
  readonly attempts: readonly { readonly hash: string; readonly kind: AttemptKind }[];
}

/**
 * Whether an unexecuted relay can never be executed any more. All its transactions share one nonce, so it is certain once a block
 * accepted on L1 has consumed that nonce for a reverted transaction, a filler or a foreign transaction.
 */
async function isFailureFinal(db: Db, chain: StarknetChain, relayId: string): Promise<boolean> {
  const relay = await findEnded(db, chain.chainId, relayId);
  if (!relay) return false;
  const last = await chain.block('l1_accepted');
  if (!last) return false;
  const used = await chain.nonceAt(BigInt(relay.account), last.number);
  if (used === undefined || used <= relay.nonce) return false;
  for (const { hash, kind } of relay.attempts) {
    const receipt = await chain.receipt(BigInt(hash));
    if (receipt) return isUnexecuted(receipt, kind) && isFinal(receipt, last.number);
  }
  return relay.block_number === null;
}

function findEnded(db: Db, chainId: bigint, relayId: string): Promise<Row | undefined> {
  return db.one<Row>(sql`
    select account, nonce, block_number, (
             select json_agg(json_build_object('hash', hash, 'kind', kind))
               from relay_attempts where relay_id = relays.id and kind <> 'OTHER') as attempts
      from relays
     where id = ${relayId} and chain_id = ${toHex(chainId)} and account is not null and state in ('REVERTED', 'VOIDED')`);
}

const isUnexecuted = ({ status }: Receipt, kind: AttemptKind): boolean => status === 'REVERTED' || kind === 'FILLER';

const isFinal = ({ accepted, blockNumber }: Receipt, last: number): boolean =>
  accepted && blockNumber !== undefined && blockNumber <= last;

interface ManagerFundsDeps {
  readonly db: Database;
  readonly networks: Pick<Networks, 'starknet'>;
  readonly payer: Payer;
}

interface Account {
  readonly chainId: string;
  readonly address: string;
}

/** The balance at one moment, and the stored payments that may not be deducted from it yet. */
export interface ManagerFunds {
  readonly environment: Environment;
  readonly account: Account;
  readonly token: bigint;
  readonly balance: bigint;
  /** Payouts, burns with their fee, and refunds. */
  readonly pending: bigint;
  readonly pendingRelays: readonly string[];
  /** Payments that are stored later have this nonce or a higher one. */
  readonly nextNonce: bigint;
}

export type FundedPayAnswer =
  | Extract<PayAnswer, { ok: true }>
  | { readonly ok: false; readonly cause: 'INSUFFICIENT_FUNDS' | 'WOULD_REVERT'; readonly reason: string };

/** Reads pending payments before the balance: one executed in between counts twice for seconds, and is never missed. */
export async function readManagerFunds(
  { db, networks, payer }: ManagerFundsDeps,
  environment: Environment,
  token: bigint,
): Promise<ManagerFunds> {
  const { chain } = networks.starknet(environment);
  const manager = payer.manager(environment);
  const account = { chainId: toHex(chain.chainId), address: padAddress(manager) };
  const {
    amount: pending,
    relays: pendingRelays,
    nextNonce,
  } = await readSpending(db, account, token, openRelays(account));
  const balance = await chain.balanceOf(token, manager, 'pre_confirmed');
  return { environment, account, token, balance, pending, pendingRelays, nextNonce };
}

export const availableFunds = ({ balance, pending }: ManagerFunds): bigint => balance - pending;

/** Only where the balance covers it besides everything pending, checked under the lock on the manager's nonce. */
export async function payFromFunds(
  deps: ManagerFundsDeps,
  funds: ManagerFunds,
  order: PayOrder,
  store: StoreWithRelay,
): Promise<FundedPayAnswer> {
  try {
    const answer = await deps.payer.pay(order, (tx, relay) =>
      sentTogether([requireFunds(tx, funds), store(tx, relay)]),
    );
    if (answer.ok) return answer;
    const cause = (await isCovered(deps, funds, order.calls)) ? 'WOULD_REVERT' : 'INSUFFICIENT_FUNDS';
    return { ok: false, cause, reason: answer.reason };
  } catch (error) {
    if (!(error instanceof InsufficientFundsError)) throw error;
    return { ok: false, cause: 'INSUFFICIENT_FUNDS', reason: error.message };
  }
}

class InsufficientFundsError extends Error {
  override readonly name = 'InsufficientFundsError';
}

async function requireFunds(tx: Db, funds: ManagerFunds): Promise<void> {
  const missing = (await spendingSince(tx, funds)) - funds.balance;
  if (missing > 0n) throw new InsufficientFundsError(`The manager lacks ${missing} units for it.`);
}

/** False where the refusal of an estimate may be for lack of funds alone, before or after what was stored in between. */
async function isCovered(deps: ManagerFundsDeps, funds: ManagerFunds, calls: readonly Call[]): Promise<boolean> {
  const amount = spendingOf(calls, funds.token);
  if ((await spendingSince(deps.db, funds)) + amount > funds.balance) return false;
  return availableFunds(await readManagerFunds(deps, funds.environment, funds.token)) >= amount;
}

/** Everything that `balance` may still contain although it is spent. */
async function spendingSince(db: Db, { account, token, pendingRelays, nextNonce }: ManagerFunds): Promise<bigint> {
  const since = sql`
    select id from relays where id = any (${pendingRelays})
    union ${openRelays(account)}
    union select id from relays
     where chain_id = ${account.chainId} and account = ${account.address} and nonce >= ${nextNonce}::bigint`;
  return (await readSpending(db, account, token, since)).amount;
}

const openRelays = ({ chainId, address }: Account): Sql => sql`
  select id from relays where chain_id = ${chainId} and account = ${address} and state in ('STORED', 'SENT')`;

/** A burn approves exactly what its second call takes. Both have the calldata `[address, low, high]`. */
const SPENDING_SELECTORS: readonly bigint[] = [TRANSFER, APPROVE];

export function spendingOf(calls: readonly Call[], token: bigint): bigint {
  return calls
    .filter((call) => call.to === token && SPENDING_SELECTORS.includes(call.selector))
    .reduce((sum, { calldata: [, low = 0n, high = 0n] }) => sum + low + (high << WORD_BITS), 0n);
}

interface SpendingRow {
  readonly next: bigint;
  readonly low: string | null;
  readonly high: string | null;
  readonly count: bigint;
  readonly relays: readonly string[];
}

interface Spending {
  readonly amount: bigint;
  readonly relays: readonly string[];
  /** At the same moment. */
  readonly nextNonce: bigint;
}

/** Amounts repeat, so rows are few. PostgreSQL 15 cannot read hexadecimal numbers of this size. */
async function readSpending(db: Db, { chainId, address }: Account, token: bigint, relayIds: Sql): Promise<Spending> {
  const rows = await db.rows<SpendingRow>(sql`
    with spending as (
      select call -> 'calldata' ->> 1 as low, call -> 'calldata' ->> 2 as high, count(*) as count,
             array_agg(distinct relays.id) as relays
        from relays
        left join lateral jsonb_array_elements(content -> 'calls') as call
          on call ->> 'to' = ${toHex(token)} and call ->> 'selector' = any (${SPENDING_SELECTORS.map(toHex)})
       where relays.id in (${relayIds})
       group by low, high
    )
    select next, low, high, coalesce(count, 0) as count, coalesce(relays, '{}') as relays
      from (
        select coalesce(max(nonce) + 1, 0) as next from relays where chain_id = ${chainId} and account = ${address}
      ) as own
      left join spending on true`);
  const amountOf = ({ low, high, count }: SpendingRow) => count * (BigInt(low ?? 0) + (BigInt(high ?? 0) << WORD_BITS));
  const amount = rows.reduce((sum, row) => sum + amountOf(row), 0n);
  const relays = [...new Set(rows.flatMap((row) => row.relays))];
  return { amount, relays, nextNonce: rows[0]?.next ?? 0n };
}
