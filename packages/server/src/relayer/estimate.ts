import { ApiError } from '@svc/protocol';
import { ChainUnavailableError } from '../chains/node-failure.ts';
import type { Estimate, Refusal, StarknetChain } from '../chains/starknet/chain.ts';
import { type Transaction, unsigned } from './sign.ts';

/** With these a node says that the transaction itself fails: contract error, execution error, validation failure. */
const FAILS: readonly number[] = [40, 41, 55];
const INVALID_NONCE = 52;
/** Nodes estimate for any nonce that is not used yet, so one well ahead stays good however much lands meanwhile. */
const AHEAD = 1_000n;

/** What it will cost; a transaction that would revert is refused here, before anything is stored or spent. */
export async function estimateOrRefuse(chain: StarknetChain, transaction: Transaction): Promise<Estimate> {
  const estimate = await estimateOrRefusal(chain, transaction);
  if (estimate.ok) return estimate;
  throw new ApiError('transaction_reverted', `The transaction would revert, so it was not sent: ${estimate.reason}`);
}

/** The same, where a transaction that would revert is nothing to complain of. */
export async function estimateOrRefusal(chain: StarknetChain, transaction: Transaction): Promise<Estimate | Refusal> {
  const ahead = await chain.estimate(unsigned({ ...transaction, nonce: transaction.nonce + AHEAD }));
  const estimate = isAboutNonce(ahead) ? await estimateNow(chain, transaction) : ahead;
  if (estimate.ok || FAILS.includes(estimate.code)) return estimate;
  const cause = new Error(`The fee could not be estimated (${estimate.code}): ${estimate.reason}`);
  throw new ChainUnavailableError('STARKNET', { cause });
}

/** For nodes that want the account's own nonce, and for an account that somebody else used as well. */
async function estimateNow(chain: StarknetChain, transaction: Transaction): Promise<Estimate | Refusal> {
  const nonce = await chain.nonceAt(transaction.sender, 'pre_confirmed');
  return chain.estimate(unsigned({ ...transaction, nonce: nonce ?? transaction.nonce }));
}

/** Nodes have a code for it, but wrap the same words into an execution error when they estimate. */
function isAboutNonce(answer: Estimate | Refusal): boolean {
  return !answer.ok && (answer.code === INVALID_NONCE || /invalid transaction nonce/i.test(answer.reason));
}
