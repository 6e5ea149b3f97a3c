import { ApiError, type Environment } from '@svc/protocol';
import { type Call, type OutsideExecution, starkKey, toHex } from '@svc/starknet';
import { type Db, sql } from '@svc/store';
import { padAddress, type Receipt, type StarknetChain } from '../chains/starknet/chain.ts';
import { enqueue } from '../jobs/job.ts';
import { type AccountPool, createAccountPool, type RelayerDeps, type RelayerKey, signingKeyOf } from './accounts.ts';
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
  NO_DEADLINE,
  relayWorkerJob,
  sendAttempt,
} from './relay-store.ts';
import { requireReconciled } from './unknown-nonces.ts';

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

export interface ManagerSignature {
  readonly messageHash: bigint;
  readonly signature: readonly bigint[];
}

export type PayerDeps = Omit<RelayerDeps, 'keys'>;

export function createPayer(deps: PayerDeps): Payer {
  const accounts = createAccountPool('MANAGER_ACCOUNT');
  // Deriving one takes milliseconds.
  const publicKeys = new Map<bigint, bigint>();
  const keyOf = (environment: Environment) => deps.managerKey?.(environment) ?? noManager(environment);
  const ownerOf = (environment: Environment, key: RelayerKey) => deps.depositKey?.(environment) ?? signingKeyOf(key);
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
      const known = await findPayment(deps, chain, order.purpose);
      if (known) return known;
      const key = keyOf(order.environment);
      const priced = await priceOf(deps, accounts, chain, key, order.calls);
      if (!priced.ok) return priced;
      const storeChecked: StoreWithRelay = async (tx, relay) => {
        // Again under the lock on the nonce, which is held where an unknown transaction is recorded.
        await requireReconciled(tx, chain.chainId, padAddress(key.address));
        await store(tx, relay);
      };
      const stored = await storeOrder(deps, chain, key, { ...order, fee: priced.fee }, storeChecked);
      if (stored) return send(deps, order.environment, stored);
      const duplicate = await findPayment(deps, chain, order.purpose);
      if (!duplicate) throw new Error(`The payment ${order.purpose} could not be stored.`);
      return duplicate;
    },
    async requireReconciled(environment) {
      const { chain } = deps.networks.starknet(environment);
      const key = keyOf(environment);
      await accounts.ready(deps.db, chain, [key]);
      await requireReconciled(deps.db.reads, chain.chainId, padAddress(key.address));
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
  { db, maxFeeFri }: PayerDeps,
  accounts: AccountPool,
  chain: StarknetChain,
  key: RelayerKey,
  calls: readonly Call[],
): Promise<{ readonly ok: true; readonly fee: Fee } | { readonly ok: false; readonly reason: string }> {
  requireCalldataLimit(calls);
  const { sender, nonce } = await accounts.ready(db, chain, [key]);
  await requireReconciled(db.reads, chain.chainId, padAddress(sender));
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
  const sent = await sendAttempt(db, chain, id, signed);
  // The nonce may be used by an unknown transaction: no other payment is made until the relay worker has seen.
  if (sent.outcome === 'refused' && sent.code === INVALID_NONCE) await markMissing(db, id);
  await enqueue(db, relayWorkerJob(environment, chain.chainId, account, { isSent: sent.outcome === 'sent' }));
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
export async function isFailureFinal(db: Db, chain: StarknetChain, relayId: string): Promise<boolean> {
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
