import { endpoint } from '../endpoint.ts';
import { Success } from '../schemas/common.ts';
import * as schema from '../schemas/operator.ts';
import * as accounts from '../schemas/operator-accounts.ts';
import { Sponsorship } from '../schemas/settings.ts';

const tag = 'Operator';
const access = 'operator';

export const getOperatorHealth = endpoint({
  operationId: 'getOperatorHealth',
  method: 'GET',
  path: '/operator/health',
  tag,
  summary: 'Read the health of the process that answers, and what needs attention in the deployment',
  access,
  answers: { 200: schema.OperatorHealth },
});

export const getDoctorReport = endpoint({
  operationId: 'getDoctorReport',
  method: 'GET',
  path: '/operator/doctor',
  tag,
  summary:
    'Check nodes, accounts, database, clock, mail, bridge, fulfilment, webhooks and public address, with what to do',
  access,
  answers: { 200: schema.DoctorReport },
});

export const listOperatorOrganizations = endpoint({
  operationId: 'listOperatorOrganizations',
  method: 'GET',
  path: '/operator/organizations',
  tag,
  summary: 'List or search organisations, newest first',
  access,
  query: schema.OperatorOrganizationQuery,
  answers: { 200: schema.OperatorOrganizationPage },
  errors: ['invalid_request'],
});

export const createOperatorOrganization = endpoint({
  operationId: 'createOperatorOrganization',
  method: 'POST',
  path: '/operator/organizations',
  tag,
  summary: 'Create an organisation, and invite its first owner',
  access,
  body: schema.CreateOrganization,
  shownOnce: ['invitationUrl'],
  answers: { 201: schema.OperatorOrganizationDetail },
  errors: ['invalid_request'],
});

export const getOperatorOrganization = endpoint({
  operationId: 'getOperatorOrganization',
  method: 'GET',
  path: '/operator/organizations/{id}',
  tag,
  summary: 'Read an organisation with its keys and members',
  access,
  params: schema.OrganizationParams,
  answers: { 200: schema.OperatorOrganizationDetail },
  errors: ['organization_not_found'],
});

export const createOperatorKeys = endpoint({
  operationId: 'createOperatorKeys',
  method: 'POST',
  path: '/operator/organizations/{id}/{environment}/keys',
  tag,
  summary: 'Make a public and a secret key of an organisation',
  access,
  params: schema.EnvironmentParams,
  shownOnce: ['secretKey'],
  answers: { 201: schema.IssuedKeys },
  errors: ['organization_not_found'],
});

export const revokeOperatorKey = endpoint({
  operationId: 'revokeOperatorKey',
  method: 'DELETE',
  path: '/operator/organizations/{id}/keys/{keyId}',
  tag,
  summary: 'Revoke a key of an organisation, at once and everywhere',
  access,
  params: schema.OrganizationKeyParams,
  answers: { 200: Success },
  errors: ['key_not_found'],
});

export const getOperatorSponsorship = endpoint({
  operationId: 'getOperatorSponsorship',
  method: 'GET',
  path: '/operator/organizations/{id}/{environment}/sponsorship',
  tag,
  summary: 'Read the limits of sponsored gas of an organisation',
  access,
  params: schema.EnvironmentParams,
  answers: { 200: Sponsorship },
  errors: ['organization_not_found'],
});

export const updateOperatorSponsorship = endpoint({
  operationId: 'updateOperatorSponsorship',
  method: 'PATCH',
  path: '/operator/organizations/{id}/{environment}/sponsorship',
  tag,
  summary: 'Change the limits of sponsored gas of an organisation; null restores the default',
  access,
  params: schema.EnvironmentParams,
  body: schema.UpdateOperatorSponsorship,
  answers: { 200: Sponsorship },
  errors: ['invalid_request', 'organization_not_found'],
});

export const listOperatorAccounts = endpoint({
  operationId: 'listOperatorAccounts',
  method: 'GET',
  path: '/operator/accounts',
  tag,
  summary: "List the service's own accounts, as the chain shows them now",
  access,
  answers: { 200: accounts.OperatorAccountList },
});

export const listUnreconciled = endpoint({
  operationId: 'listUnreconciled',
  method: 'GET',
  path: '/operator/reconcile',
  tag,
  summary: 'List transactions of the accounts that the database does not know',
  description: 'While the manager has one of them, no gift, burn or refund is paid.',
  access,
  answers: { 200: accounts.ReconciledList },
});

export const reconcileAccounts = endpoint({
  operationId: 'reconcileAccounts',
  method: 'POST',
  path: '/operator/reconcile',
  tag,
  summary: 'Look up unknown transactions on the chain and import the payments that are recognised',
  description: 'At most 50 of each account. Safe to repeat.',
  access,
  answers: { 200: accounts.ReconciledList },
  errors: ['chain_unavailable'],
});

