/**
 * Realistic values by field or parameter name. A name may be qualified: a field by its schema, a path parameter by its operation
 * or the path segment before it. The first value that fits the schema is used.
 */
const ADDRESS = '0x03f0f1a8f5cd7c8b6a4c8f0f6dbe15b0a3f5f5e0a2c1f4c2a7b8d9e0f1a2b3c4';
const RECIPIENT = '0x01a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d5e6f708192a3b4c5d6e7f80';
const HASH = '0x05c1f6d0f6a6c9d7b3e2a1908f7e6d5c4b3a29180f7e6d5c4b3a291807f6e5d4';
// Known class hashes: the current SVC class, the two before it, and READY.
const CLASS_HASH = '0x47d97b5f0cb068ff25cbcb2aaf206f0166edc2ed7c149183a54321602885a88';
const EARLIER_CLASS_HASH = '0x484bbd2404b3c7264bea271f7267d6d4004821ac7787a9eed7f472e79ef40d1';
const FIRST_CLASS_HASH = '0x53f4f8791ed5bed0fddaa553d180c664e32cfaf8316bb232ae77bb08f459f2a';
const READY_CLASS_HASH = '0x36078334509b514626504edc9fb252328d1a240e4e948bef8d0c08dff45927f';
const STARK_KEY = '0x1931ee712a85a44664342b7621a4cd0bd4df3fe600e5e4c2b187a2736e9649';
const FELT = '0x01f3c9a27b5d8e604c13a7f2905be6d48c71f03a';
const SIGNED = '0x06b2d84f1e73a95c20d6f84b3170c9ea52d8f4613b';
const TOKEN = '0x033068f6539f8e6e6b131e6b2b814e6c34a5224bc66947c47dab9dfee93b35fb';
const TRANSACTION_ID = 'txn_01kxw9a0b1c2d3e4f5g6h7j8k9';
const GIFT_ID = 'gift_01kxw9c3d4e5f6g7h8j9k0m1n2';
const REDEEM_ID = 'redeem_01kxw9d5e6f7g8h9j0k1m2n3p4';
const TYPED_DATA = { primaryType: 'OutsideExecution', '…': 'domain, message and types, shortened here' };

