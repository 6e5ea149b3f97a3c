import { ApiError, type LedgerEntry, usdToNumber } from '@svc/protocol';
import type { Database } from '@svc/store';
import type { Handlers } from '../http/call.ts';
import { readPage, toPage } from '../http/pages.ts';
import { balance } from '../ledger/balance.ts';
import { type Entry, listEntries } from '../ledger/entries.ts';
import type { OrganizationRow } from './store.ts';

/** Where an organisation is found: in memory, as a rule. */
export interface Organizations {
  organization(id: string): Promise<OrganizationRow | undefined>;
}

export function organizationHandlers(
  db: Database,
  organizations: Organizations,
): Pick<Handlers, 'getOrganization' | 'listLedger'> {
  return {
    getOrganization: async ({ caller }) => {
      const [organization, credits] = await Promise.all([
        organizations.organization(caller.organizationId),
        balance(db.reads, caller),
      ]);
      if (!organization) throw new ApiError('internal_error');
      return {
        id: organization.id,
        name: organization.name,
        environment: caller.environment,
        balance: {
          totalUsd: usdToNumber(credits.total),
          availableUsd: usdToNumber(credits.available),
          heldUsd: usdToNumber(credits.held),
        },
        createdAt: organization.created_at.toISOString(),
      };
    },
    listLedger: async ({ caller, query }) => {
      const page = readPage(query);
      const { entries, total } = await listEntries(db, caller, page);
      return toPage(entries.map(toLedgerEntry), total, page);
    },
  };
}

export function toLedgerEntry(entry: Entry): LedgerEntry {
  return {
    id: entry.id,
    type: entry.type,
    amountUsd: usdToNumber(entry.amount),
    availableUsd: usdToNumber(entry.availableAfter),
    heldUsd: usdToNumber(entry.heldAfter),
    holdId: entry.holdId,
    reference: entry.reference,
    createdAt: entry.createdAt.toISOString(),
  };
}
