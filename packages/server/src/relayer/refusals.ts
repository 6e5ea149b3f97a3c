import { ApiError } from '@svc/protocol';
import { type Call, encodeCalls } from '@svc/starknet';
import type { Estimate } from '../chains/starknet/chain.ts';

/** Sequencers take 5,000; the rest is for networks that take a little less. */
const MAX_CALLDATA_FELTS = 4_500;
const FRI_PER_STRK = 10n ** 18n;
const SHOWN_DECIMALS = 4;

/** A node would refuse it whenever it is sent. */
export function refuseTooLarge(calls: readonly Call[]): void {
  const felts = encodeCalls(calls).length;
  if (felts <= MAX_CALLDATA_FELTS) return;
  const message = `The transaction has ${felts} felts of calldata, and the chain takes ${MAX_CALLDATA_FELTS} at most. Split its calls.`;
  throw new ApiError('invalid_request', message);
}

/** Whoever signs decides what is computed, and the deployment pays. */
export function refuseTooDear({ fee }: Estimate, maxFeeFri: bigint | undefined): void {
  if (maxFeeFri === undefined || fee <= maxFeeFri) return;
  const message = `The transaction would cost ${strk(fee)} STRK of gas, and this deployment pays ${strk(maxFeeFri)} STRK at most.`;
  throw new ApiError('fee_too_high', message);
}

function strk(fri: bigint): string {
  const fraction = String(fri % FRI_PER_STRK).padStart(18, '0');
  return `${fri / FRI_PER_STRK}.${fraction.slice(0, SHOWN_DECIMALS)}`;
}
