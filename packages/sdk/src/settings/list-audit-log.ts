import type { AuditEntry, endpoints } from '@svc/protocol';
import type { Client } from '../client/client.ts';
import { type List, type Page, toList } from '../client/pages.ts';
import { request } from '../client/request.ts';

export interface ListAuditLogParams {
  /** From 1 on. Default: 1. */
  readonly page?: number | undefined;
  /** Items on a page, at most 100. Default: 10. */
  readonly limit?: number | undefined;
}

/**
 * Reads one page of what was changed with your keys or by the operator, newest first. On a server only: needs the
 * secret key. `auditLog` goes through all pages.
 *
 * @example
 * const { items } = await svc.settings.listAuditLog({ limit: 50 });
 */
export async function listAuditLog(client: Client, params: ListAuditLogParams = {}): Promise<List<AuditEntry>> {
  return toList(await readAuditPage(client, params));
}

export function readAuditPage(client: Client, params: ListAuditLogParams): Promise<Page<AuditEntry>> {
  const { page, limit } = params;
  return request<typeof endpoints.listAuditLog>(client, {
    route: 'GET /organization/audit-log',
    access: 'secret',
    query: { page, limit },
  });
}
