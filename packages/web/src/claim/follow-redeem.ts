import type { Client } from '@svc/sdk';
import { isRefusal, type Trouble, troubleOn } from './errors.ts';
import { runRedeem, UnclearRedeem } from './run-redeem.ts';
import { forgetRedeem, type KeptRedeem, keepRedeem, type Shelf } from './saved-redeem.ts';
import type { Screen, ValidClaim } from './screen.ts';

interface Parts {
  readonly client: Client;
  readonly shelf: Shelf;
}

interface Following {
  readonly signal: AbortSignal;
  readonly show: (screen: Screen) => void;
  readonly claim: ValidClaim | undefined;
}

/** Goes along with a redeem to its end, keeping and showing every step. Answers what is shown then. */
export async function followRedeem({ client, shelf }: Parts, begun: KeptRedeem, following: Following): Promise<Screen> {
  const { signal, show, claim } = following;
  let redeem = begun;
  const stopped = (trouble: Trouble, isOver: boolean): Screen => {
    if (!isOver) return { at: 'trouble', trouble, redeem, claim };
    forgetRedeem(shelf, redeem.code);
    return { at: 'trouble', trouble, claim };
  };
  try {
    await runRedeem(begun, {
      client,
      signal,
      onStep: (step) => {
        redeem = step;
        keepRedeem(shelf, step);
        show({ at: 'sending', redeem: step });
      },
    });
  } catch (error) {
    if (error instanceof UnclearRedeem) return stopped('unclear', true);
    // Once it has a number, only its end is the end.
    return stopped(troubleOn(redeem.chain, error), redeem.redeemId === undefined && isRefusal(error));
  }
  if (redeem.status === 'SUCCESS') return { at: 'done', redeem };
  return redeem.burnHash === undefined ? stopped('payoutFailed', true) : stopped('stuck', false);
}
