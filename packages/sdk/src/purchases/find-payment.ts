import type { Transaction } from '@svc/protocol';
import { encodeOutsideExecution, type OutsideExecution } from '@svc/starknet';
import type { BearerToken, Client } from '../client/client.ts';
import { isObject } from '../client/is-object.ts';
import { withNode } from '../node/client-nodes.ts';
import { readFelts } from '../node/read-felts.ts';
import { getTransactionList } from '../transactions/get-transaction-list.ts';
import { executionOf, type PurchaseState } from './purchase-state.ts';

/** A crash is resumed within days; a wallet of a person has not sent more since. */
const MAX_PAGES = 10;
const PAGE_SIZE = 100;

/** The transaction that executed the payment, out of the wallet's history; undefined when it is not there. */
export async function findPayment(
  client: Client,
  state: PurchaseState,
  bearerToken?: BearerToken,
): Promise<string | undefined> {
  const { walletAddress } = state.purchase;
  const execution = executionOf(state);
  for (let page = 1; page <= MAX_PAGES; page++) {
    const { items, total } = await getTransactionList(client, { walletAddress, page, limit: PAGE_SIZE }, bearerToken);
    for (const item of items.filter((one) => isCandidate(one, state, execution))) {
      if (await executes(client, item.transactionHash, execution)) return item.transactionHash;
    }
    if (page * PAGE_SIZE >= total) return undefined;
  }
  return undefined;
}

/** The same token, and the amount that was signed. */
function isCandidate(item: Transaction, { purchase }: PurchaseState, { calls: [transfer] }: OutsideExecution): boolean {
  const [, low = 0n, high = 0n] = transfer?.calldata ?? [];
  return item.chain === 'STARKNET' && item.token === purchase.token && item.amount === String((high << 128n) | low);
}

/** Equal payments are told apart by what the transaction carries: this execution with its nonce, and no other. */
async function executes(client: Client, transactionHash: string, execution: OutsideExecution): Promise<boolean> {
  const calldata = await withNode(client, (ask) =>
    ask('starknet_getTransactionByHash', { transaction_hash: transactionHash }, (result) =>
      isObject(result) ? readFelts(result.calldata) : undefined,
    ),
  );
  // Without the signature, whose length ends the encoding.
  const wanted = encodeOutsideExecution(execution, []).slice(0, -1);
  return calldata.ok && includes(calldata.value, wanted);
}

function includes(all: readonly bigint[], part: readonly bigint[]): boolean {
  return all.some((_, start) => part.every((felt, index) => all[start + index] === felt));
}
