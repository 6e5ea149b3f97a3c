import { type Client, getRedeemStatus, type RedeemState, redeemGift, SvcApiError } from '@svc/sdk';
import { isPassing, troubleOf } from './errors.ts';
import type { KeptRedeem } from './saved-redeem.ts';

export interface RedeemRun {
  readonly client: Client;
  readonly signal: AbortSignal;
  /** Called with every step, to be kept and shown. */
  readonly onStep: (redeem: KeptRedeem) => void;
}

/** The service remembers a key for 24 hours; an hour is left for clocks that differ. */
const KEY_LIFE_MS = 23 * 3_600_000;
/** Pauses between tries of one request; after the last the page says what is wrong. */
const PAUSES_MS = [1_000, 3_000, 5_000];
/** A household shares the service's limit of 100 requests a minute, so this grows when it takes long. */
const LOOK_EVERY_MS = 2_000;
const LATER_EVERY_MS = 15_000;
const LATER_AFTER_MS = 120_000;

/** The key under which it was begun is no longer known to the service: to ask again could redeem again. */
export class UnclearRedeem extends Error {
  override readonly name = 'UnclearRedeem';
}

/** Goes on with a redeem from wherever it stands, to its end. Throws what stopped it; then it can be gone on with later. */
export async function runRedeem(redeem: KeptRedeem, run: RedeemRun): Promise<void> {
  let now = redeem;
  const step = (facts: Partial<KeptRedeem>) => {
    run.signal.throwIfAborted();
    now = { ...now, ...facts };
    run.onStep(now);
  };
  if (now.redeemId === undefined) step(await ask(now, run));
  // What failed on the way over the bridge may have been sent on since.
  else if (now.status !== 'SUCCESS') step(await look(now, run));
  while (now.status !== 'SUCCESS' && now.status !== 'FAILED') {
    const age = run.client.runtime.now() - now.beganAtMs;
    await run.client.runtime.sleep(age > LATER_AFTER_MS ? LATER_EVERY_MS : LOOK_EVERY_MS, run.signal);
    step(await look(now, run));
  }
}

async function ask(redeem: KeptRedeem, { client, signal }: RedeemRun): Promise<Partial<KeptRedeem>> {
  const { code, chain, walletAddress, idempotencyKey, beganAtMs } = redeem;
  if (client.runtime.now() - beganAtMs > KEY_LIFE_MS) throw new UnclearRedeem();
  const answer = await patiently(client, signal, isPassing, () =>
    redeemGift(client, { code, chain, walletAddress, idempotencyKey }),
  );
  if ('giftRedeem' in answer) {
    const { id, status, transactionHash } = answer.giftRedeem;
    return { redeemId: id, status, ...(transactionHash === null ? {} : { hash: transactionHash }) };
  }
  const { redeemId, status, estimatedSeconds, cctpBurnTxHash } = answer;
  return { redeemId, status, estimatedSeconds, ...burned(cctpBurnTxHash) };
}

async function look(redeem: KeptRedeem, { client, signal }: RedeemRun): Promise<Partial<KeptRedeem>> {
  const { code, redeemId = '' } = redeem;
  const state: RedeemState = await patiently(client, signal, isPassingLook, () =>
    getRedeemStatus(client, { code, redeemId }),
  );
  const { status, cctpBurnTxHash, receiveChainTxHash } = state;
  return { status, ...burned(cctpBurnTxHash), ...(receiveChainTxHash === null ? {} : { hash: receiveChainTxHash }) };
}

/** Nobody waits for a single look, so a limit is waited through in silence. */
const isPassingLook = (error: unknown) => isPassing(error) || troubleOf(error) === 'throttled';

const burned = (hash: string | null) => (hash === null ? {} : { burnHash: hash });

/** Asking again is safe: a look changes nothing, and a redeem carries its key. */
async function patiently<T>(
  client: Client,
  signal: AbortSignal,
  mayPass: (error: unknown) => boolean,
  attempt: () => Promise<T>,
): Promise<T> {
  for (const pauseMs of PAUSES_MS) {
    try {
      return await attempt();
    } catch (error) {
      if (!mayPass(error)) throw error;
      const asked = error instanceof SvcApiError ? (error.retryAfterMs ?? 0) : 0;
      await client.runtime.sleep(Math.max(pauseMs, asked), signal);
    }
  }
  return await attempt();
}
