import type { LedgerEntry } from '@svc/protocol';
import type { Client } from '../client/client.ts';
import { eachItem, type PageOptions } from '../client/pages.ts';
import { readLedgerPage } from './list-ledger.ts';

/**
 * Goes through every change of your credits, newest first. On a server only: needs the secret key.
 *
 * @example
 * for await (const { type, amountUsd } of svc.ledger()) console.log(type, amountUsd);
 */
export function ledger(client: Client, params: PageOptions = {}): AsyncGenerator<LedgerEntry, void, undefined> {
  return eachItem((asked) => readLedgerPage(client, asked), params);
}
