import type { AuditEntry } from '@svc/protocol';
import type { Client } from '../client/client.ts';
import { eachItem, type PageOptions } from '../client/pages.ts';
import { readAuditPage } from './list-audit-log.ts';

/**
 * Goes through what was changed with your keys or by the operator, newest first, page after page. On a server only:
 * needs the secret key.
 *
 * @example
 * for await (const { action, actor, createdAt } of svc.settings.auditLog()) console.log(createdAt, action, actor);
 */
export function auditLog(client: Client, params: PageOptions = {}): AsyncGenerator<AuditEntry, void, undefined> {
  return eachItem((asked) => readAuditPage(client, asked), params);
}
