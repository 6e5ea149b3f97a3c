import { Type } from 'typebox';
import { environments, refundStatuses, txStatuses } from '../enums.ts';
import { AddressText, Identifier, Nullable, OneOf, Page, pageQuery, Timestamp } from './common.ts';
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

export const ProviderStatus = Type.Object(
  {
    environment: OneOf(environments),
    configured: Type.Boolean({ description: 'Whether orders can be placed in this environment' }),
    pending: Type.Integer({ description: 'Your purchases that are paid and have no result yet' }),
    oldestPendingAt: Nullable(Timestamp()),
    lastCompletedAt: Nullable(Timestamp()),
    lastFailedAt: Nullable(Timestamp()),
    lastFailure: Nullable(Type.String({ description: 'What the provider said then' })),
  },
  {
    title: 'ProviderStatus',
    description: 'Completed and failed: among your last 1,000 purchases',
    examples: [
      {
        environment: 'production',
        configured: true,
        pending: 1,
        oldestPendingAt: '2026-11-17T18:20:11.000Z',
        lastCompletedAt: '2026-11-17T18:19:40.000Z',
        lastFailedAt: '2026-11-14T09:02:55.000Z',
        lastFailure: 'The number does not exist.',
      },
    ],
  },
);

export const RefundSkuPurchase = Type.Object({
  transactionHash: Type.Optional(AddressText('A transfer to the payer that you made yourself')),
});
