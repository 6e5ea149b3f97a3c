import { catalogue, type Endpoint, type ErrorCode, type ErrorUse, type endpoints, errorsOf } from '@svc/protocol';
import { claimRefusals, giftRefusals } from './gift-refusals.ts';
import { purchaseRefusals, settingsRefusals, webhookRefusals } from './organization-refusals.ts';
import { type MakeRefusal, type RefusalsOf, sharedRefusals, withParams } from './refusal.ts';
import { treasuryRefusals } from './treasury-refusals.ts';
import { transactionRefusals, walletRefusals } from './wallet-refusals.ts';

const skuRefusals: RefusalsOf = {
  getSku: { sku_not_found: withParams({ id: 'nothing' }) },
  checkSkuReference: {
    sku_not_found: withParams({ id: 'nothing' }),
    reference_check_unavailable: withParams({ id: 'viapass-recarga' }),
  },
};

const refusals: RefusalsOf = {
  ...walletRefusals,
  ...transactionRefusals,
  ...skuRefusals,
  ...giftRefusals,
  ...claimRefusals,
  ...purchaseRefusals,
  ...settingsRefusals,
  ...webhookRefusals,
  ...treasuryRefusals,
};

export function refusalOf({ operationId }: Endpoint, code: ErrorCode): MakeRefusal {
  const how = refusals[operationId as keyof typeof endpoints]?.[code] ?? sharedRefusals[code];
  if (!how) throw new Error(`Nothing here makes ${operationId} answer ${code}.`);
  return how;
}

/** Refusals that no request causes by itself: internal faults, limits of a deployment, missing configuration. */
const NOT_FROM_OUTSIDE: readonly ErrorCode[] = [
  'internal_error',
  'rate_unavailable',
  'idempotency_key_in_progress',
  'fee_too_high',
  'service_unavailable',
  'mail_limit_reached',
  'provider_not_configured',
  'treasury_limit_reached',
  'proposal_limit_reached',
  'solana_transfer_limit_reached',
];
/** A paymaster may refuse while it prepares; none is configured. */
const ONLY_WITH_A_PAYMASTER: Readonly<Record<string, readonly ErrorCode[]>> = {
  prepareTypedData: ['transaction_reverted'],
  prepareWalletUpgrade: ['transaction_reverted'],
};
/** They need another member or a bridge that fails, which tests beside the source have, or another change at the same moment. */
const OF_OTHERS: Readonly<Record<string, readonly ErrorCode[]>> = {
  changeTreasuryPolicy: ['proposal_not_open'],
  cancelTreasuryProposal: ['not_the_proposer'],
  quoteSolanaTransfer: ['chain_unavailable'],
};
const BEFORE_BUILDING: readonly ErrorCode[] = [
  'missing_credentials',
  'invalid_api_key',
  'invalid_token',
  'secret_key_required',
  'identity_unavailable',
  'rate_limited',
  'not_implemented',
  'invalid_request',
];

export function refusalsOf(endpoint: Endpoint): { code: ErrorCode; status: number }[] {
  const all = errorsOf(endpoint).map(withStatus);
  return all.filter(({ code }, index) => {
    if (all.findIndex((other) => other.code === code) !== index || NOT_FROM_OUTSIDE.includes(code)) return false;
    if (ONLY_WITH_A_PAYMASTER[endpoint.operationId]?.includes(code)) return false;
    if (OF_OTHERS[endpoint.operationId]?.includes(code)) return false;
    return !endpoint.planned || BEFORE_BUILDING.includes(code);
  });
}

const withStatus = (use: ErrorUse) => (typeof use === 'string' ? { code: use, status: catalogue[use].status } : use);
