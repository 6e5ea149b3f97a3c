import { readFileSync } from 'node:fs';
import path from 'node:path';
import {
  ApiError,
  type AuditEntry,
  type Environment,
  levelOfWord,
  type OperatorHealth,
  type OperatorOrganizationDetail,
  type Stuck,
  type StuckPurchase,
  type StuckRedeem,
  type StuckSolanaTransfer,
  usdToNumber,
} from '@svc/protocol';
import { type Database, type Db, type Reads, sql } from '@svc/store';
import { type AuditRow, DEPLOYMENT, type OperatorName, operatorOf, recordChange } from '../audit-log.ts';
import * as gifts from '../gifts/operator.ts';
import {
  type Caller,
  type CursorPageOf,
  type CursorQuery,
  type Handlers,
  microsOf,
  olderThan,
  type Place,
  readCursor,
  toCursorPage,
} from '../http/call.ts';
import type { Module } from '../http/module.ts';
import { type Readiness, readDisk } from '../http/monitoring.ts';
import { readAddress } from '../http/validation.ts';
import { countFailedJobs, failedJobs, findFailedJob, queueStats, retryFailedJob } from '../jobs/job.ts';
import * as organizations from '../organizations/operator.ts';
import { findEnvironment, type Owner } from '../organizations/organization-store.ts';
import * as purchases from '../purchases/operator.ts';
import type { DefaultLimits } from '../relayer/budget.ts';
import * as relayer from '../relayer/operator.ts';
import { acceptByOperator, matchByOperator, type ReconcileDeps, reconcile } from '../relayer/reconcile-accounts.ts';
import { changeSponsorship, readSponsorship } from '../relayer/sponsorship.ts';
import * as solanaTransfers from '../solana-transfers/operator.ts';
import { createDoctor, type Surroundings } from './doctor.ts';

export interface OperatorDeps extends relayer.AccountsDeps, HealthDeps {
  readonly db: Database;
  readonly reconciling: Omit<ReconcileDeps, 'operator'>;
  readonly sponsorLimits: DefaultLimits;
  readonly surroundings: Surroundings;
  /** `clear` drops this process's copy of keys; other processes are notified by the database. */
  readonly credentials: { clear(): void };
  /** Answers the link to hand over, where the deployment sends no mail. */
  readonly inviteOwner: (
    tx: Db,
    invitation: { organizationId: string; email: string; operator: OperatorName },
  ) => Promise<string | null>;
}

type OrganizationOperation =
  | 'listOperatorOrganizations'
  | 'createOperatorOrganization'
  | 'getOperatorOrganization'
  | 'createOperatorKeys'
  | 'revokeOperatorKey'
  | 'getOperatorSponsorship'
  | 'updateOperatorSponsorship';
type AccountOperation =
  | 'listOperatorAccounts'
  | 'listUnreconciled'
  | 'reconcileAccounts'
  | 'matchTransaction'
  | 'acceptTransaction'
  | 'listOperatorRelays';
type StuckOperation =
  | 'listStuck'
  | 'resumeRedeem'
  | 'resumeSolanaTransfer'
  | 'completePurchase'
  | 'failPurchase'
  | 'cancelStuckPurchase';
type ProcessOperation =
  | 'getOperatorHealth'
  | 'getDoctorReport'
  | 'listOperatorJobs'
  | 'retryJob'
  | 'listOperatorAuditLog';

export function create(
  deps: OperatorDeps,
): Module<OrganizationOperation | AccountOperation | StuckOperation | ProcessOperation> {
  return {
    handlers: {
      ...organizationHandlers(deps),
      ...accountHandlers(deps),
      ...stuckHandlers(deps),
      ...processHandlers(deps),
    },
  };
}

/** A script with OPERATOR_TOKEN is no person. */
const nameOf = ({ member }: Caller): OperatorName => (member ? `operator:${member.email}` : 'operator');

