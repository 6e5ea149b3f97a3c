import { type Bind, bind } from './client/bind.ts';
import { createClient, type SvcOptions } from './client/client.ts';
import { getConfig } from './client/get-config.ts';
import { getUsdAmount } from './exchanges/get-usd-amount.ts';
import { claimGift } from './gifts/claim-gift.ts';
import { createGift } from './gifts/create-gift.ts';
import { createGiftsBulk } from './gifts/create-gifts-bulk.ts';
import { deleteGift } from './gifts/delete-gift.ts';
import { getGift } from './gifts/get-gift.ts';
import { getGiftRedeem } from './gifts/get-gift-redeem.ts';
import { getGiftUsage } from './gifts/get-gift-usage.ts';
import { getRedeemStatus } from './gifts/get-redeem-status.ts';
import { giftRedeems } from './gifts/gift-redeems.ts';
import { gifts } from './gifts/gifts.ts';
import { listGiftRedeems } from './gifts/list-gift-redeems.ts';
import { listGifts } from './gifts/list-gifts.ts';
import { redeemGift } from './gifts/redeem-gift.ts';
import { updateGift } from './gifts/update-gift.ts';
import { waitForRedeem } from './gifts/wait-for-redeem.ts';
import { changeEncryptKey } from './keys/change-encrypt-key.ts';
import { waitForTransactionOf } from './node/wait-for-transaction.ts';
import { createDeposit } from './organization/create-deposit.ts';
import { getOrganization } from './organization/get-organization.ts';
import { ledger } from './organization/ledger.ts';
import { listLedger } from './organization/list-ledger.ts';
import { changeToPasskey } from './passkeys/change-to-passkey.ts';
import { unlock } from './passkeys/unlock.ts';
import { cancelSkuPurchase } from './purchases/cancel-sku-purchase.ts';
import { createSkuPurchase } from './purchases/create-sku-purchase.ts';
import { getSkuPurchase } from './purchases/get-sku-purchase.ts';
import { listSkuPurchases } from './purchases/list-sku-purchases.ts';
import { purchaseSku } from './purchases/purchase-sku.ts';
import { refundSkuPurchase } from './purchases/refund-sku-purchase.ts';
import { skuPurchases } from './purchases/sku-purchases.ts';
import { waitForPurchase } from './purchases/wait-for-purchase.ts';
import { addSessionKeyToContract } from './sessions/add-session-key-to-contract.ts';
import { createSessionKey } from './sessions/create-session-key.ts';
import { executeTransactionWithSession } from './sessions/execute-transaction-with-session.ts';
import { getSessionData } from './sessions/get-session-data.ts';
import { getSpendingPolicy } from './sessions/get-spending-policy.ts';
import { removeSpendingPolicy } from './sessions/remove-spending-policy.ts';
import { revokeSessionKey } from './sessions/revoke-session-key.ts';
import { setSpendingPolicy } from './sessions/set-spending-policy.ts';
import { setupSession } from './sessions/setup-session.ts';
import { apiKeys } from './settings/api-keys.ts';
import { auditLog } from './settings/audit-log.ts';
import { createApiKey } from './settings/create-api-key.ts';
import { createOwnSku } from './settings/create-own-sku.ts';
import { deleteOwnSku } from './settings/delete-own-sku.ts';
import { getSettings } from './settings/get-settings.ts';
import { listApiKeys } from './settings/list-api-keys.ts';
import { listAuditLog } from './settings/list-audit-log.ts';
import { listOfferedSkus } from './settings/list-offered-skus.ts';
import { offeredSkus } from './settings/offered-skus.ts';
import { revokeApiKey } from './settings/revoke-api-key.ts';
import { updateOwnSku } from './settings/update-own-sku.ts';
import { updateSettings } from './settings/update-settings.ts';
import { checkSkuReference } from './skus/check-sku-reference.ts';
import { getSku } from './skus/get-sku.ts';
import { listSkus } from './skus/list-skus.ts';
import { skus } from './skus/skus.ts';
import { getTransaction } from './transactions/get-transaction.ts';
import { getTransactionList } from './transactions/get-transaction-list.ts';
import { getTransactionStatus } from './transactions/get-transaction-status.ts';
import { recordSend } from './transactions/record-send.ts';
import { syncOnChain } from './transactions/sync-on-chain.ts';
import { transactions } from './transactions/transactions.ts';
import { callAnyContract } from './transfers/call-any-contract.ts';
import { transfer } from './transfers/transfer.ts';
import { createWallet } from './wallets/create-wallet.ts';
import { executeWalletUpgrade } from './wallets/execute-wallet-upgrade.ts';
import { getTokenBalance } from './wallets/get-token-balance.ts';
import { getWallet } from './wallets/get-wallet.ts';
import { prepareWalletUpgrade } from './wallets/prepare-wallet-upgrade.ts';
import { recoverCredential } from './wallets/recover-credential.ts';
import { signWalletUpgrade } from './wallets/sign-wallet-upgrade.ts';
import { upgradeWallet } from './wallets/upgrade-wallet.ts';
import { createWebhook } from './webhooks/create-webhook.ts';
import { deleteWebhook } from './webhooks/delete-webhook.ts';
import { deliveries } from './webhooks/deliveries.ts';
import { events } from './webhooks/events.ts';
import { getDelivery } from './webhooks/get-delivery.ts';
import { getWebhook } from './webhooks/get-webhook.ts';
import { listDeliveries } from './webhooks/list-deliveries.ts';
import { listEvents } from './webhooks/list-events.ts';
import { listWebhooks } from './webhooks/list-webhooks.ts';
import { replayWebhook } from './webhooks/replay-webhook.ts';
import { rotateWebhookSecret } from './webhooks/rotate-webhook-secret.ts';
import { testWebhook } from './webhooks/test-webhook.ts';
import { updateWebhook } from './webhooks/update-webhook.ts';
import { webhooks } from './webhooks/webhooks.ts';

