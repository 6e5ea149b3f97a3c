/** Each list is the source of its type, its schema and its database check. */
export const chains = ['STARKNET', 'BASE', 'ARBITRUM', 'OPTIMISM', 'ROOTSTOCK', 'SCROLL', 'WORLDCHAIN'] as const;
export type Chain = (typeof chains)[number];

// biome-ignore format: a table reads better than fifteen lines
export const chainTokens = [
  'USDC', 'USDC_E', 'USDT', 'DAI', 'ETH', 'STRK', 'SLINK', 'ALF', 'BROTHER', 'ARB', 'DOC', 'MXNB', 'WLD', 'WBTC', 'OTHER',
] as const;
export type ChainToken = (typeof chainTokens)[number];

export const currencies = ['MXN', 'USD'] as const;
export type Currency = (typeof currencies)[number];

export const walletTypes = ['SVC', 'READY'] as const;
export type WalletType = (typeof walletTypes)[number];

/** Credentials that can replace a wallet's encrypted private key. */
export const encryptionReplacers = ['user token', 'secret key'] as const;
export type EncryptionReplacer = (typeof encryptionReplacers)[number];

// biome-ignore format: a table reads better than fourteen lines
export const skuCategories = [
  'TELEPEAJE', 'TELEFONICA', 'GENERAL', 'TESORERIA', 'LUZ', 'INTERNET', 'TV', 'MOVILIDAD', 'RECARGAS', 'GIFT_CARDS',
  'GAMING', 'VENTAS_CATALOGO', 'DEPORTES', 'STREAMING',
] as const;
export type SkuCategory = (typeof skuCategories)[number];

/** Of a wallet's session key. `EXHAUSTED`: no calls left. */
export const sessionStates = ['ACTIVE', 'EXPIRED', 'EXHAUSTED', 'REVOKED'] as const;
export type SessionState = (typeof sessionStates)[number];

export const txStatuses = ['PENDING', 'PROCESSING', 'SUCCESS', 'FAILED', 'CANCELLED'] as const;
export type TxStatus = (typeof txStatuses)[number];

export const txTypes = [
  'SEND',
  'RECEIVE',
  'CONTRACT_CALL',
  'SKU_PURCHASE',
  'SHIELD',
  'UNSHIELD',
  'PRIVATE_TRANSFER',
] as const;
export type TxType = (typeof txTypes)[number];

export const txSubTypes = ['TRANSFER', 'MULTICALL', 'SESSION'] as const;
export type TxSubType = (typeof txSubTypes)[number];

/** Of the payment of a purchase that failed or was cancelled. */
export const refundStatuses = ['DUE', 'REFUNDING', 'REFUNDED'] as const;
export type RefundStatus = (typeof refundStatuses)[number];

/** They exist only for webhooks that name them. */
export const giftEventTypes = ['gift.redeemed', 'gift.redeem-failed'] as const;

/** Types of webhook events. */
// biome-ignore format: a table reads better than thirteen lines
export const eventTypes = [
  'sku-purchase.processing', 'sku-purchase.completed', 'sku-purchase.failed', 'sku-purchase.cancelled',
  'wallet.created', 'transaction.confirmed', 'transaction.failed', 'transfer.received', 'deposit.credited',
  'treasury.proposal.created', 'treasury.proposal.signed', 'treasury.proposal.executed', 'treasury.proposal.failed',
  'treasury.proposal.expired', ...giftEventTypes, 'webhook.test',
] as const;
export type EventType = (typeof eventTypes)[number];

/** Of a payment or change that the signers of a treasury approve. */
// biome-ignore format: a table reads better than seven lines
export const proposalStates = ['PENDING', 'READY', 'EXECUTING', 'EXECUTED', 'FAILED', 'EXPIRED', 'CANCELLED'] as const;
export type ProposalState = (typeof proposalStates)[number];
/** `POLICY` changes signers, threshold or limits. */
export const proposalKinds = ['TRANSFERS', 'CALLS', 'POLICY'] as const;
export type ProposalKind = (typeof proposalKinds)[number];

export const deliveryStates = ['WAITING', 'DELIVERED', 'FAILED'] as const;
export type DeliveryState = (typeof deliveryStates)[number];

export const keyKinds = ['public', 'secret'] as const;

export const giftTypes = ['GIFT_CARD', 'PROMOTIONAL', 'REFERRAL', 'LOYALTY', 'COMPENSATION'] as const;
export type GiftType = (typeof giftTypes)[number];

export const redeemChains = ['starknet', 'solana'] as const;
export type RedeemChain = (typeof redeemChains)[number];

export const redeemStatuses = ['PENDING', 'BRIDGING', 'ATTESTED', 'SUCCESS', 'FAILED'] as const;
export type RedeemStatus = (typeof redeemStatuses)[number];

/** Of money that a wallet moves to Solana. `FAILED`: it never left the wallet. `STUCK`: it left, and the bridge did not deliver it yet. */
export const solanaTransferStatuses = ['PENDING', 'BRIDGING', 'ATTESTED', 'SUCCESS', 'FAILED', 'STUCK'] as const;
export type SolanaTransferStatus = (typeof solanaTransferStatuses)[number];

export const receiveProofs = ['CHAIN', 'BRIDGE'] as const;
export type ReceiveProof = (typeof receiveProofs)[number];

/** Of a transaction that was signed for a relay. `REPLACED`: another one with its nonce was executed, or none. */
export const attemptStates = ['STORED', 'SENT', 'SUCCEEDED', 'REVERTED', 'REPLACED'] as const;
export type AttemptState = (typeof attemptStates)[number];
/** `BUMP`: with a higher fee. `FILLER`: only consumes the nonce. `OTHER`: sent by a third party. */
export const attemptKinds = ['FIRST', 'BUMP', 'FILLER', 'OTHER'] as const;
export const relayStates = ['STORED', 'SENT', 'SUCCEEDED', 'REVERTED', 'VOIDED'] as const;

// biome-ignore format: a table reads better than seven lines
export const onChainTxStatuses = [
  'RECEIVED', 'PENDING', 'ACCEPTED_ON_L2', 'ACCEPTED_ON_L1', 'REJECTED', 'REVERTED', 'NOT_RECEIVED',
] as const;
export type OnChainTxStatus = (typeof onChainTxStatuses)[number];

export const environments = ['production', 'development'] as const;
export type Environment = (typeof environments)[number];

export const ledgerEntryTypes = ['DEPOSIT', 'GRANT', 'REVERSAL', 'HOLD', 'SETTLE', 'RELEASE'] as const;
export type LedgerEntryType = (typeof ledgerEntryTypes)[number];

/** Of members of an organisation. Each includes those before it. */
export const roles = ['VIEWER', 'DEVELOPER', 'OWNER'] as const;
export type Role = (typeof roles)[number];

export const memberStates = ['INVITED', 'ACTIVE'] as const;
export type MemberState = (typeof memberStates)[number];

export const overviewRanges = ['24h', '7d', '30d'] as const;
export type OverviewRange = (typeof overviewRanges)[number];

export const statusClasses = ['2xx', '3xx', '4xx', '5xx'] as const;
export type StatusClass = (typeof statusClasses)[number];
