import { type Bind, bind, type Client, createClient, type SvcOptions } from './client/client.ts';
import { getConfig } from './client/config.ts';
import { streamEvents } from './event-stream.ts';
import { getUsdAmount } from './exchanges.ts';
import * as giftClaims from './gift-claims.ts';
import * as gifts from './gifts.ts';
import { createGiftsBulk } from './gifts-bulk.ts';
import { changeEncryptKey } from './keys/change-encrypt-key.ts';
import { waitForTransactionOf } from './node/wait-for-transaction.ts';
import * as organization from './organization.ts';
import * as ownSkus from './own-skus.ts';
import { purchaseSku } from './purchases/purchase-sku.ts';
import * as purchases from './purchases/purchases.ts';
import * as recipients from './recipients.ts';
import * as sessions from './sessions/sessions.ts';
import * as policies from './sessions/spending-policies.ts';
import * as settings from './settings.ts';
import * as skus from './skus.ts';
import * as solana from './solana-transfers.ts';
import * as transactions from './transactions.ts';
import * as transfers from './transfers.ts';
import * as treasuries from './treasuries.ts';
import { describeTreasuryCalls } from './treasury-calls.ts';
import * as encryption from './wallet-encryption.ts';
import * as upgrades from './wallet-upgrades.ts';
import * as wallets from './wallets.ts';
import * as webhooks from './webhooks.ts';

export type Svc = ReturnType<typeof createSvc>;

/**
 * Every operation of the service, bound to one set of keys. It holds no user keys and no user data. For small bundles
 * import `createClient` and single operations instead.
 *
 * @example
 * const svc = createSvc({ baseUrl, publicKey, bearerToken });
 * const { balance } = await svc.getTokenBalance({ chain: 'STARKNET', chainToken: 'USDC', externalUserId });
 */
export function createSvc(options: SvcOptions) {
  const client = createClient(options);
  const on = bind(client);
  return {
    getConfig: on(getConfig),
    ...walletOperations(on),
    ...transactionOperations(on),
    ...skuOperations(on),
    ...organizationOperations(on),
    sessions: sessionOperations(on),
    passkeys: passkeyOperations(on),
    gifts: giftOperations(on),
    recipients: recipientOperations(on),
    settings: settingsOperations(on),
    webhooks: webhookOperations(on),
    treasuries: treasuryOperations(on),
    privateBalance: privateBalanceOperations(client),
  };
}

const walletOperations = (on: Bind) => ({
  createWallet: on(wallets.createWallet),
  getWallet: on(wallets.getWallet),
  listWallets: on(wallets.listWallets),
  wallets: on(wallets.wallets),
  getWalletById: on(wallets.getWalletById),
  getWalletChainState: on(wallets.getWalletChainState),
  getTokenBalance: on(wallets.getTokenBalance),
  changeEncryptKey: on(changeEncryptKey),
  getEncryptionHistory: on(encryption.getEncryptionHistory),
  restoreEncryption: on(encryption.restoreEncryption),
  purgeEncryptionHistory: on(encryption.purgeEncryptionHistory),
  recoverCredential: on(wallets.recoverCredential),
  upgradeWallet: on(upgrades.upgradeWallet),
  signWalletUpgrade: on(upgrades.signWalletUpgrade),
  prepareWalletUpgrade: on(upgrades.prepareWalletUpgrade),
  executeWalletUpgrade: on(upgrades.executeWalletUpgrade),
});

const transactionOperations = (on: Bind) => ({
  transfer: on(transfers.transfer),
  callAnyContract: on(transfers.callAnyContract),
  quoteSolanaTransfer: on(solana.quoteSolanaTransfer),
  moveToSolana: on(solana.moveToSolana),
  sendSolanaTransfer: on(solana.sendSolanaTransfer),
  getSolanaTransfer: on(solana.getSolanaTransfer),
  waitForSolanaTransfer: on(solana.waitForSolanaTransfer),
  listSolanaTransfers: on(solana.listSolanaTransfers),
  solanaTransfers: on(solana.solanaTransfers),
  executeTransactionWithSession: on(sessions.executeTransactionWithSession),
  waitForTransaction: on(waitForTransactionOf),
  getTransaction: on(transactions.getTransaction),
  getTransactionList: on(transactions.getTransactionList),
  getTransactionStatus: on(transactions.getTransactionStatus),
  transactions: on(transactions.transactions),
  listEnvironmentTransactions: on(transactions.listEnvironmentTransactions),
  environmentTransactions: on(transactions.environmentTransactions),
  getTransactionDetails: on(transactions.getTransactionDetails),
  recordSend: on(transactions.recordSend),
  syncOnChain: on(transactions.syncOnChain),
});