export const matchTransaction = endpoint({
  operationId: 'matchTransaction',
  method: 'POST',
  path: '/operator/reconcile/match',
  tag,
  summary: 'Say what an open transaction paid',
  access,
  body: accounts.MatchTransaction,
  answers: { 200: accounts.ReconciledTransaction },
  errors: ['invalid_request', 'not_reconcilable', 'chain_unavailable'],
});

export const acceptTransaction = endpoint({
  operationId: 'acceptTransaction',
  method: 'POST',
  path: '/operator/reconcile/accept',
  tag,
  summary: 'Say that an open transaction is none of the payments of this service',
  access,
  body: accounts.AcceptTransaction,
  answers: { 200: accounts.ReconciledTransaction },
  errors: ['invalid_request', 'not_reconcilable'],
});

export const listOperatorRelays = endpoint({
  operationId: 'listOperatorRelays',
  method: 'GET',
  path: '/operator/relays',
  tag,
  summary: 'List transactions that are under way, oldest first, with every attempt',
  access,
  query: accounts.OperatorRelayQuery,
  answers: { 200: accounts.OperatorRelayPage },
  errors: ['invalid_request'],
});

export const listStuck = endpoint({
  operationId: 'listStuck',
  method: 'GET',
  path: '/operator/stuck',
  tag,
  summary: 'List redeems, transfers and purchases that do not go on by themselves',
  access,
  answers: { 200: accounts.Stuck },
});

export const resumeRedeem = endpoint({
  operationId: 'resumeRedeem',
  method: 'POST',
  path: '/operator/redeems/{id}/resume',
  tag,
  summary: 'Send a redeem on to Solana that failed after its burn',
  description: 'Its share is spent already and is not charged again.',
  access,
  params: accounts.RedeemParams,
  answers: { 200: accounts.ResumedRedeem },
  errors: ['redeem_not_found', 'redeem_not_resumable'],
});

export const resumeSolanaTransfer = endpoint({
  operationId: 'resumeSolanaTransfer',
  method: 'POST',
  path: '/operator/solana-transfers/{id}/resume',
  tag,
  summary: 'Follow a stuck transfer to Solana again, from its burn',
  description: 'Nothing is burned again. All its time limits begin anew.',
  access,
  params: accounts.SolanaTransferParams,
  answers: { 200: accounts.ResumedSolanaTransfer },
  errors: ['solana_transfer_not_found', 'solana_transfer_not_resumable'],
});

const purchaseErrors = ['purchase_not_found', 'purchase_not_endable'] as const;

export const completePurchase = endpoint({
  operationId: 'completePurchase',
  method: 'POST',
  path: '/operator/purchases/{id}/complete',
  tag,
  summary: 'End a purchase as delivered, by your word',
  access,
  params: accounts.StuckPurchaseParams,
  body: accounts.CompletePurchase,
  answers: { 200: accounts.EndedPurchase },
  errors: ['invalid_request', ...purchaseErrors],
});

export const failPurchase = endpoint({
  operationId: 'failPurchase',
  method: 'POST',
  path: '/operator/purchases/{id}/fail',
  tag,
  summary: 'End a purchase as failed, by your word: its payment becomes due for refund',
  access,
  params: accounts.StuckPurchaseParams,
  body: accounts.FailPurchase,
  answers: { 200: accounts.EndedPurchase },
  errors: ['invalid_request', ...purchaseErrors],
});

export const cancelStuckPurchase = endpoint({
  operationId: 'cancelStuckPurchase',
  method: 'POST',
  path: '/operator/purchases/{id}/cancel',
  tag,
  summary: 'Cancel a purchase whose payment does not show up',
  access,
  params: accounts.StuckPurchaseParams,
  answers: { 200: accounts.EndedPurchase },
  errors: [...purchaseErrors],
});

export const listOperatorJobs = endpoint({
  operationId: 'listOperatorJobs',
  method: 'GET',
  path: '/operator/jobs',
  tag,
  summary: 'Count jobs by task and state, and list those that used up their attempts',
  access,
  answers: { 200: schema.OperatorJobs },
});

export const retryJob = endpoint({
  operationId: 'retryJob',
  method: 'POST',
  path: '/operator/jobs/{id}/retry',
  tag,
  summary: 'Run a failed job again, with all its attempts',
  access,
  params: schema.JobParams,
  answers: { 200: Success },
  errors: ['job_not_found'],
});

export const listOperatorAuditLog = endpoint({
  operationId: 'listOperatorAuditLog',
  method: 'GET',
  path: '/operator/audit-log',
  tag,
  summary: 'List what operators did that concerns no organisation, newest first',
  access,
  query: schema.OperatorAuditQuery,
  answers: { 200: schema.OperatorAuditPage },
  errors: ['invalid_request'],
});
