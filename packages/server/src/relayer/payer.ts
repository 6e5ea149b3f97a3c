import { ApiError, type Environment } from '@svc/protocol';
import type { Call } from '@svc/starknet';
import type { StarknetChain } from '../chains/starknet/chain.ts';
import { enqueue } from '../jobs/enqueue.ts';
import { createReadyAccounts, type ReadyAccounts } from './accounts-ready.ts';
import { sendAttempt } from './attempts.ts';
import { estimateOrRefusal } from './estimate.ts';
import { type Fee, firstFee } from './fees.ts';
import { findRelayByPurpose } from './find-relay.ts';
import { NEVER_OVER } from './give-up.ts';
import { isOverForGood } from './over-for-good.ts';
import type { RelayerKey, RelayerParts } from './parts.ts';
import { refuseTooDear, refuseTooLarge } from './refusals.ts';
import type { StoreWithRelay } from './sponsor.ts';
import { type StoredFirst, storeFirst } from './store-first.ts';
import { tenderJob } from './tender-job.ts';

/** A transaction of the account that holds the service's own money. */
export interface PayOrder {
  readonly environment: Environment;
  readonly kind: 'payout' | 'burn' | 'refund';
  /** What must not happen twice. */
  readonly purpose: string;
  readonly calls: readonly Call[];
}

export type PayAnswer =
  | { readonly ok: true; readonly relayId: string; readonly hash: bigint }
  | { readonly ok: false; readonly reason: string };

export interface Payer {
  /** The account that pays out; `chain_not_configured` where there is none. */
  manager(environment: Environment): bigint;
  /**
   * What would revert is refused, and nothing is stored. Everything else gets a nonce, is signed and stored with `store` in one
   * transaction, and then sent; the tender looks after it from there on. The same purpose again answers the first. `ApiError`s
   * (`chain_unavailable`, `fee_too_high`, `invalid_request`) mean that nothing was stored.
   */
  pay(order: PayOrder, store: StoreWithRelay): Promise<PayAnswer>;
  /** Whether a payment ended without being executed, and no reorganisation can change that any more. */
  isOverForGood(environment: Environment, relayId: string): Promise<boolean>;
}

export type PayerParts = Omit<RelayerParts, 'keys'>;

export function createPayer(parts: PayerParts): Payer {
  const accounts = createReadyAccounts('MANAGER_ACCOUNT');
  const keyOf = (environment: Environment) => parts.managerKey?.(environment) ?? noManager(environment);
  return {
    manager: (environment) => keyOf(environment).address,
    async pay(order, store) {
      const { chain } = parts.networks.starknet(order.environment);
      const known = await answerKnown(parts, chain, order.purpose);
      if (known) return known;
      const key = keyOf(order.environment);
      const priced = await priceOf(parts, accounts, chain, key, order.calls);
      if (!priced.ok) return priced;
      const stored = await storeOrder(parts, chain, key, { ...order, fee: priced.fee }, store);
      if (stored) return send(parts, order.environment, stored);
      const twin = await answerKnown(parts, chain, order.purpose);
      if (!twin) throw new Error(`The payment ${order.purpose} could not be stored.`);
      return twin;
    },
    isOverForGood: (environment, relayId) =>
      isOverForGood(parts.db, parts.networks.starknet(environment).chain, relayId),
  };
}

async function answerKnown(
  { db }: PayerParts,
  { chainId }: StarknetChain,
  purpose: string,
): Promise<PayAnswer | undefined> {
  const known = await findRelayByPurpose(db.reads, chainId, purpose);
  if (known?.hash === undefined) return undefined;
  return { ok: true, relayId: known.id, hash: known.hash };
}

async function priceOf(
  { db, maxFeeFri }: PayerParts,
  accounts: ReadyAccounts,
  chain: StarknetChain,
  key: RelayerKey,
  calls: readonly Call[],
): Promise<{ readonly ok: true; readonly fee: Fee } | { readonly ok: false; readonly reason: string }> {
  refuseTooLarge(calls);
  const { sender, nonce } = await accounts.ready(db, chain, [key]);
  const estimate = await estimateOrRefusal(chain, { chainId: chain.chainId, sender, nonce, calls });
  if (!estimate.ok) return { ok: false, reason: estimate.reason };
  refuseTooDear(estimate, maxFeeFri);
  return { ok: true, fee: firstFee(estimate) };
}

function storeOrder(
  parts: PayerParts,
  { chainId }: StarknetChain,
  key: RelayerKey,
  order: PayOrder & { readonly fee: Fee },
  store: StoreWithRelay,
): Promise<StoredFirst | undefined> {
  const about = { chainId, keys: [key], wallet: key.address, messageHash: 0n, notAfter: NEVER_OVER };
  return storeFirst(parts, { ...order, ...about }, store);
}

/** Whatever comes of sending, it is stored: what no node has taken is sent again by the tender. */
async function send(
  { db, networks }: PayerParts,
  environment: Environment,
  { id, account, signed }: StoredFirst,
): Promise<PayAnswer> {
  const { chain } = networks.starknet(environment);
  await sendAttempt(db, chain, id, signed);
  await enqueue(db, tenderJob(environment, chain.chainId, account));
  return { ok: true, relayId: id, hash: signed.hash };
}

function noManager(environment: Environment): never {
  const message = `No account of this deployment pays out in ${environment}. Its operator sets MANAGER_ACCOUNT.`;
  throw new ApiError('chain_not_configured', message);
}
