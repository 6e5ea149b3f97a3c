import { endpoint } from '../endpoint.ts';
import * as schema from '../schemas/organization.ts';

export const getOrganization = endpoint({
  operationId: 'getOrganization',
  method: 'GET',
  path: '/organization',
  tag: 'Organisation',
  summary: 'Read your organisation and its credits',
  access: 'secret',
  answers: { 200: schema.Organization },
});

export const listLedger = endpoint({
  operationId: 'listLedger',
  method: 'GET',
  path: '/organization/ledger',
  tag: 'Organisation',
  summary: 'List every change of your credits, newest first',
  access: 'secret',
  query: schema.LedgerQuery,
  answers: { 200: schema.LedgerPage },
  errors: ['invalid_request'],
});

export const listHolds = endpoint({
  operationId: 'listHolds',
  method: 'GET',
  path: '/organization/holds',
  tag: 'Organisation',
  summary: 'List what your credits are held for, newest first',
  access: 'secret',
  query: schema.HoldQuery,
  answers: { 200: schema.HoldPage },
  errors: ['invalid_request'],
});

export const createDeposit = endpoint({
  operationId: 'createDeposit',
  method: 'POST',
  path: '/organization/deposits',
  tag: 'Organisation',
  summary: 'Credit a USDC transfer to your deposit address at once',
  access: 'secret',
  body: schema.CreateDeposit,
  answers: { 200: schema.LedgerEntry },
  errors: [
    'invalid_request',
    'transaction_mismatch',
    'transaction_reverted',
    { code: 'transaction_not_found', status: 400 },
    'unsupported_chain',
    'chain_not_configured',
    'chain_unavailable',
  ],
});

export const getConfig = endpoint({
  operationId: 'getConfig',
  method: 'GET',
  path: '/config',
  tag: 'Organisation',
  summary: 'Read the network, addresses and classes that a client needs',
  access: 'public',
  answers: { 200: schema.Config },
  errors: ['chain_not_configured'],
});

export const getOverview = endpoint({
  operationId: 'getOverview',
  method: 'GET',
  path: '/organization/overview',
  tag: 'Organisation',
  summary: 'Read what happened in your environment, over time',
  access: 'secret',
  query: schema.OverviewQuery,
  answers: { 200: schema.Overview },
  errors: ['invalid_request'],
});

export const listRequests = endpoint({
  operationId: 'listRequests',
  method: 'GET',
  path: '/organization/requests',
  tag: 'Organisation',
  summary: 'List the requests of the last 7 days, newest first',
  description:
    'A request appears about a second after its answer. Reads by a member in the dashboard are left out, and so are requests without a valid key.',
  access: 'secret',
  query: schema.LoggedRequestsQuery,
  answers: { 200: schema.LoggedRequestPage },
  errors: ['invalid_request'],
});
