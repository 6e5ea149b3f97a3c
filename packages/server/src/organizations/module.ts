import { ApiError, usdToNumber } from '@svc/protocol';
import type { Database } from '@svc/store';
import { listChanges } from '../audit-log.ts';
import { type Handlers, readPage, toPage } from '../http/call.ts';
import { balance, listEntries, toLedgerEntry } from '../ledger/ledger.ts';
import { createApiKey, listApiKeys, revokeApiKey } from './api-keys.ts';
import type { Organizations } from './organization-store.ts';
import { changeSettings, faultOfSettings, readSettings } from './settings.ts';

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

export interface ManagementDeps {
  readonly db: Database;
  /** Whether addresses of this machine will do for key sets. */
  readonly allowLoopback: boolean;
  /** Makes this process forget what it knows of keys and settings; others are told by the database. */
  readonly forget: () => void;
}

type Managed = 'getSettings' | 'updateSettings' | 'listApiKeys' | 'createApiKey' | 'revokeApiKey' | 'listAuditLog';

/** What an organisation changes about itself, with its secret key. */
export function managementHandlers({ db, allowLoopback, forget }: ManagementDeps): Pick<Handlers, Managed> {
  return {
    getSettings: async ({ caller }) => present(await readSettings(db, caller)),
    updateSettings: async ({ caller, body, transact }) => {
      const fault = faultOfSettings(body, caller.environment, { allowLoopback });
      if (fault) throw new ApiError('invalid_request', `body.${fault}.`);
      const settings = await transact(async (tx) => present(await changeSettings(tx, caller, body)));
      forget();
      return settings;
    },
    listApiKeys: async ({ caller, query }) => {
      const page = readPage(query);
      const { keys, total } = await listApiKeys(db, caller, page);
      return toPage(keys, total, page);
    },
    createApiKey: ({ caller, body, transact }) => transact((tx) => createApiKey(tx, caller, body.kind)),
    revokeApiKey: async ({ caller, params, transact }) => {
      const answer = await transact(async (tx) => {
        await revokeApiKey(tx, caller, params.id);
        return { success: true };
      });
      forget();
      return answer;
    },
    listAuditLog: async ({ caller, query }) => {
      const page = readPage(query);
      const { entries, total } = await listChanges(db, caller, page);
      return toPage(entries, total, page);
    },
  };
}

function present<T>(settings: T | undefined): T {
  if (settings === undefined) throw new ApiError('internal_error');
  return settings;
}
