import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { allEndpoints } from '@svc/protocol';
import * as sdk from '@svc/sdk';
import * as privateBalance from '@svc/sdk/private-balance';
import { describe, expect, it } from 'vitest';

const svc = sdk.createSvc({ baseUrl: 'https://svc.example/v1', publicKey: `pk_dev_${'p'.repeat(32)}` });

/** "Client library operations" of the interface, by name. */
const operations = [
  'createWallet',
  'getWallet',
  'transfer',
  'callAnyContract',
  'getTokenBalance',
  'getTransaction',
  'getTransactionList',
  'getTransactionStatus',
  'getUsdAmount',
  'prepareWalletUpgrade',
  'executeWalletUpgrade',
  'waitForTransaction',
  'sessions.createSessionKey',
  'sessions.addSessionKeyToContract',
  'executeTransactionWithSession',
  'sessions.revokeSessionKey',
  'sessions.getSessionData',
  'sessions.setSpendingPolicy',
  'sessions.getSpendingPolicy',
  'sessions.removeSpendingPolicy',
];

/** Additions of this library. */
const additions = [
  'treasuries.createTreasury',
  'treasuries.listTreasuries',
  'treasuries.treasuries',
  'treasuries.getTreasury',
  'treasuries.getTreasuryPolicy',
  'treasuries.changeTreasuryPolicy',
  'treasuries.createTreasuryProposal',
  'treasuries.listTreasuryProposals',
  'treasuries.treasuryProposals',
  'treasuries.getTreasuryProposal',
  'treasuries.describeTreasuryCalls',
  'treasuries.signProposalOffline',
  'treasuries.signTreasuryProposal',
  'treasuries.executeTreasuryProposal',
  'treasuries.cancelTreasuryProposal',
  'settings.checkToken',
  'settings.getBranding',
  'settings.updateBranding',
  'sessions.setupSession',
  'changeEncryptKey',
  'getEncryptionHistory',
  'restoreEncryption',
  'purgeEncryptionHistory',
  'recoverCredential',
  'upgradeWallet',
  'signWalletUpgrade',
  'passkeys.unlock',
  'passkeys.changeTo',
  'listWallets',
  'wallets',
  'getWalletById',
  'getWalletChainState',
  'listEnvironmentTransactions',
  'environmentTransactions',
  'getTransactionDetails',
  'getOverview',
  'listRequests',
  'requests',
  'recordSend',
  'syncOnChain',
  'transactions',
  'listSkus',
  'skus',
  'getSku',
  'checkSkuReference',
  'purchaseSku',
  'createSkuPurchase',
  'getSkuPurchase',
  'waitForPurchase',
  'listSkuPurchases',
  'skuPurchases',
  'cancelSkuPurchase',
  'refundSkuPurchase',
  'getProviderStatus',
  'gifts.createGift',
  'gifts.createGiftsBulk',
  'gifts.listGifts',
  'gifts.gifts',
  'gifts.getGift',
  'gifts.updateGift',
  'gifts.deleteGift',
  'gifts.getGiftUsage',
  'gifts.listGiftRedeems',
  'gifts.giftRedeems',
  'gifts.getGiftRedeem',
  'gifts.listCampaigns',
  'gifts.campaigns',
  'gifts.getRedeemEvidence',
  'gifts.shareRedeemEvidence',
  'gifts.revokeEvidenceLinks',
  'gifts.getSharedEvidence',
  'gifts.getClaimChallenge',
  'gifts.claimGift',
  'gifts.redeemGift',
  'gifts.getRedeemStatus',
  'gifts.waitForRedeem',
  'recipients.getRecipientWalletOptions',
  'recipients.prepareRecipientWallet',
  'recipients.createRecipientWallet',
  'recipients.signInWithPasskey',
  'recipients.signInWithCode',
  'recipients.getRecipient',
  'recipients.addRecipientPasskey',
  'recipients.makeRecoveryCode',
  'recipients.deployRecipientWallet',
  'recipients.deleteRecipient',
  'getOrganization',
  'listLedger',
  'ledger',
  'listHolds',
  'holds',
  'createDeposit',
  'getConfig',
  'settings.getSettings',
  'settings.updateSettings',
  'settings.getSponsorship',
  'settings.updateSponsorship',
  'settings.listApiKeys',
  'settings.apiKeys',
  'settings.createApiKey',
  'settings.revokeApiKey',
  'settings.listOfferedSkus',
  'settings.offeredSkus',
  'settings.createOwnSku',
  'settings.updateOwnSku',
  'settings.deleteOwnSku',
  'settings.listAuditLog',
  'settings.auditLog',
  'webhooks.createWebhook',
  'webhooks.listWebhooks',
  'webhooks.webhooks',
  'webhooks.getWebhook',
  'webhooks.updateWebhook',
  'webhooks.deleteWebhook',
  'webhooks.rotateWebhookSecret',
  'webhooks.testWebhook',
  'webhooks.replayWebhook',
  'webhooks.listDeliveries',
  'webhooks.deliveries',
  'webhooks.getDelivery',
  'webhooks.listEvents',
  'webhooks.events',
  'webhooks.streamEvents',
  'quoteSolanaTransfer',
  'moveToSolana',
  'sendSolanaTransfer',
  'waitForSolanaTransfer',
  'listSolanaTransfers',
  'solanaTransfers',
  'getSolanaTransfer',
  'privateBalance.deriveKeys',
  'privateBalance.getPrivateBalance',
  'privateBalance.shield',
  'privateBalance.shieldBatch',
  'privateBalance.unshield',
  'privateBalance.transfer',
  'privateBalance.rollover',
  'privateBalance.history',
  'privateBalance.terms',
];

