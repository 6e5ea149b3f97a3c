import type {
  AnswerOf,
  BodyOf,
  DoctorReport,
  endpoints,
  OperatorAccount,
  OperatorHealth,
  OperatorJobs,
  OperatorRelay,
  Stuck,
} from '@svc/protocol';
import { bind, type Client, createCredentialClient, type TransportOptions } from './client/client.ts';
import { SvcInputError } from './client/errors.ts';
import { eachByCursor, type PageOptions } from './client/pages.ts';
import { request } from './client/request.ts';
import * as organizations from './operator-organizations.ts';

const access = 'operator';

export interface OperatorOptions extends TransportOptions {
  /** `OPERATOR_TOKEN` of the deployment. For servers and scripts; refused in a browser. */
  readonly operatorToken: string;
}

export type OperatorClient = ReturnType<typeof createOperator>;

/**
 * What the operator of a deployment does, by script: organisations, accounts, stuck redeems and purchases, jobs.
 *
 * @example
 * const operator = createOperator({ baseUrl, operatorToken });
 * const { status } = await operator.getHealth();
 */
export function createOperator(options: OperatorOptions) {
  const on = bind(createCredentialClient(options, tokenHeader(options)));
  return {
    getHealth: on(getHealth),
    getDoctorReport: on(getDoctorReport),
    listOrganizations: on(organizations.listOrganizations),
    organizations: on(organizations.organizations),
    createOrganization: on(organizations.createOrganization),
    getOrganization: on(organizations.getOrganization),
    createKeys: on(organizations.createKeys),
    revokeKey: on(organizations.revokeKey),
    getSponsorship: on(organizations.getSponsorship),
    updateSponsorship: on(organizations.updateSponsorship),
    listAccounts: on(listAccounts),
    listUnreconciled: on(listUnreconciled),
    reconcile: on(reconcile),
    matchTransaction: on(matchTransaction),
    acceptTransaction: on(acceptTransaction),
    relays: on(relays),
    listStuck: on(listStuck),
    resumeRedeem: on(resumeRedeem),
    resumeSolanaTransfer: on(resumeSolanaTransfer),
    completePurchase: on(completePurchase),
    failPurchase: on(failPurchase),
    cancelPurchase: on(cancelPurchase),
    getJobs: on(getJobs),
    retryJob: on(retryJob),
    auditLog: on(auditLog),
  };
}

/** Never repeats the token. */
function tokenHeader({ operatorToken }: OperatorOptions): Record<string, string> {
  if (typeof operatorToken === 'string' && /^[\x21-\x7e]+$/.test(operatorToken)) {
    return { authorization: `Bearer ${operatorToken}` };
  }
  throw new SvcInputError('invalid_options', 'operatorToken must be text without blanks.');
}

/**
 * Reads the health of the process that answers, and what needs attention in the deployment.
 *
 * @example
 * const health = await operator.getHealth();
 */
function getHealth(client: Client): Promise<OperatorHealth> {
  return request<typeof endpoints.getOperatorHealth>(client, { route: 'GET /operator/health', access });
}

/**
 * Checks the deployment and its surroundings: nodes, accounts, database, clock, mail, bridge, fulfilment, public address.
 *
 * @example
 * const { checks } = await operator.getDoctorReport();
 * const open = checks.filter(({ state }) => state !== 'ok').map(({ name, found, fix }) => `${name}: ${found}. ${fix}`);
 */
function getDoctorReport(client: Client): Promise<DoctorReport> {
  return request<typeof endpoints.getDoctorReport>(client, { route: 'GET /operator/doctor', access });
}

/**
 * Reads the service's own accounts, as the chain shows them now.
 *
 * @example
 * const low = (await operator.listAccounts()).filter(({ state }) => state !== 'OK');
 */
async function listAccounts(client: Client): Promise<OperatorAccount[]> {
  const route = 'GET /operator/accounts';
  return (await request<typeof endpoints.listOperatorAccounts>(client, { route, access })).data;
}

