import { solanaAddressBytes } from '@svc/protocol';
import type { Burn } from './bridge.ts';
import { toInteger } from './bytes.ts';
import {
  CCTP_VERSION,
  type CctpPlaces,
  SOLANA_DOMAIN,
  SOLANA_TOKEN_MESSENGER,
  STARKNET_DOMAIN,
  thresholdOf,
} from './cctp.ts';
import { forwardHook } from './forward-hook.ts';
import type { BurnMessage, MessageField } from './message.ts';
import { tokenAccountOf } from './token-account.ts';

/** What is expected follows from our own order alone, never from what the bridge answers beside the message. */
function expectedOf(places: CctpPlaces, usdc: bigint, { sender, order }: Burn): Partial<Record<MessageField, bigint>> {
  return {
    version: CCTP_VERSION,
    sourceDomain: STARKNET_DOMAIN,
    destinationDomain: SOLANA_DOMAIN,
    sender: places.tokenMessenger,
    recipient: toInteger(solanaAddressBytes(SOLANA_TOKEN_MESSENGER)),
    destinationCaller: 0n,
    minFinalityThreshold: thresholdOf(order.fast),
    bodyVersion: CCTP_VERSION,
    burnToken: usdc,
    mintRecipient: toInteger(tokenAccountOf(order.owner, places.usdcMint)),
    amount: order.amount,
    messageSender: sender,
    maxFee: order.maxFee,
  };
}

/** The first field that does not say what was ordered; undefined where all do. */
export function wrongField(places: CctpPlaces, usdc: bigint, burn: Burn, message: BurnMessage): string | undefined {
  const expected = Object.entries(expectedOf(places, usdc, burn)) as [MessageField, bigint][];
  const wrong = expected.find(([field, value]) => message[field] !== value);
  if (wrong) return wrong[0];
  if (message.nonce === 0n) return 'nonce';
  if (message.finalityThresholdExecuted < thresholdOf(burn.order.fast)) return 'finalityThresholdExecuted';
  if (message.feeExecuted > burn.order.maxFee) return 'feeExecuted';
  return Buffer.compare(message.hookData, forwardHook(burn.order.owner)) === 0 ? undefined : 'hookData';
}
