import { ApiError, type endpoints, formatUsd } from '@svc/protocol';
import { type Answer, type Call, WithStatus } from '../../http/call.ts';
import type { Redeem } from '../redeem.ts';
import { readDestination } from './destination.ts';
import { findByCode } from './find-code.ts';
import type { ClaimParts } from './parts.ts';
import { reserve } from './reserve.ts';

type RedeemGift = typeof endpoints.redeemGift;
type Request = Pick<Call<RedeemGift>, 'client' | 'params' | 'body' | 'requestKey'>;

/** Counted from the start of the request, so that it is over before its Idempotency-Key is anybody else's. */
const PATIENCE_MS = 30_000;
/** What Circle says that the way takes: about as long as Solana needs, or until Starknet is final. */
const FAST_SECONDS = 24;
const STANDARD_SECONDS = 28_800;

/** Reserves a share of the gift for a wallet, has it paid out, and waits for that. */
export async function redeemGift(parts: ClaimParts, request: Request): Promise<Answer<RedeemGift>> {
  const startedAt = performance.now();
  const { client, params, body, requestKey } = request;
  const destination = readDestination(body.chain, body.walletAddress);
  const gift = await findByCode(parts, client, params.code);
  if (!gift) throw new ApiError('gift_not_found', undefined, { status: 400 });
  const id = await parts.db.tx((tx) => reserve(parts, tx, { giftId: gift.id, destination, requestKey }));
  const leftMs = PATIENCE_MS - (performance.now() - startedAt);
  const isEnough = destination.chain === 'solana' ? isUnderWay : hasEnded;
  const redeem = await parts.waiters.until(parts.db.reads, id, isEnough, leftMs);
  return destination.chain === 'solana' ? started(redeem, gift.cctpFast) : redeemed(redeem);
}

const hasEnded = ({ status }: Redeem) => status === 'SUCCESS' || status === 'FAILED';
const isUnderWay = ({ status, transactionHash }: Redeem) =>
  status === 'FAILED' || (status !== 'PENDING' && transactionHash !== null);

function redeemed({ id, status, transactionHash, shownAddress, amount }: Redeem): Answer<RedeemGift> {
  if (status === 'FAILED') throw new ApiError('payout_failed');
  const giftRedeem = { id, status, transactionHash, walletAddress: shownAddress, amount: formatUsd(amount) };
  return new WithStatus(201, { giftRedeem });
}

function started(redeem: Redeem, fast: boolean): Answer<RedeemGift> {
  const { id, status, transactionHash } = redeem;
  // With a burn it is not over: the operator can send it on.
  if (status === 'FAILED' && transactionHash === null) throw new ApiError('payout_failed');
  return new WithStatus(202, {
    redeemId: id,
    status,
    destinationChain: 'solana' as const,
    cctpBurnTxHash: status === 'PENDING' ? null : transactionHash,
    estimatedSeconds: fast ? FAST_SECONDS : STANDARD_SECONDS,
  });
}