const at = (name: string) =>
  name.split('.').reduce<unknown>((found, part) => (found as Record<string, unknown> | undefined)?.[part], svc);

const namesIn = (found: object, prefix = ''): string[] =>
  Object.entries(found).flatMap(([name, value]) =>
    typeof value === 'function' ? [prefix + name] : namesIn(value as object, `${prefix}${name}.`),
  );

/** Ceremonies of a browser and its cookies: docs/decisions/client-library.md. */
const ofBrowsers = [
  'createDevelopmentLink',
  'createOwnPasskeyChallenge',
  'createPasskeyChallenge',
  'redeemMailLink',
  'registerOwnPasskey',
  'requestMailLink',
  'verifyPasskey',
];

async function sourceOfLibrary(): Promise<string> {
  const folder = path.resolve(import.meta.dirname, '../../packages/sdk/src');
  const files = (await readdir(folder, { recursive: true })).filter((file) => /(?<!\.test)\.ts$/.test(file));
  return (await Promise.all(files.map((file) => readFile(path.join(folder, file), 'utf8')))).join('\n');
}

describe('the library', () => {
  it('has an operation for every endpoint, but for those of browsers', async () => {
    const source = await sourceOfLibrary();
    const missing = allEndpoints.filter(({ method, path }) => !source.includes(`'${method} ${path}'`));
    expect(missing.map(({ operationId }) => operationId).sort()).toEqual(ofBrowsers);
  });

  it.each([...operations, ...additions])('has %s', (name) => {
    expect(at(name)).toBeTypeOf('function');
  });

  it('has no operation that is not in this table', () => {
    expect(namesIn(svc).sort()).toEqual([...operations, ...additions].sort());
  });

  it('exports every operation as a single function too', () => {
    const renamed: Record<string, string> = { 'passkeys.changeTo': 'changeToPasskey' };
    const isAlone = (name: string): boolean => {
      const [last = name] = name.split('.').slice(-1);
      return name.startsWith('privateBalance.') ? last in privateBalance : (renamed[name] ?? last) in sdk;
    };
    expect([...operations, ...additions].filter((name) => !isAlone(name))).toEqual([]);
  });

  it.each(['waitForTransaction', 'verifyWebhook', 'createPasskey', 'unlockWithPasskey'])(
    'has %s without a client',
    (name) => {
      expect(sdk).toHaveProperty(name, expect.any(Function));
    },
  );

  it('prints no key', () => {
    const secretKey = `sk_dev_${'s'.repeat(32)}`;
    const server = sdk.createSvc({
      baseUrl: 'https://svc.example/v1',
      publicKey: `pk_dev_${'p'.repeat(32)}`,
      secretKey,
    });
    expect(JSON.stringify(server)).not.toContain(secretKey);
    expect(Object.values(server).map(String).join()).not.toContain(secretKey);
  });
});
