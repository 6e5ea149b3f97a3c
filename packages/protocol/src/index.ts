export * from './endpoint.ts';
export * from './endpoints/index.ts';
export * from './enums.ts';
export { exampleOf, referredName, type Schema, type Schemas } from './examples/example.ts';
export { alsoInExample } from './examples/sample-values.ts';
export { errorsOf, openApiDocument } from './openapi.ts';
export { type CheckLevel, fixOfWord, levelOfWord } from './readiness.ts';
export * from './roles.ts';
export { Brand, Branding, MAX_LOGO_BYTES, MAX_LOGO_PIXELS } from './schemas/branding.ts';
export * from './schemas/common.ts';
export { MAX_CURRENCY_AMOUNT } from './schemas/exchange.ts';
export {
  Campaign,
  Gift,
  GiftRedeem,
  MAX_BULK_RECIPIENTS,
  RedeemEvidence,
  SharedEvidence,
} from './schemas/gift.ts';
export { CurrentSession, Member, NewPasskeyOptions, OwnSession, Passkey, PasskeyOptions } from './schemas/member.ts';
export { NetworkFile } from './schemas/network.ts';
export {
  DoctorReport,
  OperatorHealth,
  OperatorJobs,
  OperatorOrganization,
  OperatorOrganizationDetail,
} from './schemas/operator.ts';
export {
  OperatorAccount,
  OperatorRelay,
  ReconciledTransaction,
  Stuck,
  StuckPurchase,
  StuckRedeem,
  StuckSolanaTransfer,
} from './schemas/operator-accounts.ts';
export { Hold, LedgerEntry, LoggedRequest, Organization, Overview } from './schemas/organization.ts';
export { Recipient } from './schemas/recipient.ts';
export {
  ApiKey,
  AuditEntry,
  CheckedToken,
  OfferedSku,
  Settings,
  Sponsorship,
  type TokenStepName,
} from './schemas/settings.ts';
export { Catalogue, PATTERN_LENGTH, REFERENCE_LENGTH, Sku } from './schemas/sku.ts';
export { SolanaTransfer, SolanaTransferQuote } from './schemas/solana-transfer.ts';
export { Transaction, TransactionDetails } from './schemas/transaction.ts';
export { Treasury, TreasuryLimit, TreasuryPolicy, TreasuryProposal, TreasurySigner } from './schemas/treasury.ts';
export { CreatedWallet, ListedWallet, ReplacedEncryption, Wallet, WalletChainState } from './schemas/wallet.ts';
export {
  type CreditedDeposit,
  Delivery,
  Event,
  type EventData,
  type ProposalEvent,
  Webhook,
} from './schemas/webhook.ts';
export * from './values/index.ts';
