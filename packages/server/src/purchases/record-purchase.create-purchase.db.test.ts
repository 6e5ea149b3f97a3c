import type { Db } from '@svc/store';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { skuBody } from '../../testing/organizations.ts';
import { PRICE_RAW, PurchaseFixture, ratesOf } from '../../testing/purchases.ts';
import { stranger, transferOf, USDC } from '../../testing/transactions.ts';
import { createOwnSku } from '../skus/own-skus.ts';

let fixture: PurchaseFixture;
beforeAll(async () => {
  fixture = await PurchaseFixture.start();
});
afterAll(() => fixture.stop());
afterEach(() => fixture.sandbox.post('/starknet/block-time', { seconds: 0 }));

describe('a purchase', () => {
  it('is recorded with its payment, what belongs to it, and the job that goes on with it', async () => {
    const hash = await fixture.pay();
    const recorded = await fixture.record(fixture.body(hash));
    expect(recorded).toEqual({
      id: expect.stringMatching(/^txn_/),
      type: 'SKU_PURCHASE',
      chain: 'STARKNET',
      transactionHash: hash,
      senderAddress: expect.stringMatching(/^0x0/),
      destinationAddress: fixture.payments,
      token: 'USDC',
      tokenAddress: USDC,
      amount: String(PRICE_RAW),
      skuId: 'pase-recarga',
      skuReference: 'IMDM28417936',
      skuPurchaseAmount: 185,
      skuPurchaseCurrency: 'MXN',
      status: 'PENDING',
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
      apiPublicKey: 'pk_dev_1',
      svcWalletId: expect.stringMatching(/^wal_|^wlt_/),
    });
    expect(BigInt(recorded.senderAddress)).toBe(BigInt(fixture.ana.address));
    const { id } = recorded;
    expect(await fixture.traces(hash)).toEqual({
      uses: [{ purpose: 'purchase', reference: id }],
      purchases: [
        {
          id,
          provider_id: 'movilidad-mx',
          catalogue: 'deployment',
          sku_name: 'PASE: recarga de tag',
          price_micros: 10_000_000n,
        },
      ],
      jobs: [{ key: id, payload: { purchaseId: id } }],
    });
  });

  it('of a service that the organisation sells itself says so', async () => {
    const { id: skuId } = await fixture.db.tx((tx) => createOwnSku(tx, fixture.caller(), skuBody({ id: 'propio' })));
    const hash = await fixture.pay();
    await fixture.record(fixture.body(hash, { skuId, skuReference: '5512345678' }));
    expect(await fixture.traces(hash)).toMatchObject({
      purchases: [{ catalogue: 'organization', provider_id: 'propio' }],
    });
  });

  it('counts all that the wallet sent to the payment address in one transaction', async () => {
    const transfers = [4_000_000n, 6_000_000n].map((amount) => transferOf(fixture.payments, amount));
    const hash = await fixture.execute(fixture.ana, [...transfers, transferOf(stranger(), 1n)]);
    expect(await fixture.record(fixture.body(hash))).toMatchObject({ amount: '10000000' });
  });

  it.each(['USDC', 'USDC_E', 'USDT', 'DAI'] as const)('is paid in %s at a dollar each', async (token) => {
    const unit = token === 'DAI' ? 10n ** 18n : 10n ** 6n;
    const hash = await fixture.pay(10n * unit, token);
    expect(await fixture.record(fixture.body(hash, { token }))).toMatchObject({ token, amount: String(10n * unit) });
  });

  it('needs a payment that is executed, not one in a sealed block', async () => {
    await fixture.sandbox.post('/starknet/block-time', { seconds: 3_600 });
    const hash = await fixture.pay();
    expect(await fixture.record(fixture.body(hash))).toMatchObject({ status: 'PENDING' });
  });

  it('keeps the price that it was checked against', async () => {
    const hash = await fixture.pay();
    await fixture.record(fixture.body(hash), { deps: { exchange: ratesOf('18.5', '18.6') } });
    expect(await fixture.traces(hash)).toMatchObject({ purchases: [{ price_micros: 9_946_237n }] });
  });
});

const DATABASE_STEPS = ['the payment is used', 'the record is there', 'the purchase is there', 'the job is there'];

describe('a recording that dies', () => {
  it.each(DATABASE_STEPS.map((name, step) => [name, step] as const))(
    'before %s leaves nothing, and can be repeated',
    async (_, step) => {
      const body = fixture.body(await fixture.pay());
      const dying = fixture.db.tx((tx) => fixture.recordIn(dyingAt(tx, step), body));
      await expect(dying).rejects.toThrow('The process ends here.');
      expect(await fixture.traces(body.transactionHash)).toEqual({ uses: [], purchases: [], jobs: [] });
      expect(await fixture.record(body)).toMatchObject({ status: 'PENDING' });
    },
  );

  it('has no further step', async () => {
    const body = fixture.body(await fixture.pay());
    const whole = fixture.db.tx((tx) => fixture.recordIn(dyingAt(tx, DATABASE_STEPS.length), body));
    expect(await whole).toMatchObject({ status: 'PENDING' });
  });
});

/** The transaction, up to its statement of this number. */
function dyingAt(tx: Db, step: number): Db {
  let steps = 0;
  const living = <T extends unknown[], R>(ask: (...args: T) => Promise<R>) => {
    return (...args: T): Promise<R> => {
      if (steps === step) return Promise.reject(new Error('The process ends here.'));
      steps += 1;
      return ask(...args);
    };
  };
  return { ...tx, run: living(tx.run), rows: living(tx.rows), one: living(tx.one) } as Db;
}