type Reconciled = AnswerOf<typeof endpoints.listUnreconciled>;

/**
 * Reads transactions of the accounts that the database does not know. While the manager has an open one, no gift, burn
 * or refund is paid.
 *
 * @example
 * const { open, data } = await operator.listUnreconciled();
 */
function listUnreconciled(client: Client): Promise<Reconciled> {
  return request<typeof endpoints.listUnreconciled>(client, { route: 'GET /operator/reconcile', access });
}

/**
 * Looks up unknown transactions on the chain and imports the payments that are recognised. Safe to repeat.
 *
 * @example
 * const { open } = await operator.reconcile();
 */
function reconcile(client: Client): Promise<Reconciled> {
  return request<typeof endpoints.reconcileAccounts>(client, { route: 'POST /operator/reconcile', access });
}

/**
 * Says what an open transaction paid: the id of a redeem, gift or purchase for each payment.
 *
 * @example
 * const paid = { '0x5f1e': ['rdm_1'] };
 * for (const { hash } of (await operator.listUnreconciled()).data)
 *   if (paid[hash]) await operator.matchTransaction({ hash, ids: paid[hash] });
 */
function matchTransaction(
  client: Client,
  { hash, ids }: BodyOf<typeof endpoints.matchTransaction>,
): Promise<AnswerOf<typeof endpoints.matchTransaction>> {
  const route = 'POST /operator/reconcile/match';
  return request<typeof endpoints.matchTransaction>(client, { route, access, body: { hash, ids } });
}

/**
 * Says that an open transaction is none of the payments of this service.
 *
 * @example
 * const byHand = new Set(['0x5f1e']);
 * for (const { hash, account, nonce } of (await operator.listUnreconciled()).data)
 *   if (byHand.has(hash)) await operator.acceptTransaction({ account, nonce, reason: 'Sent by hand' });
 */
function acceptTransaction(
  client: Client,
  { account, nonce, reason }: BodyOf<typeof endpoints.acceptTransaction>,
): Promise<AnswerOf<typeof endpoints.acceptTransaction>> {
  const route = 'POST /operator/reconcile/accept';
  return request<typeof endpoints.acceptTransaction>(client, { route, access, body: { account, nonce, reason } });
}

/**
 * Iterates over transactions that are under way, oldest first, with every attempt.
 *
 * @example
 * for await (const { hash, attempts } of operator.relays()) console.log(hash, attempts.length);
 */
function relays(client: Client, params: PageOptions = {}): AsyncGenerator<OperatorRelay, void, undefined> {
  return eachByCursor(
    ({ limit, cursor }) =>
      request<typeof endpoints.listOperatorRelays>(client, {
        route: 'GET /operator/relays',
        access,
        query: { limit, cursor },
      }),
    params,
  );
}

/**
 * Reads redeems and purchases that do not go on by themselves.
 *
 * @example
 * const { redeems, purchases } = await operator.listStuck();
 */
function listStuck(client: Client): Promise<Stuck> {
  return request<typeof endpoints.listStuck>(client, { route: 'GET /operator/stuck', access });
}

/**
 * Sends a redeem on to Solana that failed after its burn. Its share is not charged again.
 *
 * @example
 * const checked = new Set(['rdm_1']);
 * for (const { id } of (await operator.listStuck()).redeems) if (checked.has(id)) await operator.resumeRedeem({ id });
 */
function resumeRedeem(
  client: Client,
  { id }: { readonly id: string },
): Promise<AnswerOf<typeof endpoints.resumeRedeem>> {
  return request<typeof endpoints.resumeRedeem>(client, {
    route: 'POST /operator/redeems/{id}/resume',
    access,
    params: { id },
  });
}

/**
 * Follows a stuck transfer of a wallet to Solana again, from its burn. Nothing is burned again.
 *
 * @example
 * const { solanaTransfers } = await operator.listStuck();
 * const checked = new Set(['slt_1']);
 * for (const { id } of solanaTransfers) if (checked.has(id)) await operator.resumeSolanaTransfer({ id });
 */
