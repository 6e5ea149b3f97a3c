import type {
  Chain,
  ChainToken,
  Currency,
  Environment,
  RefundStatus,
  TxStatus,
  TxSubType,
  TxType,
} from '@svc/protocol';

/** What a purchase has beside the transfer that paid for it. */
export interface SkuFields {
  readonly skuId?: string | undefined;
  readonly skuReference?: string | undefined;
  /** A plain decimal, exact. */
  readonly skuPurchaseAmount?: string | undefined;
  readonly skuPurchaseCurrency?: Currency | undefined;
}

/** A transaction of the history as it is first stored. Addresses and hashes are in their normal form. */
export interface NewRecord extends SkuFields {
  readonly organizationId: string;
  readonly environment: Environment;
  readonly apiPublicKey: string;
  readonly type: TxType;
  readonly subType: TxSubType | undefined;
  readonly chain: Chain;
  /** Undefined until a paymaster tells it; such a record is shown to nobody. */
  readonly transactionHash: string | undefined;
  /** Its Transfer event's place in the receipt; undefined until that was seen, and where there is no such event. */
  readonly eventIndex: number | undefined;
  /** The relay that executes it, and the place of its call there. */
  readonly relayId: string | undefined;
  readonly callIndex: number | undefined;
  readonly senderAddress: string;
  readonly destinationAddress: string;
  readonly contractAddress: string | undefined;
  readonly contractName: string | undefined;
  readonly functionName: string | undefined;
  readonly functionSelector: string | undefined;
  readonly token: ChainToken | undefined;
  readonly tokenAddress: string | undefined;
  /** In the smallest unit. */
  readonly amount: bigint | undefined;
  readonly status: TxStatus;
  readonly blockNumber: number | undefined;
  readonly senderWalletId: string | undefined;
  readonly destinationWalletId: string | undefined;
  /** When it happened, as far as that is known: the history's order. */
  readonly createdAt: Date;
  readonly confirmedAt: Date | undefined;
}

export interface TransactionRecord extends NewRecord {
  readonly id: string;
  readonly updatedAt: Date;
  /** Of a purchase, from its provider. */
  readonly skuFileNumber?: string | undefined;
  readonly revertReason?: string | undefined;
  /** Of a purchase whose payment is to be given back. */
  readonly refundStatus?: RefundStatus | undefined;
  readonly refundTransactionHash?: string | undefined;
}
