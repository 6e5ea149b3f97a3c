import { allEndpoints, type Endpoint, type endpoints } from '@svc/protocol';
import { type Reply, type Send, send } from './client.ts';

export interface Example {
  /** Values of the path's parameters. */
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: string;
  readonly body?: unknown;
}

const ADDRESS = '0x03f0f1a8f5cd7c8b6a4c8f0f6dbe15b0a3f5f5e0a2c1f4c2a7b8d9e0f1a2b3c4';
const HASH = '0x05c1f6d0f6a6c9d7b3e2a1908f7e6d5c4b3a29180f7e6d5c4b3a291807f6e5d4';
const FELT = '0x1f3c9a27b5d8e604c13a7f2905be6d48c71f03a';
const typedData = { types: {}, primaryType: 'OutsideExecution', domain: {}, message: {} };
const gift = { name: 'Navidad', amount: 5 };

/** A request that fits the schema of each endpoint. A new endpoint does not compile without one. */
export const examples: Record<keyof typeof endpoints, Example> = {
  getWalletByUser: { query: 'externalUserId=user-1' },
  prepareWalletCreation: { body: { chain: 'STARKNET', publicKey: ADDRESS, starkKeyPubAX: FELT } },
  createWallet: {
    body: {
      externalUserId: 'user-1',
      publicKey: ADDRESS,
      chain: 'STARKNET',
      userSignature: { r: FELT, s: FELT, recovery: 0 },
      typedData,
      encryptedPrivateKey: 'ciphertext',
      deploymentData: { class_hash: FELT, salt: FELT, unique: '0x0', calldata: [FELT] },
    },
  },
  updateEncryptionDetails: { body: { externalUserId: 'user-1', newEncryptedPrivateKey: 'ciphertext' } },
  getTokenBalance: { query: 'chainToken=USDC&chain=STARKNET&externalUserId=user-1' },
  recoverCredential: { query: 'externalUserId=user-1' },
  prepareWalletUpgrade: { body: { walletAddress: ADDRESS } },
  executeWalletUpgrade: { body: { walletAddress: ADDRESS, typedData, signature: [FELT, FELT] } },

  recordSend: {
    body: {
      transactionHash: HASH,
      expectedSender: ADDRESS,
      expectedRecipient: ADDRESS,
      expectedToken: 'USDC',
      expectedAmount: '2.5',
      chain: 'STARKNET',
    },
  },
  listTransactions: { query: `walletAddress=${ADDRESS}` },
  prepareTypedData: {
    body: { publicKey: ADDRESS, calls: [{ contractAddress: ADDRESS, entrypoint: 'transfer', calldata: [FELT] }] },
  },
  executeSponsoredTransaction: { body: { publicKey: ADDRESS, typedData, userSignature: [FELT, FELT] } },
  syncOnChain: { body: { walletAddress: ADDRESS } },
  getTransaction: { params: { hashOrId: HASH } },
  getTransactionStatus: { params: { hash: HASH } },

  listSkus: {},
  getSku: { params: { id: 'pase-recarga' } },
  checkSkuReference: { params: { id: 'pase-recarga' }, body: { reference: 'IMDM28417936' } },
  createSkuPurchase: {
    body: {
      transactionHash: HASH,
      walletAddress: ADDRESS,
      skuId: 'pase-recarga',
      skuReference: 'IMDM28417936',
      currencyAmount: 500,
      chain: 'STARKNET',
      token: 'USDC',
    },
  },
  getSkuPurchase: { params: { id: 'txn_1' } },
  getUsdAmount: { query: 'currencyAmount=185&currency=MXN' },

  createGift: {
    body: {
      ...gift,
      code: 'NAVIDAD26',
      maxRedeems: 10,
      maxRedeemsPerUser: 1,
      startsAt: '2026-12-01T00:00:00Z',
      isActive: true,
    },
  },
  createGiftsBulk: { body: { ...gift, recipients: [{ email: 'ana@example.com' }] } },
  listGifts: {},
  getGiftUsage: {},
  listGiftRedeems: {},
  getGiftRedeem: { params: { id: 'redeem_1' } },
  getGift: { params: { id: 'gift_1' } },
  updateGift: { params: { id: 'gift_1' }, body: { isActive: false } },
  deleteGift: { params: { id: 'gift_1' } },
  claimGift: { params: { code: 'NAVIDAD26' } },
  redeemGift: { params: { code: 'NAVIDAD26' }, body: { walletAddress: ADDRESS, chain: 'starknet' } },
  getRedeemStatus: { params: { code: 'NAVIDAD26', redeemId: 'redeem_1' } },

  getOrganization: {},
  listLedger: {},
  createDeposit: { body: { transactionHash: HASH, chain: 'STARKNET' } },
  getConfig: {},
};

export const exampleOf = (endpoint: Endpoint): Example => examples[endpoint.operationId as keyof typeof endpoints];

/** Longer than any identifier may be. */
const TOO_LONG = 'x'.repeat(129);

/** The example with one thing wrong in it, or undefined where there is nothing that could be wrong. */
export function badExampleOf(endpoint: Endpoint): Example | undefined {
  const { params, ...rest } = exampleOf(endpoint);
  if (endpoint.body) return { ...exampleOf(endpoint), body: [] };
  if (params) {
    return { ...rest, params: Object.fromEntries(Object.keys(params).map((name) => [name, TOO_LONG])) };
  }
  if (!endpoint.query) return undefined;
  return rest.query === undefined ? { query: 'page=0' } : {};
}

/** The path of an example, with its parameters encoded. */
export function pathOf(endpoint: Endpoint, { params = {}, query }: Example): string {
  const path = endpoint.path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ''));
  return query === undefined ? path : `${path}?${query}`;
}

/** Sends an example to its endpoint, with these headers and nothing else. */
export function sendExample(
  baseUrl: string,
  endpoint: Endpoint,
  headers: Record<string, string>,
  example: Example = exampleOf(endpoint),
): Promise<Reply> {
  const request: Send = { method: endpoint.method, headers, ...('body' in example && { body: example.body }) };
  return send(baseUrl + pathOf(endpoint, example), request);
}

export const builtEndpoints: readonly Endpoint[] = allEndpoints.filter((endpoint) => !endpoint.planned);
export const plannedEndpoints: readonly Endpoint[] = allEndpoints.filter((endpoint) => endpoint.planned);