export type Svc = ReturnType<typeof createSvc>;

/**
 * Everything the service does, with one set of keys. It holds no user's key and remembers nothing of any user. Apps that count bytes take
 * `createClient` and the single operations instead.
 *
 * @example
 * const svc = createSvc({ baseUrl, publicKey, bearerToken });
 * const { balance } = await svc.getTokenBalance({ chain: 'STARKNET', chainToken: 'USDC', externalUserId });
 */
export function createSvc(options: SvcOptions) {
  const on = bind(createClient(options));
  return {
    getConfig: on(getConfig),
    ...walletOperations(on),
    ...transactionOperations(on),
    ...skuOperations(on),
    ...organizationOperations(on),
    sessions: sessionOperations(on),
    passkeys: passkeyOperations(on),
    gifts: giftOperations(on),
    settings: settingsOperations(on),
    webhooks: webhookOperations(on),
  };
}

const walletOperations = (on: Bind) => ({
  createWallet: on(createWallet),
  getWallet: on(getWallet),
  getTokenBalance: on(getTokenBalance),
  changeEncryptKey: on(changeEncryptKey),
  recoverCredential: on(recoverCredential),
  upgradeWallet: on(upgradeWallet),
  signWalletUpgrade: on(signWalletUpgrade),
  prepareWalletUpgrade: on(prepareWalletUpgrade),
  executeWalletUpgrade: on(executeWalletUpgrade),
});

const transactionOperations = (on: Bind) => ({
  transfer: on(transfer),
  callAnyContract: on(callAnyContract),
  executeTransactionWithSession: on(executeTransactionWithSession),
  waitForTransaction: on(waitForTransactionOf),
  getTransaction: on(getTransaction),
  getTransactionList: on(getTransactionList),
  getTransactionStatus: on(getTransactionStatus),
  transactions: on(transactions),
  recordSend: on(recordSend),
  syncOnChain: on(syncOnChain),
});

const skuOperations = (on: Bind) => ({
  getUsdAmount: on(getUsdAmount),
  listSkus: on(listSkus),
  skus: on(skus),
  getSku: on(getSku),
  checkSkuReference: on(checkSkuReference),
  purchaseSku: on(purchaseSku),
  createSkuPurchase: on(createSkuPurchase),
  getSkuPurchase: on(getSkuPurchase),
  waitForPurchase: on(waitForPurchase),
  listSkuPurchases: on(listSkuPurchases),
  skuPurchases: on(skuPurchases),
  cancelSkuPurchase: on(cancelSkuPurchase),
  refundSkuPurchase: on(refundSkuPurchase),
});

const organizationOperations = (on: Bind) => ({
  getOrganization: on(getOrganization),
  listLedger: on(listLedger),
  ledger: on(ledger),
  createDeposit: on(createDeposit),
});

const sessionOperations = (on: Bind) => ({
  createSessionKey: on(createSessionKey),
  setupSession: on(setupSession),
  addSessionKeyToContract: on(addSessionKeyToContract),
  revokeSessionKey: on(revokeSessionKey),
  getSessionData: on(getSessionData),
  setSpendingPolicy: on(setSpendingPolicy),
  getSpendingPolicy: on(getSpendingPolicy),
  removeSpendingPolicy: on(removeSpendingPolicy),
});

const passkeyOperations = (on: Bind) => ({
  unlock: on(unlock),
  changeTo: on(changeToPasskey),
});

const giftOperations = (on: Bind) => ({
  createGift: on(createGift),
  createGiftsBulk: on(createGiftsBulk),
  listGifts: on(listGifts),
  gifts: on(gifts),
  getGift: on(getGift),
  updateGift: on(updateGift),
  deleteGift: on(deleteGift),
  getGiftUsage: on(getGiftUsage),
  listGiftRedeems: on(listGiftRedeems),
  giftRedeems: on(giftRedeems),
  getGiftRedeem: on(getGiftRedeem),
  claimGift: on(claimGift),
  redeemGift: on(redeemGift),
  getRedeemStatus: on(getRedeemStatus),
  waitForRedeem: on(waitForRedeem),
});

const settingsOperations = (on: Bind) => ({
  getSettings: on(getSettings),
  updateSettings: on(updateSettings),
  listApiKeys: on(listApiKeys),
  apiKeys: on(apiKeys),
  createApiKey: on(createApiKey),
  revokeApiKey: on(revokeApiKey),
  listOfferedSkus: on(listOfferedSkus),
  offeredSkus: on(offeredSkus),
  createOwnSku: on(createOwnSku),
  updateOwnSku: on(updateOwnSku),
  deleteOwnSku: on(deleteOwnSku),
  listAuditLog: on(listAuditLog),
  auditLog: on(auditLog),
});

const webhookOperations = (on: Bind) => ({
  createWebhook: on(createWebhook),
  listWebhooks: on(listWebhooks),
  webhooks: on(webhooks),
  getWebhook: on(getWebhook),
  updateWebhook: on(updateWebhook),
  deleteWebhook: on(deleteWebhook),
  rotateWebhookSecret: on(rotateWebhookSecret),
  testWebhook: on(testWebhook),
  replayWebhook: on(replayWebhook),
  listDeliveries: on(listDeliveries),
  deliveries: on(deliveries),
  getDelivery: on(getDelivery),
  listEvents: on(listEvents),
  events: on(events),
});