function organizationHandlers(deps: OperatorDeps): Pick<Handlers, OrganizationOperation> {
  const { db, credentials } = deps;
  const limits = { sponsorLimits: deps.sponsorLimits };
  const requireOwner = async (params: { id: string; environment: Environment }, on: Db = db): Promise<Owner> => {
    const { id: organizationId, environment } = params;
    if (!(await findEnvironment(on, organizationId, environment))) throw noOrganization();
    return { organizationId, environment };
  };
  const detailOf = async (on: Db, id: string, invitationUrl: string | null): Promise<OperatorOrganizationDetail> => {
    const organization = await organizations.readOrganization(on, id);
    if (!organization) throw noOrganization();
    return { ...organization, invitationUrl };
  };
  return {
    listOperatorOrganizations: ({ query }) => organizations.listOrganizations(db.lists, query),
    createOperatorOrganization: ({ caller, body, transact }) =>
      transact(async (tx) => {
        const operator = nameOf(caller);
        const organizationId = await organizations.addOrganization(tx, body.name.trim(), operator);
        const email = body.ownerEmail;
        const url = email === undefined ? null : await deps.inviteOwner(tx, { organizationId, email, operator });
        return detailOf(tx, organizationId, url);
      }),
    getOperatorOrganization: ({ params }) => detailOf(db, params.id, null),
    createOperatorKeys: ({ caller, params, transact }) =>
      transact(async (tx) => organizations.createKeys(tx, await requireOwner(params, tx), nameOf(caller))),
    revokeOperatorKey: async ({ caller, params, transact }) => {
      const answer = await transact(async (tx) => {
        const which = { operator: nameOf(caller), organizationId: params.id };
        if (!(await organizations.revokeKey(tx, params.keyId, which))) throw new ApiError('key_not_found');
        return { success: true };
      });
      credentials.clear();
      return answer;
    },
    getOperatorSponsorship: async ({ params }) => readSponsorship(db.reads, limits, await requireOwner(params)),
    updateOperatorSponsorship: ({ caller, params, body, transact }) =>
      transact(async (tx) => {
        const { organizationId, environment } = await requireOwner(params, tx);
        return changeSponsorship(tx, limits, operatorOf(organizationId, environment, nameOf(caller)), body);
      }),
  };
}

const noOrganization = () => new ApiError('organization_not_found');

/** Each takes some dozens of reads of the chain, and a browser waits. */
const RECONCILED_AT_ONCE = 50;

function accountHandlers(deps: OperatorDeps): Pick<Handlers, AccountOperation> {
  const { db } = deps;
  const reconciling = (caller: Caller): ReconcileDeps => ({ ...deps.reconciling, operator: nameOf(caller) });
  return {
    listOperatorAccounts: async () => ({ data: await relayer.listAccounts(deps) }),
    listUnreconciled: () => relayer.listUnreconciled(db.lists),
    reconcileAccounts: async ({ caller }) => {
      const lines = await reconcile(reconciling(caller), RECONCILED_AT_ONCE);
      return { open: (await relayer.listUnreconciled(db)).open, data: lines.map(relayer.toReconciled) };
    },
    matchTransaction: async ({ caller, body }) => {
      const hash = readHash(body.hash);
      return reconciled(await matchByOperator(reconciling(caller), hash, body.ids));
    },
    acceptTransaction: async ({ caller, body }) => {
      const account = readAddress(body.account, 'body.account');
      return reconciled(await acceptByOperator(reconciling(caller), body.nonce, body.reason.trim(), account));
    },
    listOperatorRelays: ({ query }) => relayer.listOpenRelays(db.lists, query),
  };
}

function readHash(text: string): bigint {
  if (/^0x[0-9a-fA-F]{1,64}$/.test(text)) return BigInt(text);
  throw new ApiError('invalid_request', 'body.hash must be the hash of a transaction.');
}

function reconciled(result: Awaited<ReturnType<typeof matchByOperator>>) {
  if ('state' in result) return relayer.toReconciled(result);
  throw new ApiError('not_reconcilable', result.reason);
}

const MAX_STUCK = 100;

