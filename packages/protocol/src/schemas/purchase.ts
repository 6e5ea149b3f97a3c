import { Type } from 'typebox';
import { refundStatuses, txStatuses } from '../enums.ts';
import { AddressText, Identifier, OneOf, Page, pageQuery } from './common.ts';
import { REFERENCE_LENGTH, SKU_ID_LENGTH } from './sku.ts';
import { Transaction } from './transaction.ts';
import { ChainName, ChainTokenName } from './wallet.ts';

export const CreateSkuPurchase = Type.Object({
  transactionHash: AddressText('On-chain hash of the payment'),
  walletAddress: AddressText('Paying wallet'),
  skuId: Type.String({ minLength: 1, maxLength: SKU_ID_LENGTH }),
  skuReference: Type.String({ minLength: 1, maxLength: REFERENCE_LENGTH }),
  currencyAmount: Type.Number({ exclusiveMinimum: 0 }),
  chain: ChainName,
  token: ChainTokenName,
});

export const PurchaseParams = Type.Object({ id: Identifier('Identifier of the purchase') });

export const PurchasePage = Page(Transaction, 'PurchasePage');
export const PurchaseListQuery = Type.Object({
  ...pageQuery,
  status: Type.Optional(OneOf(txStatuses)),
  refundStatus: Type.Optional(OneOf(refundStatuses, { description: 'DUE shows what waits for a refund' })),
});

export const RefundSkuPurchase = Type.Object({
  transactionHash: Type.Optional(AddressText('A transfer to the payer that you made yourself')),
});
