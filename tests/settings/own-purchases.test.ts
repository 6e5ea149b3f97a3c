import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bodyOf, field, hashOf, type Owner, ownSkuBody, transferOf } from '../support/app.ts';
import { expectError } from '../support/assertions.ts';
import { type AnyService, TestService } from '../support/service.ts';
import { USDC } from '../support/starknet-client.ts';

/** 100 dollars cost exactly that. */
const PRICE_RAW = 100_000_000n;

let service: AnyService;
let buyer: Owner;

beforeAll(async () => {
  service = await TestService.shared();
  buyer = await service.wallet({ usdc: '1000' });
});
afterAll(() => service.stop());

async function purchaseBody(skuId: string): Promise<Record<string, unknown>> {
  const paymentAddress = field<string>(await service.app.get('/config'), 'paymentAddress');
  const transactionHash = hashOf(await service.app.execute(buyer, [transferOf(USDC, paymentAddress, PRICE_RAW)]));
  const payment = { transactionHash, walletAddress: buyer.address, chain: 'STARKNET', token: 'USDC' };
  return { ...payment, skuId, skuReference: '5512345678', currencyAmount: 100 };
}

describe("a service of an organisation's own", () => {
  it('is bought as it was offered then, also after later changes', async () => {
    const sku = { ...ownSkuBody(), currency: 'USD', fixedAmount: 100, amountRegexValidation: '^100$' };
    bodyOf(await service.app.post('/organization/skus', sku), 201);
    const body = await purchaseBody(sku.id);
    const bought = bodyOf<{ id: string }>(await service.app.post('/sku-purchases', body), 200);
    const asBought = { id: bought.id, skuId: sku.id, skuPurchaseAmount: 100, skuPurchaseCurrency: 'USD' };
    expect(bought).toMatchObject(asBought);

    const change = { fixedAmount: 500, amountRegexValidation: '^500$', currency: 'MXN' };
    bodyOf(await service.app.patch(`/organization/skus/${sku.id}`, change), 200);
    expect((await service.app.get(`/sku-purchases/${bought.id}`)).body).toMatchObject(asBought);
    expect(bodyOf(await service.app.post('/sku-purchases', body), 200)).toMatchObject(asBought);
    const later = await purchaseBody(sku.id);
    expectError(await service.app.post('/sku-purchases', later), 400, 'invalid_amount');

    await service.app.patch(`/organization/skus/${sku.id}`, { isOffered: false });
    expectError(await service.app.post('/sku-purchases', later), 404, 'sku_not_found');
    bodyOf(await service.app.delete(`/organization/skus/${sku.id}`), 200);
    expect((await service.app.get(`/sku-purchases/${bought.id}`)).body).toMatchObject(asBought);
    expect(bodyOf(await service.app.post('/sku-purchases', body), 200)).toMatchObject(asBought);
  });
});