const skuOperations = (on: Bind) => ({
  getUsdAmount: on(getUsdAmount),
  listSkus: on(skus.listSkus),
  skus: on(skus.skus),
  getSku: on(skus.getSku),
  checkSkuReference: on(skus.checkSkuReference),
  purchaseSku: on(purchaseSku),
  createSkuPurchase: on(purchases.createSkuPurchase),
  getSkuPurchase: on(purchases.getSkuPurchase),
  waitForPurchase: on(purchases.waitForPurchase),
  listSkuPurchases: on(purchases.listSkuPurchases),
  skuPurchases: on(purchases.skuPurchases),
  cancelSkuPurchase: on(purchases.cancelSkuPurchase),
  refundSkuPurchase: on(purchases.refundSkuPurchase),
  getProviderStatus: on(purchases.getProviderStatus),
});

const organizationOperations = (on: Bind) => ({
  getOrganization: on(organization.getOrganization),
  listLedger: on(organization.listLedger),
  ledger: on(organization.ledger),
  listHolds: on(organization.listHolds),
  holds: on(organization.holds),
  createDeposit: on(organization.createDeposit),
  getOverview: on(organization.getOverview),
  listRequests: on(organization.listRequests),
  requests: on(organization.requests),
});

const sessionOperations = (on: Bind) => ({
  createSessionKey: on(sessions.createSessionKey),
  setupSession: on(sessions.setupSession),
  addSessionKeyToContract: on(sessions.addSessionKeyToContract),
  revokeSessionKey: on(sessions.revokeSessionKey),
  getSessionData: on(sessions.getSessionData),
  setSpendingPolicy: on(policies.setSpendingPolicy),
  getSpendingPolicy: on(policies.getSpendingPolicy),
  removeSpendingPolicy: on(policies.removeSpendingPolicy),
});

const treasuryOperations = (on: Bind) => ({
  createTreasury: on(treasuries.createTreasury),
  listTreasuries: on(treasuries.listTreasuries),
  treasuries: on(treasuries.treasuries),
  getTreasury: on(treasuries.getTreasury),
  getTreasuryPolicy: on(treasuries.getTreasuryPolicy),
  changeTreasuryPolicy: on(treasuries.changeTreasuryPolicy),
  createTreasuryProposal: on(treasuries.createTreasuryProposal),
  listTreasuryProposals: on(treasuries.listTreasuryProposals),
  treasuryProposals: on(treasuries.treasuryProposals),
  getTreasuryProposal: on(treasuries.getTreasuryProposal),
  describeTreasuryCalls: on(describeTreasuryCalls),
  signProposalOffline: on(treasuries.signProposalOffline),
  signTreasuryProposal: on(treasuries.signTreasuryProposal),
  executeTreasuryProposal: on(treasuries.executeTreasuryProposal),
  cancelTreasuryProposal: on(treasuries.cancelTreasuryProposal),
});

const passkeyOperations = (on: Bind) => ({
  unlock: on(encryption.unlock),
  changeTo: on(encryption.changeToPasskey),
});

const giftOperations = (on: Bind) => ({
  createGift: on(gifts.createGift),
  createGiftsBulk: on(createGiftsBulk),
  listGifts: on(gifts.listGifts),
  gifts: on(gifts.gifts),
  getGift: on(gifts.getGift),
  updateGift: on(gifts.updateGift),
  deleteGift: on(gifts.deleteGift),
  getGiftUsage: on(gifts.getGiftUsage),
  listGiftRedeems: on(gifts.listGiftRedeems),
  giftRedeems: on(gifts.giftRedeems),
  getGiftRedeem: on(gifts.getGiftRedeem),
  listCampaigns: on(gifts.listCampaigns),
  campaigns: on(gifts.campaigns),
  getRedeemEvidence: on(gifts.getRedeemEvidence),
  shareRedeemEvidence: on(gifts.shareRedeemEvidence),
  revokeEvidenceLinks: on(gifts.revokeEvidenceLinks),
  getSharedEvidence: on(gifts.getSharedEvidence),
  getClaimChallenge: on(giftClaims.getClaimChallenge),
  claimGift: on(giftClaims.claimGift),
  redeemGift: on(giftClaims.redeemGift),
  getRedeemStatus: on(giftClaims.getRedeemStatus),
  waitForRedeem: on(giftClaims.waitForRedeem),
});