export const sampleValues: Readonly<Record<string, readonly unknown[]>> = {
  nextCursor: ['MTc5MzY0NDgxMTAwMDAwMCByb3c'],
  'checkSkuReference.id': ['telmex-recibo'],
  'skus.id': ['telcel-recarga-100'],
  'sku-purchases.id': [TRANSACTION_ID],
  'gifts.id': [GIFT_ID],
  'redeems.id': [REDEEM_ID],
  'keys.id': ['key_01kxw9h4j5k6m7n8p9q0r1s2t3'],
  'treasuries.id': ['trs_01kxw9r8s9t0v1w2x3y4z5a6b7'],
  'webhooks.id': ['whk_01kxw9k6m7n8p9q0r1s2t3v4w5'],

  'Call.calldata': [[RECIPIENT, '2500000', '0']],
  'Call.contractAddress': [TOKEN],
  'Call.entrypoint': ['transfer'],
  'Config.network': ['sandbox'],
  'Config.rpcUrl': ['https://svc.example/sandbox/starknet/rpc'],
  'Config.walletClasses': [
    [
      { walletType: 'SVC', classHash: CLASS_HASH, current: true },
      { walletType: 'SVC', classHash: EARLIER_CLASS_HASH, current: false },
      { walletType: 'SVC', classHash: FIRST_CLASS_HASH, current: false },
      { walletType: 'READY', classHash: READY_CLASS_HASH, current: true },
    ],
  ],
  'Gift.id': [GIFT_ID],
  'GiftRedeem.cctpBurnTxHash': [null],
  'GiftRedeem.id': [REDEEM_ID],
  'LedgerEntry.id': ['led_01kxw9e7f8g9h0j1k2m3n4p5q6'],
  'LedgerEntry.type': ['HOLD'],
  'Organization.id': ['org_01kxw8yy1c9f4n0v8d2b6h3k5m'],
  'Organization.name': ['Tienda Azul'],
  'RedeemStarted.destinationChain': ['solana'],
  'RedeemStarted.status': ['BRIDGING'],
  'RedeemState.destinationChain': ['solana'],
  'RedeemState.id': [REDEEM_ID],
  'RedeemState.status': ['BRIDGING'],

  accountClassHash: [CLASS_HASH],
  activeGifts: [8],
  address: [TOKEN],
  amount: [5, '5'],
  amountUsd: [501],
  authMethod: ['passkey'],
  availableUsd: [9499],
  calldata: [[STARK_KEY]],
  campaignName: ['Navidad 2026'],
  cctpBurnTxHash: [HASH],
  chain: ['STARKNET'],
  chainId: ['0x5356435f53414e44424f58'],
  claimUrl: ['https://svc.example/claim/KQWMZRTB'],
  class_hash: [CLASS_HASH],
  classHash: [CLASS_HASH],
  code: ['NAVIDAD2026'],
  created: [1],
  credentialId: ['q83vEjRWeJCrze8'],
  currency: ['MXN'],
  currencyAmount: [100],
  currentClassHash: [EARLIER_CLASS_HASH],
  currentWalletType: ['SVC'],
  decimals: [6],
  deliveryId: ['dlv_01kxw9n8p9q0r1s2t3v4w5x6y7'],
  deviceType: ['phone'],
  email: ['ana@example.com'],
  encryptedPrivateKey: ['svc1.argon2id.…'],
  environment: ['development'],
  estimatedSeconds: [24],
  expectedAmount: ['2.5'],
  expectedRecipient: [RECIPIENT],
  expectedSender: [ADDRESS],
  expiresAt: ['2027-01-06T00:00:00.000Z'],
  depositAddress: [ADDRESS],
  externalUserId: ['user-123'],
  giftId: [GIFT_ID],
  hash: [HASH],
  hashOrId: [HASH],
  heldUsd: [501],
  holdId: ['led_01kxw9e7f8g9h0j1k2m3n4p5q5'],
  holdLedgerEntryId: ['led_01kxw9e7f8g9h0j1k2m3n4p5q6'],
  id: [REDEEM_ID],
  isActive: [true],
  limit: [10],
  maxRedeems: [100],
  name: ['Navidad 2026'],
  newClassHash: [CLASS_HASH],
  orgName: ['Tienda Azul'],
  page: [1],
  paymentAddress: [RECIPIENT],
  proposalId: ['tpr_01kxw9s9t0v1w2x3y4z5a6b7c8'],
  publicKey: [ADDRESS],
  r: [FELT],
  receiveChainTxHash: [null],
  receiveProof: [null],
  recipientEmail: [null],
  recovery: [0],
  redeemId: [REDEEM_ID],
  reference: [GIFT_ID],
  releasedUsd: [501],
  rpcUrl: ['https://rpc.example'],
  s: [SIGNED],
  salt: [STARK_KEY],
  signature: [[FELT, SIGNED]],
  skuId: ['telcel-recarga-100'],
  skuReference: ['5512345678'],
  starkKeyPubAX: [STARK_KEY],
  startsAt: ['2026-12-01T00:00:00.000Z'],
  status: ['SUCCESS', 'ACCEPTED_ON_L2'],
  synced: [2],
  targetClassHash: [CLASS_HASH],
  token: ['USDC'],
  total: [1],
  totalGifts: [12],
  totalHeldUsd: [501],
  totalPages: [1],
  totalRedeemedUsd: [0],
  totalRedeems: [0],
  transactionHash: [HASH],
  typedData: [TYPED_DATA],
  TypedData: [TYPED_DATA],
  unique: ['0x0'],
  walletAddress: [ADDRESS],
};

/** Optional parameters of which the request needs at least these. */
export const alsoInExample: Readonly<Record<string, readonly string[]>> = {
  getTokenBalance: ['externalUserId'],
};
