import {
  type AnswerOf,
  ApiError,
  type endpoints,
  parseStarknetAddress,
  type QueryOf,
  type Transaction,
} from '@svc/protocol';
import type { Reads } from '@svc/store';
import type { Caller } from '../http/caller.ts';
import { readPage, toPage } from '../http/pages.ts';
import type { TransactionRecord } from '../transactions/record.ts';
import { recordById } from '../transactions/records.ts';
import { toTransaction } from '../transactions/to-transaction.ts';
import { findWallet } from '../wallets/find-wallet.ts';
import { listPurchases } from './store.ts';

type ListSkuPurchases = typeof endpoints.listSkuPurchases;

export async function getPurchase(reads: Reads, caller: Caller, id: string): Promise<Transaction> {
  const record = await recordById(reads, caller, id);
  if (record?.type !== 'SKU_PURCHASE' || !(await mayRead(reads, caller, record))) {
    throw new ApiError('purchase_not_found');
  }
  return toTransaction(record);
}

/** With a user's token: what a wallet of that user paid for. */
async function mayRead(reads: Reads, caller: Caller, { senderAddress }: TransactionRecord): Promise<boolean> {
  if (caller.proof !== 'user token') return true;
  const address = parseStarknetAddress(senderAddress);
  return address.ok && (await findWallet(reads, caller, address.value)) !== undefined;
}

export async function listOwnPurchases(
  reads: Reads,
  caller: Caller,
  query: QueryOf<ListSkuPurchases>,
): Promise<AnswerOf<ListSkuPurchases>> {
  const page = readPage(query);
  const filter = { status: query.status, refundStatus: query.refundStatus, ...page };
  const { records, total } = await listPurchases(reads, caller, filter);
  return toPage(records.map(toTransaction), total, page);
}
