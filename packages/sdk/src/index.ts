export type {
  ApiKey,
  AuditEntry,
  Chain,
  ChainToken,
  Currency,
  Delivery,
  DeliveryState,
  Event as SvcEvent,
  EventType,
  Gift,
  GiftType,
  LedgerEntry,
  OfferedSku,
  OnChainTxStatus,
  Organization,
  RedeemStatus,
  RefundStatus,
  Settings,
  Sku,
  SkuCategory,
  Transaction,
  TxStatus,
  Wallet,
  WalletType,
  Webhook,
} from '@svc/protocol';
export { type BearerToken, type Client, createClient, type Fetch, type SvcOptions } from './client/client.ts';
export * from './client/errors.ts';
export { type Config, getConfig } from './client/get-config.ts';
export type { List, PageOptions } from './client/pages.ts';
export type { Runtime } from './client/runtime.ts';
export { createSvc, type Svc } from './create-svc.ts';
export { type GetUsdAmountParams, getUsdAmount } from './exchanges/get-usd-amount.ts';
export { type Claim, type ClaimGiftParams, claimGift } from './gifts/claim-gift.ts';
export { type CreateGiftParams, createGift } from './gifts/create-gift.ts';
export { type CreateGiftsBulkParams, createGiftsBulk, type GiftsCreated } from './gifts/create-gifts-bulk.ts';
export { type DeleteGiftParams, deleteGift, type GiftDeleted } from './gifts/delete-gift.ts';
export { type GetGiftParams, getGift } from './gifts/get-gift.ts';
export { type GetGiftRedeemParams, type GiftRedeem, getGiftRedeem } from './gifts/get-gift-redeem.ts';
export { type GiftUsage, getGiftUsage } from './gifts/get-gift-usage.ts';
export { type GetRedeemStatusParams, getRedeemStatus, type RedeemState } from './gifts/get-redeem-status.ts';
export { giftRedeems } from './gifts/gift-redeems.ts';
export { type GiftsParams, gifts } from './gifts/gifts.ts';
export { type BulkGift, type GiftsBulkState, SvcGiftsBulkError } from './gifts/gifts-bulk-state.ts';
export { type ListGiftRedeemsParams, listGiftRedeems } from './gifts/list-gift-redeems.ts';
export { type GiftFilters, type ListGiftsParams, listGifts } from './gifts/list-gifts.ts';
export {
  type Redeemed,
  type RedeemedOnStarknet,
  type RedeemGiftParams,
  type RedeemStarted,
  redeemGift,
} from './gifts/redeem-gift.ts';
export { type UpdateGiftParams, updateGift } from './gifts/update-gift.ts';
export { type WaitForRedeemParams, waitForRedeem } from './gifts/wait-for-redeem.ts';
export { type ChangeEncryptKeyParams, changeEncryptKey } from './keys/change-encrypt-key.ts';
export type { TransactionEvent } from './node/read-receipt.ts';
export {
  type TransactionResult,
  type WaitForTransactionOptions,
  waitForTransaction,
} from './node/wait-for-transaction.ts';
export { type CreateDepositParams, createDeposit } from './organization/create-deposit.ts';
export { getOrganization } from './organization/get-organization.ts';
export { ledger } from './organization/ledger.ts';
export { type ListLedgerParams, listLedger } from './organization/list-ledger.ts';
export { type ChangedToPasskey, type ChangeToPasskeyParams, changeToPasskey } from './passkeys/change-to-passkey.ts';
export { type CreatePasskeyParams, createPasskey, type Passkey } from './passkeys/create-passkey.ts';
export type { PasskeyOptions } from './passkeys/passkey-options.ts';
export { type UnlockParams, unlock } from './passkeys/unlock.ts';
export { type UnlockWithPasskeyParams, unlockWithPasskey } from './passkeys/unlock-with-passkey.ts';
export type { Credentials } from './passkeys/web-authn.ts';
export type { PollOptions } from './polling/poll-until.ts';
export { type CancelSkuPurchaseParams, cancelSkuPurchase } from './purchases/cancel-sku-purchase.ts';
export { type CreateSkuPurchaseParams, createSkuPurchase } from './purchases/create-sku-purchase.ts';
export { type GetSkuPurchaseParams, getSkuPurchase } from './purchases/get-sku-purchase.ts';
export {
  type ListSkuPurchasesParams,
  listSkuPurchases,
  type SkuPurchaseFilters,
} from './purchases/list-sku-purchases.ts';
export { type PurchaseErrorCode, SvcPurchaseError } from './purchases/purchase-error.ts';
export { type PurchaseSkuParams, purchaseSku } from './purchases/purchase-sku.ts';
export type { PurchaseAsked, PurchaseState } from './purchases/purchase-state.ts';
export { type RefundSkuPurchaseParams, refundSkuPurchase } from './purchases/refund-sku-purchase.ts';
export { type SkuPurchasesParams, skuPurchases } from './purchases/sku-purchases.ts';
export { type WaitForPurchaseParams, waitForPurchase } from './purchases/wait-for-purchase.ts';
export { type AddSessionKeyParams, addSessionKeyToContract } from './sessions/add-session-key-to-contract.ts';
export { type CreateSessionKeyParams, createSessionKey } from './sessions/create-session-key.ts';
export {
  type ExecuteTransactionWithSessionParams,
  executeTransactionWithSession,
} from './sessions/execute-transaction-with-session.ts';
export { type GetSessionDataParams, getSessionData, type SessionInfo } from './sessions/get-session-data.ts';
export {
  type GetSpendingPolicyParams,
  getSpendingPolicy,
  type SpendingPolicyInfo,
} from './sessions/get-spending-policy.ts';
export { type RemoveSpendingPolicyParams, removeSpendingPolicy } from './sessions/remove-spending-policy.ts';
export { type RevokeSessionKeyParams, revokeSessionKey } from './sessions/revoke-session-key.ts';
export type { Session } from './sessions/session.ts';
export type { SessionConfig } from './sessions/session-config.ts';
export { type SetSpendingPolicyParams, setSpendingPolicy } from './sessions/set-spending-policy.ts';
export { type SetupSessionParams, setupSession } from './sessions/setup-session.ts';
export type { SpendingLimits, SpendingPolicyConfig } from './sessions/spending-policy-config.ts';
export { apiKeys } from './settings/api-keys.ts';
export { auditLog } from './settings/audit-log.ts';
export { type CreateApiKeyParams, type CreatedApiKey, createApiKey } from './settings/create-api-key.ts';
export { type CreateOwnSkuParams, createOwnSku, type OwnSkuFields } from './settings/create-own-sku.ts';
export { type DeleteOwnSkuParams, deleteOwnSku, type OwnSkuDeleted } from './settings/delete-own-sku.ts';
export { getSettings } from './settings/get-settings.ts';
export { type ListApiKeysParams, listApiKeys } from './settings/list-api-keys.ts';
export { type ListAuditLogParams, listAuditLog } from './settings/list-audit-log.ts';
export { type ListOfferedSkusParams, listOfferedSkus } from './settings/list-offered-skus.ts';
export { offeredSkus } from './settings/offered-skus.ts';
export { type ApiKeyRevoked, type RevokeApiKeyParams, revokeApiKey } from './settings/revoke-api-key.ts';
export { type UpdateOwnSkuParams, updateOwnSku } from './settings/update-own-sku.ts';
export { type UpdateSettingsParams, updateSettings } from './settings/update-settings.ts';
export type { ContractCall } from './signing/to-call.ts';
export type { SvcWallet } from './signing/wallet.ts';
export { type CheckSkuReferenceParams, checkSkuReference, type ReferenceChecked } from './skus/check-sku-reference.ts';
export { type GetSkuParams, getSku } from './skus/get-sku.ts';
export { type ListSkusParams, listSkus, type SkuFilters } from './skus/list-skus.ts';
export { type SkusParams, skus } from './skus/skus.ts';
export { type GetTransactionParams, getTransaction } from './transactions/get-transaction.ts';
export {
  type GetTransactionListParams,
  getTransactionList,
  type TransactionFilters,
} from './transactions/get-transaction-list.ts';
export {
  type GetTransactionStatusParams,
  getTransactionStatus,
  type TransactionStatus,
} from './transactions/get-transaction-status.ts';
export { type RecordSendParams, recordSend } from './transactions/record-send.ts';
export { type SyncedOnChain, type SyncOnChainParams, syncOnChain } from './transactions/sync-on-chain.ts';
export { type TransactionsParams, transactions } from './transactions/transactions.ts';
export { type CallAnyContractParams, callAnyContract } from './transfers/call-any-contract.ts';
export { type TransferParams, transfer } from './transfers/transfer.ts';
export { type CreatedWallet, type CreateWalletParams, createWallet } from './wallets/create-wallet.ts';
export {
  type ExecuteWalletUpgradeParams,
  executeWalletUpgrade,
  type WalletUpgraded,
} from './wallets/execute-wallet-upgrade.ts';
export { type GetTokenBalanceParams, getTokenBalance, type TokenBalance } from './wallets/get-token-balance.ts';
export { type GetWalletParams, getWallet } from './wallets/get-wallet.ts';
export {
  type PreparedWalletUpgrade,
  type PrepareWalletUpgradeParams,
  prepareWalletUpgrade,
} from './wallets/prepare-wallet-upgrade.ts';
export {
  type RecoverCredentialParams,
  type RecoveredCredential,
  recoverCredential,
} from './wallets/recover-credential.ts';
export { type SignWalletUpgradeParams, signWalletUpgrade } from './wallets/sign-wallet-upgrade.ts';
export { type UpgradeWalletParams, upgradeWallet } from './wallets/upgrade-wallet.ts';
export { type CreateWebhookParams, createWebhook, type WebhookWithSecret } from './webhooks/create-webhook.ts';
export { type DeleteWebhookParams, deleteWebhook, type WebhookDeleted } from './webhooks/delete-webhook.ts';
export { type DeliveriesParams, deliveries } from './webhooks/deliveries.ts';
export { type EventsParams, events } from './webhooks/events.ts';
export { type DeliveryWithAttempts, type GetDeliveryParams, getDelivery } from './webhooks/get-delivery.ts';
export { type GetWebhookParams, getWebhook } from './webhooks/get-webhook.ts';
export { type DeliveryFilters, type ListDeliveriesParams, listDeliveries } from './webhooks/list-deliveries.ts';
export { type EventFilters, type ListEventsParams, listEvents } from './webhooks/list-events.ts';
export { type ListWebhooksParams, listWebhooks } from './webhooks/list-webhooks.ts';
export type { WebhookHeaders } from './webhooks/read-webhook-headers.ts';
export { type ReplayedEvents, type ReplayWebhookParams, replayWebhook } from './webhooks/replay-webhook.ts';
export { type RotateWebhookSecretParams, rotateWebhookSecret } from './webhooks/rotate-webhook-secret.ts';
export { type TestWebhookParams, testWebhook } from './webhooks/test-webhook.ts';
export { type UpdateWebhookParams, updateWebhook } from './webhooks/update-webhook.ts';
export { type VerifyWebhookOptions, verifyWebhook, type WebhookEvent } from './webhooks/verify-webhook.ts';
export { webhooks } from './webhooks/webhooks.ts';
