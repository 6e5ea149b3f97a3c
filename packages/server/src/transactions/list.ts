import { ApiError, type Transaction } from '@svc/protocol';
import type { Reads } from '@svc/store';
import { type PageOf, type PageQuery, readPage, toPage } from '../http/pages.ts';
import { ALWAYS, type Period, readHistory } from './history.ts';
import type { RecordOwner } from './records.ts';
import { toTransaction } from './to-transaction.ts';

export interface DateQuery {
  readonly year?: number;
  readonly month?: number;
  readonly day?: number;
}

export interface ListQuery extends PageQuery, DateQuery {
  /** In its normal form. */
  readonly walletAddress: string;
  /** Empty counts as not given. */
  readonly calledFunction?: string;
}

/** What a wallet has sent and received in this environment of this organisation, newest first. */
export async function listTransactions(
  reads: Reads,
  owner: RecordOwner,
  query: ListQuery,
): Promise<PageOf<Transaction>> {
  const period = readPeriod(query);
  const page = readPage(query);
  const { records, total } = await readHistory(reads, owner, {
    address: query.walletAddress,
    functionName: query.calledFunction || undefined,
    period,
    ...page,
  });
  return toPage(records.map(toTransaction), total, page);
}

/** The year, month or day that is meant, in UTC. A day that its month does not have is a period without a moment in it. */
export function readPeriod({ year, month, day }: DateQuery): Period {
  if (day !== undefined && month === undefined) throw new ApiError('invalid_request', 'day needs month and year.');
  if (month !== undefined && year === undefined) throw new ApiError('invalid_request', 'month needs year.');
  if (year === undefined) return ALWAYS;
  if (month === undefined) return { from: Date.UTC(year, 0), before: Date.UTC(year + 1, 0) };
  const nextMonth = Date.UTC(year, month);
  if (day === undefined) return { from: Date.UTC(year, month - 1), before: nextMonth };
  const from = Math.min(Date.UTC(year, month - 1, day), nextMonth);
  return { from, before: Math.min(Date.UTC(year, month - 1, day + 1), nextMonth) };
}
