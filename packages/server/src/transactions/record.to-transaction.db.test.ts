import { Transaction } from '@svc/protocol';
import { Ajv } from 'ajv';
import formats from 'ajv-formats';
import { describe, expect, it } from 'vitest';
import { aRecord } from '../../testing/transactions.ts';
import { toTransaction } from './record.ts';

const owner = { organizationId: 'org_1', environment: 'development' as const };
const stored = (given: Parameters<typeof aRecord>[1]) => ({
  ...aRecord(owner, given),
  id: 'txn_1',
  updatedAt: new Date('2026-03-14T15:09:31Z'),
});

describe('a transaction as callers see it', () => {
  it('has only the fields that are set', () => {
    const record = stored({ subType: undefined, token: undefined, tokenAddress: undefined, amount: undefined });
    expect(toTransaction(record)).toEqual({
      id: 'txn_1',
      type: 'SEND',
      chain: 'STARKNET',
      transactionHash: record.transactionHash,
      senderAddress: record.senderAddress,
      destinationAddress: record.destinationAddress,
      functionName: 'transfer',
      status: 'PENDING',
      createdAt: '2026-03-14T15:09:26.535Z',
      updatedAt: '2026-03-14T15:09:31.000Z',
      apiPublicKey: 'pk_dev_test',
    });
  });

  it('has every field that is set, the amount as a decimal integer, in the form of the interface', () => {
    const transaction = toTransaction(
      stored({
        contractAddress: '0x1',
        contractName: 'USDC',
        functionSelector: '0x2',
        amount: 2n ** 256n - 1n,
        senderWalletId: 'wlt_1',
        destinationWalletId: 'wlt_2',
        status: 'SUCCESS',
        confirmedAt: new Date('2026-03-14T15:09:30Z'),
      }),
    );
    expect(transaction).toMatchObject({
      contractAddress: '0x1',
      contractName: 'USDC',
      functionSelector: '0x2',
      amount: '115792089237316195423570985008687907853269984665640564039457584007913129639935',
      svcWalletId: 'wlt_1',
      destinationSvcWalletId: 'wlt_2',
      confirmedAt: '2026-03-14T15:09:30.000Z',
    });
    const ajv = new Ajv({ strict: false });
    formats.default(ajv);
    expect(ajv.validate(Transaction, transaction)).toBe(true);
  });

  it('that is a purchase has what was bought, how it ended and what became of the payment', () => {
    const bought = { skuId: 'pase-recarga', skuReference: 'IMDM28417936', skuPurchaseCurrency: 'MXN' } as const;
    const ended = { revertReason: 'Tag unknown', refundStatus: 'REFUNDED', refundTransactionHash: '0x5' } as const;
    const record = { ...stored({ type: 'SKU_PURCHASE', ...bought, skuPurchaseAmount: '185.5' }), ...ended };
    expect(toTransaction({ ...record, skuFileNumber: '17' })).toMatchObject({
      ...bought,
      skuPurchaseAmount: 185.5,
      skuFileNumber: '17',
      failureReason: 'Tag unknown',
      refundStatus: 'REFUNDED',
      refundTransactionHash: '0x5',
    });
  });

  it('that is no purchase keeps to itself why it was reverted', () => {
    expect(toTransaction({ ...stored({}), revertReason: 'out of luck' })).not.toHaveProperty('failureReason');
  });

  it('has a hash: a record without one has no such form', () => {
    expect(() => toTransaction(stored({ transactionHash: undefined }))).toThrow('no hash');
  });
});