const recipientOperations = (on: Bind) => ({
  getRecipientWalletOptions: on(recipients.getRecipientWalletOptions),
  prepareRecipientWallet: on(recipients.prepareRecipientWallet),
  createRecipientWallet: on(recipients.createRecipientWallet),
  signInWithPasskey: on(recipients.signInWithPasskey),
  signInWithCode: on(recipients.signInWithCode),
  getRecipient: on(recipients.getRecipient),
  addRecipientPasskey: on(recipients.addRecipientPasskey),
  makeRecoveryCode: on(recipients.makeRecoveryCode),
  deployRecipientWallet: on(recipients.deployRecipientWallet),
  deleteRecipient: on(recipients.deleteRecipient),
});

const settingsOperations = (on: Bind) => ({
  getSettings: on(settings.getSettings),
  updateSettings: on(settings.updateSettings),
  checkToken: on(settings.checkToken),
  getBranding: on(settings.getBranding),
  updateBranding: on(settings.updateBranding),
  getSponsorship: on(settings.getSponsorship),
  updateSponsorship: on(settings.updateSponsorship),
  listApiKeys: on(settings.listApiKeys),
  apiKeys: on(settings.apiKeys),
  createApiKey: on(settings.createApiKey),
  revokeApiKey: on(settings.revokeApiKey),
  listOfferedSkus: on(ownSkus.listOfferedSkus),
  offeredSkus: on(ownSkus.offeredSkus),
  createOwnSku: on(ownSkus.createOwnSku),
  updateOwnSku: on(ownSkus.updateOwnSku),
  deleteOwnSku: on(ownSkus.deleteOwnSku),
  listAuditLog: on(settings.listAuditLog),
  auditLog: on(settings.auditLog),
});

const webhookOperations = (on: Bind) => ({
  createWebhook: on(webhooks.createWebhook),
  listWebhooks: on(webhooks.listWebhooks),
  webhooks: on(webhooks.webhooks),
  getWebhook: on(webhooks.getWebhook),
  updateWebhook: on(webhooks.updateWebhook),
  deleteWebhook: on(webhooks.deleteWebhook),
  rotateWebhookSecret: on(webhooks.rotateWebhookSecret),
  testWebhook: on(webhooks.testWebhook),
  replayWebhook: on(webhooks.replayWebhook),
  listDeliveries: on(webhooks.listDeliveries),
  deliveries: on(webhooks.deliveries),
  getDelivery: on(webhooks.getDelivery),
  listEvents: on(webhooks.listEvents),
  events: on(webhooks.events),
  streamEvents: on(streamEvents),
});

type PrivateBalanceModule = typeof import('./private-balance/index.ts');

/** Loaded with the first call: proofs and their cipher are larger than most apps. */
function privateBalanceOperations(client: Client) {
  const later =
    <Args extends unknown[], Result>(
      operationOf: (operations: PrivateBalanceModule) => (client: Client, ...args: Args) => Promise<Result>,
    ) =>
    async (...args: Args): Promise<Result> =>
      operationOf(await import('./private-balance/index.ts'))(client, ...args);
  return {
    deriveKeys: later(({ deriveKeys }) => deriveKeys),
    getPrivateBalance: later(({ getPrivateBalance }) => getPrivateBalance),
    shield: later(({ shield }) => shield),
    shieldBatch: later(({ shieldBatch }) => shieldBatch),
    unshield: later(({ unshield }) => unshield),
    transfer: later(({ transfer }) => transfer),
    rollover: later(({ rollover }) => rollover),
    history: later(({ history }) => history),
    terms: later(({ terms }) => terms),
  };
}