function stuckHandlers({ db }: OperatorDeps): Pick<Handlers, StuckOperation> {
  return {
    listStuck: async (): Promise<Stuck> => {
      const [redeems, transfers, open] = await Promise.all([
        gifts.stuckRedeems(db.lists, MAX_STUCK),
        solanaTransfers.stuckTransfers(db.lists, MAX_STUCK),
        purchases.stuckPurchases(db.lists, MAX_STUCK),
      ]);
      return {
        redeems: redeems.map(toStuckRedeem),
        solanaTransfers: transfers.map(toStuckTransfer),
        purchases: open.map(toStuckPurchase),
      };
    },
    resumeRedeem: ({ caller, params, transact }) =>
      transact(async (tx) => {
        const resumed = await gifts.resumeRedeem(tx, params.id, nameOf(caller));
        if (resumed.ok) return { id: params.id, status: resumed.status };
        if (resumed.isMissing) throw new ApiError('redeem_not_found', resumed.reason);
        throw new ApiError('redeem_not_resumable', resumed.reason);
      }),
    resumeSolanaTransfer: ({ caller, params, transact }) =>
      transact(async (tx) => {
        const resumed = await solanaTransfers.resumeTransfer(tx, params.id, nameOf(caller));
        if (resumed.ok) return { id: params.id, status: resumed.status };
        if (resumed.isMissing) throw new ApiError('solana_transfer_not_found');
        throw new ApiError('solana_transfer_not_resumable', resumed.reason);
      }),
    completePurchase: ({ caller, params, body, transact }) =>
      transact(async (tx) => {
        const result = { state: 'completed', fileNumber: body.fileNumber } as const;
        return ended(params.id, await purchases.endByOperator(tx, params.id, result, nameOf(caller)));
      }),
    failPurchase: ({ caller, params, body, transact }) =>
      transact(async (tx) => {
        const result = { state: 'failed', reason: body.reason.trim() } as const;
        return ended(params.id, await purchases.endByOperator(tx, params.id, result, nameOf(caller)));
      }),
    cancelStuckPurchase: ({ caller, params, transact }) =>
      transact(async (tx) => ended(params.id, await purchases.cancelByOperator(tx, params.id, nameOf(caller)))),
  };
}

function ended(id: string, result: purchases.OperatorResult) {
  if (result.ok) return { id, status: result.status };
  if (result.isMissing) throw new ApiError('purchase_not_found');
  throw new ApiError('purchase_not_endable', result.reason);
}

const toStuckRedeem = (redeem: gifts.StuckRedeem): StuckRedeem => ({
  id: redeem.id,
  organizationId: redeem.organizationId,
  organizationName: redeem.organizationName,
  environment: redeem.environment,
  giftId: redeem.giftId,
  status: redeem.status,
  address: redeem.shownAddress,
  amountUsd: usdToNumber(redeem.amount),
  burnHash: redeem.transactionHash,
  reason: redeem.reason,
  burnedAt: redeem.burnedAt,
  createdAt: redeem.createdAt.toISOString(),
});

const toStuckTransfer = (transfer: solanaTransfers.StuckTransfer): StuckSolanaTransfer => ({
  id: transfer.id,
  organizationId: transfer.organizationId,
  organizationName: transfer.organizationName,
  environment: transfer.environment,
  walletAddress: transfer.walletAddress,
  recipient: transfer.recipient,
  amountUsd: usdToNumber(transfer.amount),
  burnHash: transfer.transactionHash,
  reason: transfer.reason,
  createdAt: transfer.createdAt.toISOString(),
});

const toTime = (date: Date | null): string | null => date?.toISOString() ?? null;

const toStuckPurchase = (row: purchases.StuckPurchase): StuckPurchase => ({
  id: row.id,
  organizationId: row.organization_id,
  organizationName: row.organization_name,
  environment: row.environment,
  status: row.status,
  providerId: row.provider_id,
  skuId: row.sku_id,
  reference: row.sku_reference,
  amount: row.amount,
  currency: row.currency,
  transactionHash: row.transaction_hash,
  paidAt: toTime(row.paid_at),
  orderedAt: toTime(row.ordered_at),
  acceptedAt: toTime(row.accepted_at),
  createdAt: row.created_at.toISOString(),
});

