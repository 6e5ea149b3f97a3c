import type { Endpoint, endpoints } from '@svc/protocol';
import { USDC } from '../sandbox/support/client.ts';
import { transferOf } from '../wallets/support/owner.ts';
import { recipient, transferred, type World } from './world.ts';

export interface Example {
  /** Values of the path's parameters. */
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: string;
  readonly body?: unknown;
}

const ADDRESS = '0x03f0f1a8f5cd7c8b6a4c8f0f6dbe15b0a3f5f5e0a2c1f4c2a7b8d9e0f1a2b3c4';
const HASH = '0x05c1f6d0f6a6c9d7b3e2a1908f7e6d5c4b3a29180f7e6d5c4b3a291807f6e5d4';
const gift = { name: 'Navidad', amount: 5 };

/** A request that succeeds, however often it is sent, once its endpoint is built. A new endpoint does not compile without one. */
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
  createSkuPurchase: () => ({
    body: {
      transactionHash: HASH,
      walletAddress: ADDRESS,
      skuId: 'pase-recarga',
      skuReference: 'IMDM28417936',
      currencyAmount: 500,
      chain: 'STARKNET',
      token: 'USDC',
    },
  }),
  getSkuPurchase: () => ({ params: { id: 'txn_1' } }),
  getUsdAmount: () => ({ query: 'currencyAmount=185&currency=MXN' }),

  createGift: () => ({
    body: {
      ...gift,
      code: 'NAVIDAD26',
      maxRedeems: 10,
      maxRedeemsPerUser: 1,
      startsAt: '2026-12-01T00:00:00Z',
      isActive: true,
    },
  }),
  createGiftsBulk: () => ({ body: { ...gift, recipients: [{ email: 'ana@example.com' }] } }),
  listGifts: () => ({}),
  getGiftUsage: () => ({}),
  listGiftRedeems: () => ({}),
  getGiftRedeem: () => ({ params: { id: 'redeem_1' } }),
  getGift: () => ({ params: { id: 'gift_1' } }),
  updateGift: () => ({ params: { id: 'gift_1' }, body: { isActive: false } }),
  deleteGift: () => ({ params: { id: 'gift_1' } }),
  claimGift: () => ({ params: { code: 'NAVIDAD26' } }),
  redeemGift: () => ({ params: { code: 'NAVIDAD26' }, body: { walletAddress: ADDRESS, chain: 'starknet' } }),
  getRedeemStatus: () => ({ params: { code: 'NAVIDAD26', redeemId: 'redeem_1' } }),

  getOrganization: () => ({}),
  listLedger: () => ({}),
  createDeposit: () => ({ body: { transactionHash: HASH, chain: 'STARKNET' } }),
  getConfig: () => ({}),
};

export const exampleOf = (endpoint: Endpoint, world: World): Example =>
  examples[endpoint.operationId as keyof typeof endpoints](world);
