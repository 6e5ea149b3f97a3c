import { endpoint } from '../endpoint.ts';
import * as schema from '../schemas/transaction.ts';

const tag = 'Transactions';

export const recordSend = endpoint({
  operationId: 'recordSend',
  method: 'POST',
  path: '/transactions/record-send',
  tag,
  summary: 'Record a transfer that was executed on the chain',
  description: 'Recorded again, a transfer answers the same record. Chains other than STARKNET need the secret key.',
  access: 'both',
  body: schema.RecordSend,
  answers: { 200: schema.Transaction },
  errors: [
    'invalid_request',
    'token_not_supported',
    { code: 'transaction_not_found', status: 400 },
    'transaction_reverted',
    'transaction_mismatch',
    'chain_not_configured',
    'secret_key_required',
    'wallet_not_found',
    'chain_unavailable',
  ],
});

export const listTransactions = endpoint({
  operationId: 'listTransactions',
  method: 'GET',
  path: '/transactions/transaction-list',
  tag,
  summary: "List a wallet's transactions, newest first",
  description:
    'The date filters combine: year alone selects a year, month with year a month, day with month and year a day (UTC).',
  access: 'both',
  query: schema.TransactionListQuery,
  answers: { 200: schema.TransactionPage },
  errors: ['invalid_request', 'wallet_not_found'],
});

export const prepareTypedData = endpoint({
  operationId: 'prepareTypedData',
  method: 'POST',
  path: '/transactions/prepare-typed-data',
  tag,
  summary: 'Get the typed data that the owner signs to execute calls without gas',
  access: 'both',
  body: schema.PrepareTypedData,
  answers: { 200: schema.PreparedTypedData },
  errors: [
    'invalid_request',
    'sponsorship_not_allowed',
    'shield_paused',
    'pool_fee_unpaid',
    'transaction_reverted',
    'chain_not_configured',
    'wallet_not_found',
    'chain_unavailable',
  ],
});

export const executeSponsoredTransaction = endpoint({
  operationId: 'executeSponsoredTransaction',
  method: 'POST',
  path: '/transactions/execute-sponsored-transaction',
  tag,
  summary: 'Execute signed calls without gas',
  access: 'both',
  body: schema.ExecuteSponsoredTransaction,
  answers: { 200: schema.TransactionHash },
  errors: [
    'invalid_request',
    'invalid_typed_data',
    'typed_data_expired',
    'invalid_signature',
    'wallet_not_deployed',
    'transaction_reverted',
    'fee_too_high',
    'sponsorship_limit_reached',
    'sponsorship_not_allowed',
    'shield_paused',
    'pool_busy',
    'pool_fee_unpaid',
    'proof_rejected',
    'chain_not_configured',
    'wallet_not_found',
    'chain_unavailable',
  ],
});

export const syncOnChain = endpoint({
  operationId: 'syncOnChain',
  method: 'POST',
  path: '/transactions/sync-on-chain',
  tag,
  summary: "Look for a wallet's transfers on the chain that the history does not have",
  access: 'both',
  body: schema.SyncOnChain,
  answers: { 200: schema.SyncedOnChain },
  errors: ['invalid_request', 'chain_not_configured', 'wallet_not_found', 'chain_unavailable'],
});

export const getTransaction = endpoint({
  operationId: 'getTransaction',
  method: 'GET',
  path: '/transactions/{hashOrId}',
  tag,
  summary: 'Read a transaction by its hash or id',
  access: 'both',
  params: schema.HashOrIdParams,
  answers: { 200: schema.Transaction },
  errors: ['transaction_not_found'],
});

export const getTransactionStatus = endpoint({
  operationId: 'getTransactionStatus',
  method: 'GET',
  path: '/transactions/{hash}/status',
  tag,
  summary: "Read a transaction's status on the chain",
  access: 'both',
  params: schema.HashParams,
  answers: { 200: schema.TransactionStatus },
  errors: ['invalid_request', 'chain_not_configured', 'chain_unavailable'],
});

export const listEnvironmentTransactions = endpoint({
  operationId: 'listEnvironmentTransactions',
  method: 'GET',
  path: '/transactions',
  tag,
  summary: 'List the transactions of your environment, newest first',
  access: 'secret',
  query: schema.EnvironmentTransactionsQuery,
  answers: { 200: schema.EnvironmentTransactionPage },
  errors: ['invalid_request'],
});

export const getTransactionDetails = endpoint({
  operationId: 'getTransactionDetails',
  method: 'GET',
  path: '/transactions/{hashOrId}/details',
  tag,
  summary: "Read a transaction's calls, events, fee and the attempts to execute it",
  description: 'Where the chain cannot be asked, the answer has what the service stored.',
  access: 'secret',
  params: schema.HashOrIdParams,
  answers: { 200: schema.TransactionDetails },
  errors: ['transaction_not_found'],
});
