import type { Endpoint, endpoints } from '@svc/protocol';
import { transferOf } from './app.ts';
import { giftBody } from './gift-world.ts';
import { inTurn } from './in-turn.ts';
import { USDC } from './sandbox-client.ts';
import { ownSkuBody, WEBHOOK_URL } from './settings-world.ts';
import { recipient, transferred, type World } from './world.ts';

export interface Example {
  /** Values of the path's parameters. */
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: string;
  readonly body?: unknown;
}

const ADDRESS = '0x03f0f1a8f5cd7c8b6a4c8f0f6dbe15b0a3f5f5e0a2c1f4c2a7b8d9e0f1a2b3c4';

/**
 * A request that succeeds once its endpoint is built, however often it is sent; but of what is made or deleted once, an example serves
 * once. A new endpoint does not compile without one.
 */
const examples: Record<keyof typeof endpoints, (world: World) => Example> = {
  getWalletByUser: ({ user }) => ({ query: `externalUserId=${user}` }),
  prepareWalletCreation: ({ owner }) => ({
    body: { chain: 'STARKNET', publicKey: owner.address, starkKeyPubAX: owner.publicKey },
  }),
  createWallet: ({ signed }) => ({ body: signed.creation }),
  updateEncryptionDetails: ({ user, owner }) => ({
    body: { externalUserId: user, newEncryptedPrivateKey: 'ciphertext', publicKey: owner.address },
  }),
  getTokenBalance: ({ user }) => ({ query: `chainToken=USDC&chain=STARKNET&externalUserId=${user}` }),
  recoverCredential: ({ user }) => ({ query: `externalUserId=${user}` }),
  prepareWalletUpgrade: ({ upgradeable }) => ({ body: { walletAddress: upgradeable.address } }),
  executeWalletUpgrade: ({ signed }) => ({ body: signed.upgrade }),

  recordSend: ({ owner, transfer }) => ({
    body: {
      transactionHash: transfer,
      expectedSender: owner.address,
      expectedRecipient: recipient,
      expectedToken: 'USDC',
      expectedAmount: transferred,
      chain: 'STARKNET',
    },
  }),
  listTransactions: ({ owner }) => ({ query: `walletAddress=${owner.address}` }),
  prepareTypedData: ({ owner }) => ({ body: { publicKey: owner.address, calls: [transferOf(USDC, recipient, 1n)] } }),
  executeSponsoredTransaction: ({ signed }) => ({ body: signed.execution }),
  syncOnChain: ({ owner }) => ({ body: { walletAddress: owner.address } }),
  getTransaction: ({ transfer }) => ({ params: { hashOrId: transfer } }),
  getTransactionStatus: ({ transfer }) => ({ params: { hash: transfer } }),

  listSkus: () => ({}),
  getSku: () => ({ params: { id: 'pase-recarga' } }),
  checkSkuReference: () => ({ params: { id: 'pase-recarga' }, body: { reference: 'IMDM28417936' } }),
  createSkuPurchase: ({ purchases }) => ({ body: purchases.body }),
  getSkuPurchase: ({ purchases }) => ({ params: { id: purchases.id } }),
  listSkuPurchases: () => ({}),
  cancelSkuPurchase: ({ purchases }) => ({ params: { id: inTurn(purchases.pending) } }),
  refundSkuPurchase: ({ purchases }) => ({ params: { id: inTurn(purchases.refundable) }, body: {} }),
  getUsdAmount: () => ({ query: 'currencyAmount=185&currency=MXN' }),

  createGift: () => ({ body: giftBody() }),
  createGiftsBulk: () => ({ body: { name: 'Navidad', amount: 0.5, recipients: [{ email: 'ana@example.com' }] } }),
  listGifts: () => ({}),
  getGiftUsage: () => ({}),
  listGiftRedeems: () => ({}),
  getGiftRedeem: ({ gifts }) => ({ params: { id: gifts.redeem.id } }),
  getGift: ({ gifts }) => ({ params: { id: gifts.gift.id } }),
  updateGift: ({ gifts }) => ({ params: { id: gifts.gift.id }, body: { name: 'Navidad 2026' } }),
  deleteGift: ({ gifts }) => ({ params: { id: gifts.disposable.shift()?.id ?? 'none' } }),
  claimGift: ({ gifts }) => ({ params: { code: gifts.gift.code } }),
  redeemGift: ({ gifts }) => ({
    params: { code: gifts.gift.code },
    body: { walletAddress: ADDRESS, chain: 'starknet' },
  }),
  getRedeemStatus: ({ gifts }) => ({ params: { code: gifts.gift.code, redeemId: gifts.redeem.id } }),

  getOrganization: () => ({}),
  listLedger: () => ({}),
  createDeposit: ({ gifts }) => ({ body: { transactionHash: gifts.deposit, chain: 'STARKNET' } }),
  getConfig: () => ({}),

  getSettings: () => ({}),
  updateSettings: () => ({ body: { notificationEmail: 'avisos@tienda.example' } }),
  listApiKeys: () => ({}),
  createApiKey: () => ({ body: { kind: 'secret' } }),
  revokeApiKey: ({ settings }) => ({ params: { id: inTurn(settings.disposable.keys) } }),
  listOfferedSkus: () => ({}),
  createOwnSku: () => ({ body: ownSkuBody() }),
  updateOwnSku: ({ settings }) => ({ params: { id: settings.ownSku }, body: { name: 'Recarga al instante' } }),
  deleteOwnSku: ({ settings }) => ({ params: { id: inTurn(settings.disposable.skus) } }),
  listAuditLog: () => ({}),

  createWebhook: () => ({ body: { url: WEBHOOK_URL } }),
  listWebhooks: () => ({}),
  getWebhook: ({ settings }) => ({ params: { id: settings.webhook } }),
  updateWebhook: ({ settings }) => ({ params: { id: settings.webhook }, body: { description: 'Caja' } }),
  deleteWebhook: ({ settings }) => ({ params: { id: inTurn(settings.disposable.webhooks) } }),
  rotateWebhookSecret: ({ settings }) => ({ params: { id: settings.webhook }, body: {} }),
  testWebhook: ({ settings }) => ({ params: { id: settings.webhook } }),
  replayWebhook: ({ settings }) => ({ params: { id: settings.webhook }, body: { eventId: settings.event } }),
  listDeliveries: ({ settings }) => ({ params: { id: settings.webhook } }),
  getDelivery: ({ settings }) => ({ params: { id: settings.webhook, deliveryId: settings.delivery } }),
  listEvents: () => ({}),
};

export const exampleOf = (endpoint: Endpoint, world: World): Example =>
  examples[endpoint.operationId as keyof typeof endpoints](world);
