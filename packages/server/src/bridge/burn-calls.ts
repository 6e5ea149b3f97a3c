import { type Call, encodeU256, selector } from '@svc/starknet';
import type { BurnOrder } from './bridge.ts';
import { encodeByteArray, toInteger } from './bytes.ts';
import { type CctpPlaces, SOLANA_DOMAIN, thresholdOf } from './cctp.ts';
import { forwardHook } from './forward-hook.ts';
import { tokenAccountOf } from './token-account.ts';

/** Zero lets anyone hand the message in on Solana; it can only ever mint for its recipient. */
const ANY_CALLER = 0n;

/** Lets the bridge take exactly the amount, and has it burned, in one multicall. */
export function burnCalls(places: CctpPlaces, usdc: bigint, { amount, maxFee, owner, fast }: BurnOrder): Call[] {
  if (amount <= maxFee) throw new RangeError('A burn must be larger than the fee that it allows.');
  const { tokenMessenger, usdcMint } = places;
  const recipient = toInteger(tokenAccountOf(owner, usdcMint));
  return [
    { to: usdc, selector: selector('approve'), calldata: [tokenMessenger, ...encodeU256(amount)] },
    {
      to: tokenMessenger,
      selector: selector('deposit_for_burn_with_hook'),
      calldata: [
        ...encodeU256(amount),
        SOLANA_DOMAIN,
        ...encodeU256(recipient),
        usdc,
        ...encodeU256(ANY_CALLER),
        ...encodeU256(maxFee),
        thresholdOf(fast),
        ...encodeByteArray(forwardHook(owner)),
      ],
    },
  ];
}
