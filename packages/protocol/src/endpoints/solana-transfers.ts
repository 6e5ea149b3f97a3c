import { endpoint } from '../endpoint.ts';
import * as schema from '../schemas/solana-transfer.ts';

const tag = 'Transactions';

export const quoteSolanaTransfer = endpoint({
  operationId: 'quoteSolanaTransfer',
  method: 'POST',
  path: '/solana-transfers/quote',
  tag,
  summary: 'Ask what moving USDC from a wallet to Solana costs',
  description:
    'Answers the calls that burn the amount on Starknet. Have them prepared with /transactions/prepare-typed-data, let the owner sign, and send the result to /solana-transfers.',
  access: 'both',
  body: schema.QuoteSolanaTransfer,
  answers: { 200: schema.SolanaTransferQuote },
  errors: ['invalid_request', 'amount_below_fee', 'chain_not_configured', 'wallet_not_found', 'chain_unavailable'],
});

export const createSolanaTransfer = endpoint({
  operationId: 'createSolanaTransfer',
  method: 'POST',
  path: '/solana-transfers',
  tag,
  summary: 'Move USDC from a wallet to Solana without gas',
  description:
    'Answers when the chain has taken the burn; the bridge then mints on Solana by itself. Sent again, the same typed data answers the same transfer.',
  access: 'both',
  body: schema.CreateSolanaTransfer,
  answers: { 202: schema.SolanaTransfer },
  errors: [
    'invalid_request',
    'invalid_typed_data',
    'typed_data_expired',
    'invalid_signature',
    'bridge_fee_changed',
    'transaction_already_used',
    'solana_transfer_limit_reached',
    'wallet_not_deployed',
    'transaction_reverted',
    'fee_too_high',
    'sponsorship_limit_reached',
    'sponsorship_not_allowed',
    'chain_not_configured',
    'wallet_not_found',
    'chain_unavailable',
  ],
});

export const getSolanaTransfer = endpoint({
  operationId: 'getSolanaTransfer',
  method: 'GET',
  path: '/solana-transfers/{id}',
  tag,
  summary: 'Read a transfer to Solana',
  access: 'both',
  params: schema.SolanaTransferParams,
  answers: { 200: schema.SolanaTransfer },
  errors: ['solana_transfer_not_found'],
});

export const listSolanaTransfers = endpoint({
  operationId: 'listSolanaTransfers',
  method: 'GET',
  path: '/solana-transfers',
  tag,
  summary: "List a wallet's transfers to Solana, newest first",
  access: 'both',
  query: schema.SolanaTransferQuery,
  answers: { 200: schema.SolanaTransferPage },
  errors: ['invalid_request', 'wallet_not_found'],
});
