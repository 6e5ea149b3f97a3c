import type { endpoints, LedgerEntry } from '@svc/protocol';
import type { Client } from '../client/client.ts';
import { type List, type Page, toList } from '../client/pages.ts';
import { request } from '../client/request.ts';

export interface ListLedgerParams {
  /** From 1 on. Default: 1. */
  readonly page?: number | undefined;
  /** Items on a page, at most 100. Default: 10. */
  readonly limit?: number | undefined;
}

/**
 * Reads one page of the changes of your credits, newest first. On a server only: needs the secret key. `ledger` goes through all pages.
 *
 * @example
 * const { items } = await svc.listLedger({ limit: 50 });
 */
export async function listLedger(client: Client, params: ListLedgerParams = {}): Promise<List<LedgerEntry>> {
  return toList(await readLedgerPage(client, params));
}

export function readLedgerPage(client: Client, { page, limit }: ListLedgerParams): Promise<Page<LedgerEntry>> {
  return request<typeof endpoints.listLedger>(client, {
    route: 'GET /organization/ledger',
    access: 'secret',
    query: { page, limit },
  });
}
