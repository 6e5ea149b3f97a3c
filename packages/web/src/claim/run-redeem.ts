import { type Client, getRedeemStatus, type RedeemState, redeemGift, SvcApiError } from '@svc/sdk';
import { errorCodeOf, isTransient } from './errors.ts';
import type { SavedRedeem } from './saved-redeem.ts';

export interface RedeemRun {
  readonly client: Client;
  readonly signal: AbortSignal;
  readonly onStep: (redeem: SavedRedeem) => void;
}

/** The service stores a key for 24 hours; one hour is left for clock differences. */
const KEY_LIFE_MS = 23 * 3_600_000;
/** Pauses between attempts of one request; after the last the page shows the error. */
const PAUSES_MS = [1_000, 3_000, 5_000];
/** The service allows 100 requests a minute per address, so the interval grows for slow redeems. */
const POLL_MS = 2_000;
const SLOW_POLL_MS = 15_000;
const SLOW_AFTER_MS = 120_000;

/** The idempotency key has expired: a new request could redeem twice. */
export class UnclearRedeemError extends Error {
  override readonly name = 'UnclearRedeemError';
}

/** Runs a redeem from its saved state to a final status. Throws the error that stopped it; calling again resumes. */
export async function runRedeem(redeem: SavedRedeem, run: RedeemRun): Promise<void> {
  let current = redeem;
  const step = (facts: Partial<SavedRedeem>) => {
    run.signal.throwIfAborted();
    current = { ...current, ...facts };
    run.onStep(current);
  };
  if (current.redeemId === undefined) step(await requestRedeem(current, run));
  // A redeem that failed on the bridge may have been completed since.
  else if (current.status !== 'SUCCESS') step(await readStatus(current, run));
  while (current.status !== 'SUCCESS' && current.status !== 'FAILED') {
    const age = run.client.runtime.now() - current.beganAtMs;
    await run.client.runtime.sleep(age > SLOW_AFTER_MS ? SLOW_POLL_MS : POLL_MS, run.signal);
    step(await readStatus(current, run));
  }
}

async function requestRedeem(redeem: SavedRedeem, { client, signal }: RedeemRun): Promise<Partial<SavedRedeem>> {
  const { code, chain, walletAddress, idempotencyKey, beganAtMs } = redeem;
  if (client.runtime.now() - beganAtMs > KEY_LIFE_MS) throw new UnclearRedeemError();
  const answer = await withRetries(client, signal, isTransient, () =>
    redeemGift(client, { code, chain, walletAddress, idempotencyKey }),
  );
  if ('giftRedeem' in answer) {
    const { id, status, transactionHash } = answer.giftRedeem;
    return { redeemId: id, status, ...(transactionHash === null ? {} : { hash: transactionHash }) };
  }
  const { redeemId, status, estimatedSeconds, cctpBurnTxHash } = answer;
  return { redeemId, status, estimatedSeconds, ...burned(cctpBurnTxHash) };
}

async function readStatus(redeem: SavedRedeem, { client, signal }: RedeemRun): Promise<Partial<SavedRedeem>> {
  const { code, redeemId = '' } = redeem;
  const state: RedeemState = await withRetries(client, signal, isTransientRead, () =>
    getRedeemStatus(client, { code, redeemId }),
  );
  const { status, cctpBurnTxHash, receiveChainTxHash } = state;
  return { status, ...burned(cctpBurnTxHash), ...(receiveChainTxHash === null ? {} : { hash: receiveChainTxHash }) };
}

/** Polling waits out a rate limit silently. */
const isTransientRead = (error: unknown) => isTransient(error) || errorCodeOf(error) === 'throttled';

const burned = (hash: string | null) => (hash === null ? {} : { burnHash: hash });

/** Retrying is safe: reads change nothing, and a redeem carries its idempotency key. */
export async function withRetries<T>(
  client: Client,
  signal: AbortSignal,
  isRetryable: (error: unknown) => boolean,
  attempt: () => Promise<T>,
): Promise<T> {
  for (const pauseMs of PAUSES_MS) {
    try {
      return await attempt();
    } catch (error) {
      if (!isRetryable(error)) throw error;
      const retryAfterMs = error instanceof SvcApiError ? (error.retryAfterMs ?? 0) : 0;
      await client.runtime.sleep(Math.max(pauseMs, retryAfterMs), signal);
    }
  }
  return await attempt();
}
