import { ApiError, type Environment, type UsdMicros } from '@svc/protocol';
import type { GiftRecord } from '../gift.ts';
import type { GiftParts } from './parts.ts';

/**
 * What one redemption may cost beside its amount, fixed when the gift is made: prices that rise later are not the organisation's
 * to pay. Where there is no bridge nothing is held for it, and Solana is refused at the redeem.
 */
export async function costsOf(
  { gas, bridge }: Pick<GiftParts, 'gas' | 'bridge'>,
  environment: Environment,
  amount: UsdMicros,
  cctpFast: boolean,
): Promise<Pick<GiftRecord, 'gas' | 'bridge'>> {
  if (!cctpFast) return { gas, bridge: 0n };
  return { gas, bridge: await bridge.feeCeiling(environment, amount, cctpFast).catch(nothingWithoutBridge) };
}

function nothingWithoutBridge(error: unknown): UsdMicros {
  if (error instanceof ApiError && error.code === 'chain_not_configured') return 0n;
  throw error;
}
