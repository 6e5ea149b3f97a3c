/**
 * Stable code, usual status and message of every error. An `ApiError` may replace the message. Two codes have a second status: an
 * unknown gift on redeem and an unknown transaction on record are 400, on read 404.
 */
export const catalogue = {
  invalid_request: { status: 400, message: 'The request is not valid.' },
  idempotency_key_reused: {
    status: 400,
    message: 'This Idempotency-Key was used with another request in the last 24 hours. Use a new key.',
  },
  idempotency_key_in_progress: {
    status: 400,
    message: 'The first request with this Idempotency-Key is still running. Send the same request again in a moment.',
  },
  missing_credentials: {
    status: 401,
    message: 'Send your public key in x-api-key, and your secret key or a user token as Authorization: Bearer.',
  },
  invalid_api_key: {
    status: 401,
    message: 'The API key is unknown, revoked or does not belong with the other header.',
  },
  invalid_token: { status: 401, message: 'The bearer token is not valid.' },
  secret_key_required: { status: 401, message: 'This call needs the secret key as Authorization: Bearer.' },
  other_user: { status: 401, message: 'This token belongs to another user than the one the request names.' },
  sign_in_required: { status: 401, message: 'Sign in first. Sessions are started in the dashboard.' },
  invalid_session: { status: 401, message: 'The session has ended. Sign in again.' },
  role_not_sufficient: { status: 401, message: 'Your role does not allow this. Ask an owner of the organisation.' },
  operator_required: { status: 401, message: 'This is for operators of the deployment.' },
  origin_not_allowed: { status: 400, message: 'Requests with a session must come from a page of this service.' },
  environment_required: {
    status: 400,
    message: 'Requests with a session name their environment: x-svc-environment is production or development.',
  },
  public_key_required: {
    status: 400,
    message: 'This environment has no public key in use, and records name one. Make a key first.',
  },
  not_found: { status: 404, message: 'There is nothing at this address. The reference is at /docs.' },
  method_not_allowed: {
    status: 405,
    message: 'This address does not take this method. The header Allow names those that it takes.',
  },
  rate_limited: { status: 429, message: 'Too many requests in this minute. Retry-After says when to go on.' },
  internal_error: { status: 500, message: 'Something went wrong on our side. The request id finds it in the log.' },
  identity_unavailable: {
    status: 500,
    message: "The organisation's key set could not be read, so the token could not be checked. Try again.",
  },
  service_unavailable: { status: 503, message: 'The database cannot be reached. Retry-After says when to try again.' },
  not_implemented: { status: 501, message: 'This endpoint is part of the interface but not built yet.' },

  chain_unavailable: {
    status: 500,
    message: 'No node of the chain answers at the moment. Try again.',
  },
  chain_not_configured: { status: 400, message: 'This chain is not configured for production on this deployment.' },
  unsupported_chain: { status: 400, message: 'Wallets live on STARKNET only.' },
  token_not_supported: { status: 400, message: 'This chain does not have this token.' },

  wallet_not_found: { status: 404, message: 'No wallet exists for this user.' },
  wallet_already_exists: { status: 400, message: 'This wallet exists already for another user.' },
  wallet_ambiguous: { status: 400, message: 'The user has several wallets. Say which one with publicKey.' },
  wallet_not_deployed: { status: 400, message: 'The wallet is not deployed yet. Wait until isDeployed is true.' },
  encryption_history_full: {
    status: 400,
    message:
      "The wallet's encryption was replaced too often in 7 days. Purge its history with the secret key, or wait until it is deleted.",
  },
  encryption_not_found: { status: 404, message: 'The wallet has no replaced encryption with this id.' },
  address_mismatch: { status: 400, message: 'publicKey is not the address that deploymentData leads to.' },
  class_not_allowed: { status: 400, message: 'This account class does not belong to the wallet type.' },
  invalid_typed_data: { status: 400, message: 'The typed data is not what this service issued for this account.' },
  typed_data_expired: { status: 400, message: 'The typed data has expired. Prepare it again and sign it anew.' },
  invalid_signature: { status: 400, message: "The signature does not verify for the account's owner key." },

  transaction_not_found: { status: 404, message: 'No transaction has this hash or id.' },
  transaction_reverted: { status: 400, message: 'The transaction was reverted on the chain.' },
  fee_too_high: { status: 400, message: 'The transaction would cost more gas than this deployment pays for.' },
  sponsorship_limit_reached: {
    status: 400,
    message: 'A limit of sponsored gas is reached. It resets at midnight UTC.',
  },
  sponsorship_not_allowed: { status: 400, message: 'Your organisation does not sponsor this call.' },
  shield_paused: {
    status: 400,
    message: 'Moving money into the private pool is paused. Money in it can be moved and taken out.',
  },
  pool_busy: { status: 400, message: "The private account's last operation is too recent. Wait for some blocks." },
  pool_fee_unpaid: { status: 400, message: "The calls do not pay the private pool's fee." },
  proof_rejected: { status: 400, message: 'The private pool refuses the proof. Make it again.' },
  transaction_mismatch: { status: 400, message: 'The transaction does not match what was expected.' },
  transaction_already_used: { status: 400, message: 'This payment was used already.' },

  amount_below_fee: { status: 400, message: 'The amount must be larger than what the bridge takes for it.' },
  bridge_fee_changed: {
    status: 400,
    message: 'The bridge takes more than you allowed for. Nothing was moved. Ask for another quote.',
  },
  solana_transfer_not_found: { status: 404, message: 'No transfer to Solana has this id.' },
  solana_transfer_limit_reached: {
    status: 400,
    message: 'Too many transfers of this wallet are on their way to Solana. Wait until one has arrived.',
  },
  solana_transfer_not_resumable: { status: 400, message: 'Only a transfer to Solana that is stuck can be resumed.' },

  sku_not_found: { status: 404, message: 'No service has this id.' },
  reference_check_unavailable: {
    status: 400,
    message: 'References of this service cannot be checked before purchase.',
  },
  invalid_reference: { status: 400, message: 'The reference does not have the form that this service expects.' },
  invalid_amount: { status: 400, message: 'The amount is not one that this service accepts.' },
  payment_too_small: { status: 400, message: 'The payment is smaller than the price.' },
  provider_not_configured: {
    status: 400,
    message: 'Nobody delivers services for production on this deployment. Its operator sets FULFILMENT_URL.',
  },
  purchase_not_cancellable: {
    status: 400,
    message: 'The purchase can no longer be cancelled: its provider was called, or it has ended.',
  },
  purchase_not_refundable: { status: 400, message: 'The purchase has no payment that is due for refund.' },
  refund_failed: { status: 500, message: 'The refund could not be sent. Check the manager wallet balance.' },
  purchase_not_found: { status: 404, message: 'No purchase has this id.' },

  sku_id_taken: { status: 400, message: 'A service with this id exists already. Choose another.' },
  sku_limit_reached: {
    status: 400,
    message: 'There are too many services of your own. Delete one that is not needed.',
  },
  invalid_sku: { status: 400, message: 'The service cannot be saved as it is.' },
  webhook_not_found: { status: 404, message: 'No webhook has this id.' },
  webhook_limit_reached: { status: 400, message: 'There are too many webhooks. Delete one that is not needed.' },
  webhook_disabled: { status: 400, message: 'The webhook is switched off. Set isEnabled first.' },
  invalid_webhook_url: { status: 400, message: 'Webhooks go to public https addresses only.' },
  delivery_not_found: { status: 404, message: 'No delivery has this id.' },
  event_not_found: { status: 404, message: 'No event has this id.' },
  too_many_streams: {
    status: 429,
    message: 'This environment has too many open streams. Close one, or try again later.',
  },
  key_not_found: { status: 404, message: 'No key in use has this id.' },
  key_in_use: { status: 400, message: 'This request was made with the key. Revoke it with another one.' },
  key_limit_reached: { status: 400, message: 'There are too many keys in use. Revoke one that is not needed.' },

  invalid_link: { status: 400, message: 'The link was used already, has expired or is unknown. Ask for a new one.' },
  invalid_passkey: { status: 400, message: 'The passkey is unknown, or its answer is not valid. Try again.' },
  passkeys_unavailable: {
    status: 400,
    message: 'Passkeys need a host name. Open this service by its name, on this machine as localhost.',
  },
  passkey_limit_reached: { status: 400, message: 'There are too many passkeys. Remove one that is not needed.' },
  passkey_not_found: { status: 404, message: 'You have no passkey with this id.' },
  session_not_found: { status: 404, message: 'You have no session with this id.' },
  member_not_found: { status: 404, message: 'No member has this id.' },
  member_exists: { status: 400, message: 'This person is a member already.' },
  member_limit_reached: { status: 400, message: 'There are too many members. Remove one that is not needed.' },
  mail_not_configured: {
    status: 400,
    message: 'This deployment sends no mail. Its operator makes invitations with npm run admin.',
  },
  last_owner: { status: 400, message: 'An organisation keeps one owner at least. Make another member owner first.' },

  treasury_not_found: { status: 404, message: 'No treasury has this id.' },
  treasury_limit_reached: { status: 400, message: 'There are too many treasuries in this environment.' },
  invalid_treasury_policy: { status: 400, message: 'These signers, threshold and limits would not work.' },
  proposal_not_found: { status: 404, message: 'The treasury has no proposal with this id.' },
  proposal_limit_reached: {
    status: 400,
    message: 'The treasury has too many open proposals. Execute or cancel one first.',
  },
  proposal_not_open: { status: 400, message: 'The proposal is under way or has ended.' },
  proposal_not_ready: { status: 400, message: 'The proposal has too few signatures.' },
  not_a_signer: { status: 400, message: 'This public key is no signer of the treasury.' },
  not_the_proposer: { status: 400, message: 'Only the member who made a proposal can cancel it.' },

  redeem_not_resumable: {
    status: 400,
    message: 'Only a redeem to Solana that failed after its burn can be resumed.',
  },
  purchase_not_endable: { status: 400, message: 'The purchase cannot be ended by hand as it is.' },
  not_reconcilable: { status: 400, message: 'No open transaction fits. Look at the list again.' },
  organization_not_found: { status: 404, message: 'No organisation has this id.' },
  job_not_found: { status: 404, message: 'No failed job has this id.' },

  rate_unavailable: { status: 500, message: 'No exchange rate can be had at the moment. Try again in a minute.' },

  insufficient_credits: { status: 400, message: 'The organisation has not enough credits. Make a deposit first.' },
  gift_code_taken: { status: 400, message: 'This gift code exists already. Choose another.' },
  daily_limit_reached: {
    status: 400,
    message:
      'Gifts created with the public key alone have reached their daily limit. Use the secret key, or raise the limit.',
  },
  mail_limit_reached: {
    status: 400,
    message: 'This environment has queued its mails of the day. Send the rest tomorrow.',
  },
  gift_not_found: { status: 404, message: 'Gift not found' },
  gift_expired: { status: 400, message: 'Gift has expired' },
  gift_limit_reached: { status: 400, message: 'Gift redemption limit reached' },
  gift_user_limit_reached: { status: 400, message: 'Gift redemption limit for this wallet reached' },
  gift_inactive: { status: 400, message: 'Gift is not active' },
  gift_not_started: { status: 400, message: 'Gift has not started yet' },
  proof_of_work_required: {
    status: 429,
    message:
      'Too many unknown gift codes were looked up. Solve a challenge of GET /gifts/claim-challenge and send it as x-svc-proof, or wait.',
  },
  invalid_proof_of_work: {
    status: 400,
    message: 'The x-svc-proof is wrong, expired or used already. Solve a new challenge of GET /gifts/claim-challenge.',
  },
  recipient_wallets_off: {
    status: 400,
    message: 'This organisation makes no wallets for recipients. Redeem the gift to a wallet of your own.',
  },
  invalid_recovery_code: { status: 400, message: 'No wallet has this recovery code. Check it letter by letter.' },
  recipient_required: { status: 401, message: "This needs a recipient's token. Sign in to the wallet first." },
  wallet_not_empty: {
    status: 400,
    message: 'There is money in the wallet. Send it away first, or export the key and say so with exported=true.',
  },
  redeem_not_found: { status: 404, message: 'No redeem has this id.' },
  evidence_not_found: { status: 404, message: 'This link is wrong or has expired. Ask for a new one.' },
  payout_failed: { status: 500, message: 'The payout failed and was taken back. Check the manager wallet balance.' },
} as const satisfies Record<string, { status: number; message: string }>;

export type ErrorCode = keyof typeof catalogue;

/** An error for the caller. Any other error is internal and only logged. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly code: ErrorCode;
  readonly status: number;

  constructor(code: ErrorCode, message?: string, options?: ErrorOptions & { status?: number }) {
    super(message ?? catalogue[code].message, options);
    this.code = code;
    this.status = options?.status ?? catalogue[code].status;
  }
}
