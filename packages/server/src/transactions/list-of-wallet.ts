import { type AnswerOf, type endpoints, parseEvmAddress, type QueryOf } from '@svc/protocol';
import type { Reads } from '@svc/store';
import type { Caller } from '../http/caller.ts';
import { readAddress } from '../wallets/fields.ts';
import { listTransactions } from './list.ts';
import { requireWallet } from './require-wallet.ts';

type Query = QueryOf<typeof endpoints.listTransactions>;
type Answer = AnswerOf<typeof endpoints.listTransactions>;

/** The history of a wallet that exists for the caller; with the secret key also what was recorded of an address on an EVM chain. */
export async function listOfWallet(reads: Reads, caller: Caller, query: Query): Promise<Answer> {
  const evmAddress = parseEvmAddress(query.walletAddress);
  if (evmAddress.ok && caller.proof === 'secret key') {
    return listTransactions(reads, caller, { ...query, walletAddress: evmAddress.value });
  }
  const { address } = await requireWallet(reads, caller, readAddress(query.walletAddress, 'query.walletAddress'));
  return listTransactions(reads, caller, { ...query, walletAddress: address });
}