function resumeSolanaTransfer(
  client: Client,
  { id }: { readonly id: string },
): Promise<AnswerOf<typeof endpoints.resumeSolanaTransfer>> {
  return request<typeof endpoints.resumeSolanaTransfer>(client, {
    route: 'POST /operator/solana-transfers/{id}/resume',
    access,
    params: { id },
  });
}

type EndedPurchase = AnswerOf<typeof endpoints.completePurchase>;

/**
 * Ends a purchase as delivered, by your word.
 *
 * @example
 * const delivered = { txn_1: 'F-20443' };
 * for (const { id } of (await operator.listStuck()).purchases)
 *   if (delivered[id]) await operator.completePurchase({ id, fileNumber: delivered[id] });
 */
function completePurchase(
  client: Client,
  { id, fileNumber }: { readonly id: string } & BodyOf<typeof endpoints.completePurchase>,
): Promise<EndedPurchase> {
  return request<typeof endpoints.completePurchase>(client, {
    route: 'POST /operator/purchases/{id}/complete',
    access,
    params: { id },
    body: { fileNumber },
  });
}

/**
 * Ends a purchase as failed, by your word: its payment becomes due for refund.
 *
 * @example
 * const unknown = new Set(['txn_1']);
 * for (const { id } of (await operator.listStuck()).purchases)
 *   if (unknown.has(id)) await operator.failPurchase({ id, reason: 'The provider has no record of it' });
 */
function failPurchase(
  client: Client,
  { id, reason }: { readonly id: string } & BodyOf<typeof endpoints.failPurchase>,
): Promise<EndedPurchase> {
  return request<typeof endpoints.failPurchase>(client, {
    route: 'POST /operator/purchases/{id}/fail',
    access,
    params: { id },
    body: { reason },
  });
}

/**
 * Cancels a purchase whose payment does not show up.
 *
 * @example
 * const unpaid = new Set(['txn_1']);
 * for (const { id } of (await operator.listStuck()).purchases) if (unpaid.has(id)) await operator.cancelPurchase({ id });
 */
function cancelPurchase(client: Client, { id }: { readonly id: string }): Promise<EndedPurchase> {
  return request<typeof endpoints.cancelStuckPurchase>(client, {
    route: 'POST /operator/purchases/{id}/cancel',
    access,
    params: { id },
  });
}

/**
 * Counts jobs by task and state, and lists those that used up their attempts.
 *
 * @example
 * const { failed } = await operator.getJobs();
 */
function getJobs(client: Client): Promise<OperatorJobs> {
  return request<typeof endpoints.listOperatorJobs>(client, { route: 'GET /operator/jobs', access });
}

/**
 * Runs a failed job again, with all its attempts.
 *
 * @example
 * for (const { id, task } of (await operator.getJobs()).failed) if (task === 'mail') await operator.retryJob({ id });
 */
function retryJob(client: Client, { id }: { readonly id: string }): Promise<organizations.Done> {
  return request<typeof endpoints.retryJob>(client, {
    route: 'POST /operator/jobs/{id}/retry',
    access,
    params: { id },
  });
}

/**
 * Iterates over what operators did that concerns no organisation, newest first.
 *
 * @example
 * for await (const { action, actor } of operator.auditLog()) console.log(action, actor);
 */
function auditLog(client: Client, params: PageOptions = {}): AsyncGenerator<OperatorAuditEntry, void, undefined> {
  return eachByCursor(
    ({ limit, cursor }) =>
      request<typeof endpoints.listOperatorAuditLog>(client, {
        route: 'GET /operator/audit-log',
        access,
        query: { limit, cursor },
      }),
    params,
  );
}

type OperatorAuditEntry = AnswerOf<typeof endpoints.listOperatorAuditLog>['data'][number];
