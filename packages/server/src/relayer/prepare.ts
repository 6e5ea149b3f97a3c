import { randomBytes } from 'node:crypto';
import { ANY_CALLER, type Call, type OutsideExecution } from '@svc/starknet';
import type { StarknetNetwork } from '../chains/networks.ts';

/** For a chain whose clock is behind. */
const BEFORE_NOW_SECONDS = 60n;
/** With the above, exactly the hour that is the widest window. */
const AFTER_NOW_SECONDS = 3_540n;
/** As many whole bytes as a felt has room for. */
const NONCE_BYTES = 31;

export const randomNonce = (): bigint => BigInt(`0x${randomBytes(NONCE_BYTES).toString('hex')}`);

/** What an account's owner is asked to sign. */
export async function prepareExecution(
  network: Pick<StarknetNetwork, 'time'>,
  calls: readonly Call[],
  random: () => bigint,
): Promise<OutsideExecution> {
  const seconds = BigInt(Math.floor((await network.time()).getTime() / 1_000));
  return {
    caller: ANY_CALLER,
    nonce: random(),
    executeAfter: seconds - BEFORE_NOW_SECONDS,
    executeBefore: seconds + AFTER_NOW_SECONDS,
    calls,
  };
}
