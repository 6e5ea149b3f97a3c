import { ApiError, type CheckedToken, type Environment, usdToNumber } from '@svc/protocol';
import type { Database } from '@svc/store';
import { listChanges } from '../audit-log.ts';
import { type Handlers, readPage, toPage } from '../http/call.ts';
import type { Jobs, Module } from '../http/module.ts';
import type { JobLog } from '../jobs/job.ts';
import { balance, listEntries, toLedgerEntry } from '../ledger/ledger.ts';
import { createApiKey, listApiKeys, revokeApiKey } from './api-keys.ts';
import { type EnvironmentRow, findEnvironment, type Organizations, type Owner } from './organization-store.ts';
import {
  changeSettings,
  faultOfSettings,
  readBranding,
  readSettings,
  reportUnboundKeySets,
  unboundKeySetGauge,
  updateBranding,
} from './settings.ts';

const REPORT_TASK = 'report-unbound-key-sets';

export interface OrganizationDeps {
  readonly db: Database;
  readonly log: JobLog;
  readonly unboundKeySetsUntil: Date | undefined;
  /** Whether key sets may be on this machine. */
  readonly loopbackEnvironments: readonly Environment[];
  /** `clear` drops this process's copy of keys and settings; other processes are notified by the database. */
  readonly credentials: Organizations & { clear(): void };
  /** Null where the environment takes no deposits. */
  readonly depositAddress: (owner: Owner) => Promise<string | null>;
  readonly checkToken: (token: string, settings: EnvironmentRow) => Promise<CheckedToken>;
  readonly publicUrl: string;
}

type AccountOperation = 'getOrganization' | 'listLedger';
type SettingsOperation =
  | 'getSettings'
  | 'updateSettings'
  | 'checkToken'
  | 'getBranding'
  | 'updateBranding'
  | 'listApiKeys'
  | 'createApiKey'
  | 'revokeApiKey'
  | 'listAuditLog';

export function create(deps: OrganizationDeps): Module<AccountOperation | SettingsOperation> {
  const { db, log, unboundKeySetsUntil } = deps;
  const jobs: Jobs = {
    handlers: { [REPORT_TASK]: () => reportUnboundKeySets(db.lists, log, unboundKeySetsUntil) },
    recurring: [{ task: REPORT_TASK, everySeconds: 86_400 }],
  };
  const handlers = { ...accountHandlers(deps), ...settingsHandlers(deps) };
  return { handlers, jobs: [jobs], gauges: [unboundKeySetGauge(db.lists)] };
}

function accountHandlers({ db, credentials, depositAddress }: OrganizationDeps): Pick<Handlers, AccountOperation> {
  return {
    getOrganization: async ({ caller }) => {
      const [organization, credits, address] = await Promise.all([
        credentials.organization(caller.organizationId),
        balance(db.reads, caller),
        depositAddress(caller),
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
        depositAddress: address,
        createdAt: organization.created_at.toISOString(),
      };
    },
    listLedger: async ({ caller, query }) => {
      const page = readPage(query);
      const { entries, total } = await listEntries(db.lists, caller, page);
      return toPage(entries.map(toLedgerEntry), total, page);
    },
  };
}

function settingsHandlers(deps: OrganizationDeps): Pick<Handlers, SettingsOperation> {
  const { db, loopbackEnvironments, credentials, publicUrl } = deps;
  return {
    checkToken: async ({ caller, body }) => {
      const settings = await findEnvironment(db, caller.organizationId, caller.environment);
      return deps.checkToken(body.token, present(settings));
    },
    getBranding: ({ caller }) => readBranding(db.reads, publicUrl, caller),
    updateBranding: (call) => updateBranding(publicUrl, call),
    getSettings: async ({ caller }) => present(await readSettings(db, caller)),
    updateSettings: async ({ caller, body, transact }) => {
      const allowLoopback = loopbackEnvironments.includes(caller.environment);
      const fault = faultOfSettings(body, caller.environment, { allowLoopback });
      if (fault) throw new ApiError('invalid_request', `body.${fault}.`);
      const settings = await transact(async (tx) => present(await changeSettings(tx, caller, body)));
      credentials.clear();
      return settings;
    },
    listApiKeys: async ({ caller, query }) => {
      const page = readPage(query);
      const { keys, total } = await listApiKeys(db.lists, caller, page);
      return toPage(keys, total, page);
    },
    createApiKey: ({ caller, body, transact }) => transact((tx) => createApiKey(tx, caller, body.kind)),
    revokeApiKey: async ({ caller, params, transact }) => {
      const answer = await transact(async (tx) => {
        await revokeApiKey(tx, caller, params.id);
        return { success: true };
      });
      credentials.clear();
      return answer;
    },
    listAuditLog: async ({ caller, query }) => {
      const page = readPage(query);
      const { entries, total } = await listChanges(db.lists, caller, page);
      return toPage(entries, total, page);
    },
  };
}

function present<T>(settings: T | undefined): T {
  if (settings === undefined) throw new ApiError('internal_error');
  return settings;
}
