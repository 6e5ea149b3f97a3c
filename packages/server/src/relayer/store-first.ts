import { ApiError, type Environment } from '@svc/protocol';
import type { Call } from '@svc/starknet';
import type { Db } from '@svc/store';
import type { SignedInvoke } from '../chains/starknet/chain.ts';
import { enqueue } from '../jobs/enqueue.ts';
import { canPay, takeNonce } from './accounts.ts';
import { type Fee, maxFeeOf } from './fees.ts';
import type { RelayerKey, RelayerParts } from './parts.ts';
import { signTransaction } from './sign.ts';
import { padded } from './spelling.ts';
import type { RelayKind, StoreWithRelay } from './sponsor.ts';
import { insertRelay } from './store-relay.ts';
import { tenderJob } from './tender-job.ts';

/** What the first transaction of a relay is made of. */
export interface FirstOrder {
  readonly environment: Environment;
  readonly chainId: bigint;
  readonly kind: RelayKind;
  /** The accounts that may send it. */
  readonly keys: readonly RelayerKey[];
  readonly purpose: string;
  readonly messageHash: bigint;
  readonly wallet: bigint;
  readonly notAfter: Date;
  readonly calls: readonly Call[];
  readonly fee: Fee;
}

type StoreParts = Pick<RelayerParts, 'db' | 'crypto' | 'now'>;

export interface StoredFirst {
  readonly id: string;
  readonly account: string;
  readonly signed: SignedInvoke;
}

/** Should this process die before it sends, the tender begins after so long; sooner it would only do the same twice. */
const SAFETY_NET_MS = 3_000;

/** Rolls the transaction back: what was to be stored is there already. */
class TwinError extends Error {
  override readonly name = 'TwinError';
}

/**
 * Gives it a nonce, signs it, and stores it with everything that belongs to it, in one transaction. Nothing is sent before that is
 * done. Undefined when a twin was faster.
 */
export async function storeFirst(
  parts: StoreParts,
  order: FirstOrder,
  store: StoreWithRelay,
): Promise<StoredFirst | undefined> {
  try {
    return await parts.db.tx((tx) => storeIn(tx, parts, order, store));
  } catch (error) {
    if (error instanceof TwinError) return undefined;
    throw error;
  }
}

async function storeIn(tx: Db, parts: StoreParts, order: FirstOrder, store: StoreWithRelay): Promise<StoredFirst> {
  const { environment, chainId, keys, calls } = order;
  const now = parts.now?.() ?? Date.now();
  const accounts = keys.map(({ address }) => padded(address));
  const maxFee = maxFeeOf(order.fee);
  const taken = await takeNonce(tx, chainId, accounts, maxFee);
  const key = taken && keys.find(({ address }) => padded(address) === taken.account);
  if (!key) throw (await canPay(tx, chainId, accounts, maxFee)) ? allBusy() : allPoor();
  const transaction = { chainId, sender: key.address, nonce: taken.nonce, calls };
  const signed = await signTransaction(parts.crypto, key, transaction, order.fee);
  const { kind, purpose, messageHash, wallet, notAfter } = order;
  const about = { environment, chainId, kind, purpose, messageHash, wallet, notAfter };
  const place = { account: taken.account, nonce: taken.nonce, calls, attempt: 'FIRST', signed } as const;
  const id = await insertRelay(tx, { ...about, ...place });
  if (id === undefined) throw new TwinError();
  await store(tx, { id, hash: signed.hash });
  await enqueue(tx, tenderJob(environment, chainId, taken.account, new Date(now + SAFETY_NET_MS)));
  return { id, account: taken.account, signed };
}

function allBusy(): ApiError {
  return new ApiError(
    'chain_unavailable',
    'The accounts that pay for gas have too much under way. Nothing was stored or sent. Try again later.',
  );
}

function allPoor(): ApiError {
  return new ApiError(
    'chain_unavailable',
    'The accounts that pay for gas lack STRK for this. Nothing was stored or sent. Try again when the operator has sent more.',
  );
}
