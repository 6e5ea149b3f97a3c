import { ApiError, type endpoints, usdToNumber } from '@svc/protocol';
import { sql } from '@svc/store';
import type { Answer, Call } from '../../http/call.ts';
import { type Redeem, redeemColumns } from '../redeem.ts';
import { keyOfCode } from './find-code.ts';
import type { ClaimParts } from './parts.ts';

type GetRedeemStatus = typeof endpoints.getRedeemStatus;

/** How far a redeem of this code is. Whoever names one that does not exist is counted like whoever names an unknown code. */
export async function redeemStatus(
  { codes }: Pick<ClaimParts, 'codes'>,
  { client, params }: Pick<Call<GetRedeemStatus>, 'client' | 'params'>,
): Promise<Answer<GetRedeemStatus>> {
  const redeem = await codes.find<Redeem>(
    client,
    sql`
      select ${redeemColumns} from gift_redeems
       where id = ${params.redeemId} and gift_id = (select id from gifts where code_key = ${keyOfCode(params.code)})`,
  );
  if (!redeem) throw new ApiError('redeem_not_found');
  const { id, status, destinationChain, amount } = redeem;
  return { id, status, destinationChain, ...hashesOf(redeem), amount: usdToNumber(amount) };
}

/** A redeem on Starknet burns nothing and is received by its payout, which may still be replaced until it has succeeded. */
function hashesOf({ destinationChain, status, transactionHash, receiveHash }: Redeem) {
  return destinationChain === 'solana'
    ? { cctpBurnTxHash: transactionHash, receiveChainTxHash: receiveHash }
    : { cctpBurnTxHash: null, receiveChainTxHash: status === 'SUCCESS' ? transactionHash : null };
}