function processHandlers(deps: OperatorDeps): Pick<Handlers, ProcessOperation> {
  const { db } = deps;
  return {
    getOperatorHealth: () => readHealth(deps),
    getDoctorReport: createDoctor(deps),
    listOperatorJobs: async () => {
      const [tasks, failed] = await Promise.all([queueStats(db.lists), failedJobs(db.lists)]);
      return {
        tasks,
        failed: failed.map(({ createdAt, failedAt, ...job }) => ({
          ...job,
          createdAt: createdAt.toISOString(),
          failedAt: failedAt.toISOString(),
        })),
      };
    },
    retryJob: ({ caller, params, transact }) =>
      transact(async (tx) => {
        const job = await findFailedJob(tx, params.id);
        if (!job || !(await retryFailedJob(tx, params.id))) throw new ApiError('job_not_found');
        // The queue serves both environments.
        await recordChange(tx, operatorOf(DEPLOYMENT, 'production', nameOf(caller)), {
          action: 'job.retried',
          target: params.id,
          changes: { ...job },
        });
        return { success: true };
      }),
    listOperatorAuditLog: ({ query }) => listDeploymentChanges(db.lists, query),
  };
}

interface HealthDeps {
  readonly db: Database;
  readonly role: OperatorHealth['role'];
  /** Where this process writes. */
  readonly folders: readonly string[];
  readonly readiness: () => Promise<Readiness>;
}

const { version } = JSON.parse(readFileSync(path.resolve(import.meta.dirname, '../../package.json'), 'utf8')) as {
  version: string;
};

async function readHealth({ db, role, folders, readiness }: HealthDeps): Promise<OperatorHealth> {
  const [ready, database, disk, attention] = await Promise.all([
    readiness(),
    readDatabase(db),
    Promise.all(folders.map(readFolder)),
    readAttention(db.lists),
  ]);
  const uptimeSeconds = process.uptime();
  return {
    status: ready.isReady ? 'ok' : 'unavailable',
    version,
    role,
    startedAt: new Date(Date.now() - uptimeSeconds * 1_000).toISOString(),
    uptimeSeconds,
    checks: Object.entries(ready.checks).map(([name, word]) => ({
      name,
      word: String(word),
      level: levelOfWord(word),
    })),
    database,
    disk: disk.flat(),
    attention,
  };
}

async function readFolder(folder: string): Promise<OperatorHealth['disk']> {
  const space = await readDisk(folder);
  return space ? [{ folder: path.basename(folder), ...space }] : [];
}

async function readDatabase({ lists, pool }: Database): Promise<OperatorHealth['database']> {
  const row = await lists.one<{ version: string; size: bigint }>(sql`
    select current_setting('server_version') as version, pg_database_size(current_database()) as size`);
  return {
    version: row?.version ?? '',
    sizeBytes: Number(row?.size ?? 0n),
    connections: { busy: pool.totalCount - pool.idleCount, idle: pool.idleCount, waiting: pool.waitingCount },
  };
}

async function readAttention(reads: Reads): Promise<OperatorHealth['attention']> {
  const [relays, stuckRedeems, stuckSolanaTransfers, stuckPurchases, failed] = await Promise.all([
    relayer.relayAttention(reads),
    gifts.countStuckRedeems(reads),
    solanaTransfers.countStuckTransfers(reads),
    purchases.countStuckPurchases(reads),
    countFailedJobs(reads),
  ]);
  return { ...relays, stuckRedeems, stuckSolanaTransfers, stuckPurchases, failedJobs: failed };
}

type LoggedChange = AuditEntry & { readonly environment: Environment };

/** What operators did that concerns no organisation. */
async function listDeploymentChanges(reads: Reads, query: CursorQuery): Promise<CursorPageOf<LoggedChange>> {
  const { limit, after } = readCursor(query);
  const rows = await reads.rows<AuditRow & Place & { environment: Environment }>(sql`
    select id, ${microsOf(sql`created_at`)} as micros, environment, action, target, actor, actor_name, changes, created_at
      from audit_log
     where organization_id = ${DEPLOYMENT} ${olderThan(after, sql`created_at`, sql`id`)}
     order by created_at desc, id desc limit ${limit + 1}`);
  return toCursorPage(rows, limit, ({ micros: _, created_at, actor_name, ...entry }) => ({
    ...entry,
    actorName: actor_name,
    createdAt: created_at.toISOString(),
  }));
}
