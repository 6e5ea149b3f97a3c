import { endpoint } from '../endpoint.ts';
import * as schema from '../schemas/treasury.ts';

const tag = 'Treasuries';

/** Signers of live money are chosen by owners. */
const role = { production: 'OWNER', development: 'DEVELOPER' } as const;

export const createTreasury = endpoint({
  operationId: 'createTreasury',
  method: 'POST',
  path: '/treasuries',
  tag,
  summary: 'Create a treasury: an account whose payments several people approve',
  description:
    'The account is deployed without gas. Send an Idempotency-Key: repeated with it, the request answers the same treasury.',
  access: 'secret',
  role,
  body: schema.CreateTreasury,
  answers: { 201: schema.Treasury },
  errors: [
    'invalid_request',
    'invalid_treasury_policy',
    'token_not_supported',
    'treasury_limit_reached',
    'transaction_reverted',
    'fee_too_high',
    'sponsorship_limit_reached',
    'chain_not_configured',
    'chain_unavailable',
  ],
});

export const listTreasuries = endpoint({
  operationId: 'listTreasuries',
  method: 'GET',
  path: '/treasuries',
  tag,
  summary: 'List your treasuries, newest first',
  access: 'secret',
  query: schema.TreasuryQuery,
  answers: { 200: schema.TreasuryPage },
  errors: ['invalid_request'],
});

export const getTreasury = endpoint({
  operationId: 'getTreasury',
  method: 'GET',
  path: '/treasuries/{id}',
  tag,
  summary: 'Read a treasury',
  access: 'secret',
  params: schema.TreasuryParams,
  answers: { 200: schema.Treasury },
  errors: ['treasury_not_found'],
});

export const getTreasuryPolicy = endpoint({
  operationId: 'getTreasuryPolicy',
  method: 'GET',
  path: '/treasuries/{id}/policy',
  tag,
  summary: 'Read who signs for a treasury, how many are needed, and its limits',
  access: 'secret',
  params: schema.TreasuryParams,
  answers: { 200: schema.TreasuryPolicy },
  errors: ['treasury_not_found'],
});

export const changeTreasuryPolicy = endpoint({
  operationId: 'changeTreasuryPolicy',
  method: 'PATCH',
  path: '/treasuries/{id}/policy',
  tag,
  summary: 'Propose other signers, another threshold or other limits',
  description:
    'The answer is a proposal, which the current signers approve. It replaces an open proposal of another policy: of the two at most one can be executed.',
  access: 'secret',
  role,
  params: schema.TreasuryParams,
  body: schema.ChangeTreasuryPolicy,
  answers: { 201: schema.TreasuryProposal },
  errors: [
    'invalid_request',
    'invalid_treasury_policy',
    'token_not_supported',
    'treasury_not_found',
    'proposal_limit_reached',
    'proposal_not_open',
    'chain_not_configured',
    'chain_unavailable',
  ],
});

export const createTreasuryProposal = endpoint({
  operationId: 'createTreasuryProposal',
  method: 'POST',
  path: '/treasuries/{id}/transactions',
  tag,
  summary: 'Propose transfers or calls; the answer has the typed data that signers sign',
  access: 'secret',
  params: schema.TreasuryParams,
  body: schema.CreateTreasuryProposal,
  answers: { 201: schema.TreasuryProposal },
  errors: [
    'invalid_request',
    'token_not_supported',
    'sponsorship_not_allowed',
    'treasury_not_found',
    'proposal_not_found',
    'proposal_not_open',
    'proposal_limit_reached',
    'chain_not_configured',
    'chain_unavailable',
  ],
});

export const listTreasuryProposals = endpoint({
  operationId: 'listTreasuryProposals',
  method: 'GET',
  path: '/treasuries/{id}/transactions',
  tag,
  summary: 'List the proposals of a treasury, newest first',
  access: 'secret',
  params: schema.TreasuryParams,
  query: schema.TreasuryProposalQuery,
  answers: { 200: schema.TreasuryProposalPage },
  errors: ['invalid_request', 'treasury_not_found'],
});

export const getTreasuryProposal = endpoint({
  operationId: 'getTreasuryProposal',
  method: 'GET',
  path: '/treasuries/{id}/transactions/{proposalId}',
  tag,
  summary: 'Read a proposal, with the typed data that signers sign',
  description: 'The public key is enough, so that a signer can look at what there is to sign. Ids cannot be guessed.',
  access: 'public',
  params: schema.TreasuryProposalParams,
  answers: { 200: schema.TreasuryProposal },
  errors: ['treasury_not_found', 'proposal_not_found'],
});

export const signTreasuryProposal = endpoint({
  operationId: 'signTreasuryProposal',
  method: 'POST',
  path: '/treasuries/{id}/transactions/{proposalId}/sign',
  tag,
  summary: "Add a signer's signature to a proposal",
  description: 'The signature is its own proof, so the public key is enough. It counts once for each signer.',
  access: 'public',
  params: schema.TreasuryProposalParams,
  body: schema.SignTreasuryProposal,
  answers: { 200: schema.TreasuryProposal },
  errors: [
    'invalid_request',
    'invalid_signature',
    'not_a_signer',
    'treasury_not_found',
    'proposal_not_found',
    'proposal_not_open',
    'chain_not_configured',
    'chain_unavailable',
  ],
});

export const executeTreasuryProposal = endpoint({
  operationId: 'executeTreasuryProposal',
  method: 'POST',
  path: '/treasuries/{id}/transactions/{proposalId}/execute',
  tag,
  summary: 'Execute a proposal that has enough signatures, without gas',
  description: 'It is executed once. Repeated, the request answers the same transaction.',
  access: 'secret',
  params: schema.TreasuryProposalParams,
  answers: { 200: schema.TreasuryProposal },
  errors: [
    'treasury_not_found',
    'proposal_not_found',
    'proposal_not_open',
    'proposal_not_ready',
    'transaction_reverted',
    'fee_too_high',
    'sponsorship_limit_reached',
    'sponsorship_not_allowed',
    'chain_not_configured',
    'chain_unavailable',
  ],
});

export const cancelTreasuryProposal = endpoint({
  operationId: 'cancelTreasuryProposal',
  method: 'POST',
  path: '/treasuries/{id}/transactions/{proposalId}/cancel',
  tag,
  summary: 'Cancel a proposal that is not under way',
  description: 'By the member who made it; one that was made with a secret key, by any member or secret key.',
  access: 'secret',
  params: schema.TreasuryProposalParams,
  answers: { 200: schema.TreasuryProposal },
  errors: ['treasury_not_found', 'proposal_not_found', 'proposal_not_open', 'not_the_proposer'],
});
