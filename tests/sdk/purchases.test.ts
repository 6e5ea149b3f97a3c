import type { Transaction } from '@svc/protocol';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Client } from '../../packages/sdk/src/client/client.ts';
import { getConfig } from '../../packages/sdk/src/client/config.ts';
import { callContract } from '../../packages/sdk/src/node/rpc.ts';
import { type PurchaseSkuParams, purchaseSku } from '../../packages/sdk/src/purchases/purchase-sku.ts';
import {
  cancelSkuPurchase,
  getSkuPurchase,
  listSkuPurchases,
  refundSkuPurchase,
  skuPurchases,
  waitForPurchase,
} from '../../packages/sdk/src/purchases/purchases.ts';
import type { PurchaseState } from '../../packages/sdk/src/purchases/state.ts';
import { eventually } from '../support/eventually.ts';
import { encryptKey, SessionFixture } from '../support/sessions.ts';
import { USDC } from '../support/starknet-client.ts';

const EXECUTE = '/execute-sponsored-transaction';
let fixture: SessionFixture;
let client: Client;
let order: PurchaseSkuParams;
let states: PurchaseState[];
let before: bigint;
/** Answers of this path are dropped after the service has handled the request. */
let lossy: string | undefined;
/** Sends every request with a new key, as if the old ones had expired. */
let forgetful = false;

async function brokenFetch(url: string, init?: RequestInit): Promise<Response> {
  const headers = new Headers(init?.headers as Record<string, string>);
  if (forgetful && headers.has('idempotency-key')) headers.set('idempotency-key', crypto.randomUUID());
  const response = await fetch(url, { ...init, headers });
  if (lossy === undefined || !url.endsWith(lossy)) return response;
  await response.text();
  throw new TypeError('the connection was lost');
}

beforeAll(async () => {
  fixture = await SessionFixture.start();
  client = { ...fixture.clientWith({ fetch: brokenFetch }), maxRetries: 0 };
});
afterAll(() => fixture?.service.stop());

beforeEach(async () => {
  [lossy, forgetful, states] = [undefined, false, []];
  const wallet = await fixture.wallet();
  order = {
    encryptKey,
    wallet,
    skuId: 'pase-recarga-200',
    skuReference: 'IMDM30652874',
    onProgress: (state) => void states.push(JSON.parse(JSON.stringify(state))),
  };
  before = await paymentBalance();
});
afterEach(() => fixture.returnToPresent());

async function paymentBalance(): Promise<bigint> {
  const { paymentAddress } = await getConfig(client);
  const calldata = [BigInt(paymentAddress)];
  const [low = 0n] = await callContract(client, { contractAddress: BigInt(USDC), entrypoint: 'balance_of', calldata });
  return low;
}
/** In raw units, received during this test. */
const paid = async () => (await paymentBalance()) - before;
const rawAmount = () => BigInt(Math.round(Number(states[0]?.amount) * 1e6));
const resume = () => purchaseSku(client, { ...order, resume: states.at(-1) });

describe('a purchase through the running service', () => {
  it('is paid, recorded and delivered', async () => {
    const purchase = await purchaseSku(client, order);
    expect(purchase).toMatchObject({ type: 'SKU_PURCHASE', skuReference: 'IMDM30652874', skuPurchaseAmount: 200 });
    const delivered = await waitForPurchase(client, { id: purchase.id });
    expect(delivered).toMatchObject({ id: purchase.id, status: 'SUCCESS', skuFileNumber: expect.any(String) });
  });

  it('that its provider refuses fails with a reason and a due refund', async () => {
    const { id } = await purchaseSku(client, { ...order, skuReference: 'IMDM30650000' });
    const failed = await waitForPurchase(client, { id });
    expect(failed).toMatchObject({ status: 'FAILED', failureReason: expect.any(String), refundStatus: 'DUE' });
  });

  it('that failed is listed as due, and is refunded once', async () => {
    const { id } = await purchaseSku(client, { ...order, skuReference: 'IMDM30650000' });
    await waitForPurchase(client, { id });
    const due: string[] = [];
    for await (const one of skuPurchases(client, { refundStatus: 'DUE', pageSize: 1 })) due.push(one.id);
    expect(due).toContain(id);
    expect((await listSkuPurchases(client, { status: 'FAILED', limit: 1 })).items).toMatchObject([{ id }]);
    const [first, second] = await Promise.all([refundSkuPurchase(client, { id }), refundSkuPurchase(client, { id })]);
    expect([first.refundStatus, second.refundStatus]).not.toContain('DUE');
    const isBack = ({ refundStatus }: Transaction) => refundStatus === 'REFUNDED';
    expect(await eventually(() => getSkuPurchase(client, { id }), isBack)).toMatchObject({
      refundStatus: 'REFUNDED',
      refundTransactionHash: expect.any(String),
    });
  });

  it('that was delivered is neither cancelled nor refunded', async () => {
    const { id } = await purchaseSku(client, order);
    await waitForPurchase(client, { id });
    await expect(cancelSkuPurchase(client, { id })).rejects.toMatchObject({ code: 'purchase_not_cancellable' });
    await expect(refundSkuPurchase(client, { id })).rejects.toMatchObject({ code: 'purchase_not_refundable' });
  });

  it('pays its price once and returns the purchase', async () => {
    expect(await purchaseSku(client, order)).toMatchObject({ skuReference: 'IMDM30652874', token: 'USDC' });
    expect(await paid()).toBe(rawAmount());
  });

  it('is paid once if the answer to the payment was lost', async () => {
    lossy = EXECUTE;
    await expect(purchaseSku(client, order)).rejects.toMatchObject({ code: 'payment_unclear' });
    lossy = undefined;
    const { id } = await resume();
    expect(await resume()).toMatchObject({ id });
    expect(await paid()).toBe(rawAmount());
  });

  it.each([
    ['knows the request still', false],
    ['has forgotten the request', true],
  ])('is paid once if resumed after the window, and the service %s', async (_, forgotten) => {
    lossy = EXECUTE;
    await expect(purchaseSku(client, order)).rejects.toMatchObject({ code: 'payment_unclear' });
    [lossy, forgetful] = [undefined, forgotten];
    await fixture.travel(7_200);
    expect(await resume()).toMatchObject({ skuReference: 'IMDM30652874' });
    expect(await paid()).toBe(rawAmount());
  });

  it('is paid again if the first payment was never sent and its window is closed', async () => {
    const crash = (state: PurchaseState) => {
      states.push(state);
      throw new Error('crash');
    };
    await expect(purchaseSku(client, { ...order, onProgress: crash })).rejects.toThrow('crash');
    await fixture.travel(7_200);
    await resume();
    expect(states).toHaveLength(3);
    expect(await paid()).toBe(rawAmount());
  });

  it('is not paid from a balance below the price', async () => {
    const [skuId, currencyAmount] = ['pase-recarga', 2_900];
    const dear = { ...order, skuId, currencyAmount };
    await expect(purchaseSku(client, { ...dear, onProgress: undefined })).rejects.toMatchObject({
      code: 'invalid_input',
    });
    expect(await paid()).toBe(0n);
  });
});
