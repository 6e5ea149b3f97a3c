import type { Client } from '@svc/sdk';
import { type ClaimErrorCode, errorCodeOn, isRefusal } from './errors.ts';
import { runRedeem, UnclearRedeemError } from './run-redeem.ts';
import { deleteRedeem, type KeyValueStorage, type SavedRedeem, saveRedeem } from './saved-redeem.ts';
import type { Screen, ValidClaim } from './screen.ts';

interface FollowDeps {
  readonly client: Client;
  readonly storage: KeyValueStorage;
}

interface Following {
  readonly signal: AbortSignal;
  readonly show: (screen: Screen) => void;
  readonly claim: ValidClaim | undefined;
}

/** Runs a redeem to its end, saves and shows every step, and returns the final screen. */
export async function followRedeem(
  { client, storage }: FollowDeps,
  saved: SavedRedeem,
  following: Following,
): Promise<Screen> {
  const { signal, show, claim } = following;
  let redeem = saved;
  const stopped = (errorCode: ClaimErrorCode, isOver: boolean): Screen => {
    if (!isOver) return { at: 'error', errorCode, redeem, claim };
    deleteRedeem(storage, redeem.code);
    return { at: 'error', errorCode, claim };
  };
  try {
    await runRedeem(saved, {
      client,
      signal,
      onStep: (step) => {
        redeem = step;
        saveRedeem(storage, step);
        show({ at: 'sending', redeem: step });
      },
    });
  } catch (error) {
    if (error instanceof UnclearRedeemError) return stopped('unclear', true);
    // With a redeemId, only a final status ends the redeem.
    return stopped(errorCodeOn(redeem.chain, error), redeem.redeemId === undefined && isRefusal(error));
  }
  if (redeem.status === 'SUCCESS') return { at: 'done', redeem };
  return redeem.burnHash === undefined ? stopped('payoutFailed', true) : stopped('stuck', false);
}
