import { type Client, createClient, type SvcOptions } from './client/client.ts';
import { getConfig } from './client/config.ts';
import { getUsdAmount } from './exchanges.ts';
import { claimGift, getRedeemStatus, redeemGift, waitForRedeem } from './gift-claims.ts';
import {
  createGift,
  deleteGift,
  getGift,
  getGiftRedeem,
  getGiftUsage,
  giftRedeems,
  gifts,
  listGiftRedeems,
  listGifts,
  updateGift,
} from './gifts.ts';
import { createGiftsBulk } from './gifts-bulk.ts';
import { changeEncryptKey } from './keys/change-encrypt-key.ts';
import { waitForTransactionOf } from './node/wait-for-transaction.ts';
import { createDeposit, getOrganization, ledger, listLedger } from './organization.ts';
import { createOwnSku, deleteOwnSku, listOfferedSkus, offeredSkus, updateOwnSku } from './own-skus.ts';
import { purchaseSku } from './purchases/purchase-sku.ts';
import {
  cancelSkuPurchase,
  createSkuPurchase,
  getSkuPurchase,
  listSkuPurchases,
  refundSkuPurchase,
  skuPurchases,
  waitForPurchase,
} from './purchases/purchases.ts';
import { executeTransactionWithSession } from './sessions/execute-with-session.ts';
import {
  addSessionKeyToContract,
  createSessionKey,
  getSessionData,
  revokeSessionKey,
  setupSession,
} from './sessions/sessions.ts';
import { getSpendingPolicy, removeSpendingPolicy, setSpendingPolicy } from './sessions/spending-policies.ts';
import {
  apiKeys,
  auditLog,
  createApiKey,
  getSettings,
  listApiKeys,
  listAuditLog,
  revokeApiKey,
  updateSettings,
} from './settings.ts';
import { checkSkuReference, getSku, listSkus, skus } from './skus.ts';
import {
  getTransaction,
  getTransactionList,
  getTransactionStatus,
  recordSend,
  syncOnChain,
  transactions,
} from './transactions.ts';
import { callAnyContract, transfer } from './transfers.ts';
import { changeToPasskey, unlock } from './wallet-passkeys.ts';
import { executeWalletUpgrade, prepareWalletUpgrade, signWalletUpgrade, upgradeWallet } from './wallet-upgrades.ts';
import { createWallet, getTokenBalance, getWallet, recoverCredential } from './wallets.ts';
import {
  createWebhook,
  deleteWebhook,
  deliveries,
  events,
  getDelivery,
  getWebhook,
  listDeliveries,
  listEvents,
  listWebhooks,
  replayWebhook,
  rotateWebhookSecret,
  testWebhook,
  updateWebhook,
  webhooks,
} from './webhooks.ts';

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

/** Makes operations of `client` into functions that need not be told of it. */
export type Bind = <Args extends unknown[], Result>(
  operation: (client: Client, ...args: Args) => Result,
) => (...args: Args) => Result;

export const bind =
  (client: Client): Bind =>
  (operation) =>
  (...args) =>
    operation(client, ...args);
