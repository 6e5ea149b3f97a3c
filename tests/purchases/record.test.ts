import type { Transaction } from '@svc/protocol';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { App } from '../support/app.ts';
import { expectError } from '../support/assertions.ts';
import { type Reply, userToken } from '../support/client.ts';
import { eventually } from '../support/eventually.ts';
import { PRICE_RAW, PurchaseFixture, references } from '../support/purchases.ts';
import { type AnyService, TestService } from '../support/service.ts';

let service: AnyService;
let fixture: PurchaseFixture;
/** The owner of the wallet, and another user. */
let [buyer, stranger]: App[] = [];
let others: App;
beforeAll(async () => {
  service = await TestService.shared();
  fixture = await PurchaseFixture.start(service);
  const { server } = service;
  const as = async (sub: string) =>
    new App(server, {
      'x-api-key': server.credentials.publicKey,
      authorization: `Bearer ${await userToken(server, sub)}`,
    });
  [buyer, stranger] = [await as('buyer'), await as('stranger')];
  const keys = (await service.organization({ name: 'Otra Tienda' })).keys;
  others = new App(server, keys.headers);
});
afterAll(async () => {
  const errors = service.errors();
  await service.stop();
  expect(errors).toEqual([]);
});

const the = (app: App | undefined): App => {
  if (!app) throw new Error('It is prepared in beforeAll.');
  return app;
};
const record = (app: App, body: object) => app.post('/sku-purchases', body);
const list = async (query = '', app: App = fixture.app) =>
  (await app.get(`/sku-purchases${query}`)).body as { data: Transaction[]; total: number };
const bodyOf = ({ status, body }: Reply): Transaction => {
  expect(status).toBe(200);
  return body as Transaction;
};

describe('a purchase', () => {
  it('is recorded with what was paid and what was bought', async () => {
    const transactionHash = await fixture.pay();
    const recorded = bodyOf(await record(fixture.app, fixture.body(transactionHash, references.quick)));
    expect(recorded).toMatchObject({
      type: 'SKU_PURCHASE',
      chain: 'STARKNET',
      transactionHash,
      token: 'USDC',
      amount: String(PRICE_RAW),
      skuId: 'totalplay-recibo',
      skuReference: references.quick,
      skuPurchaseAmount: 50,
      skuPurchaseCurrency: 'MXN',
      status: 'PENDING',
      apiPublicKey: service.server.credentials.publicKey,
    });
    expect(BigInt(recorded.senderAddress)).toBe(BigInt(fixture.buyer.address));
    expect(BigInt(recorded.destinationAddress)).toBe(BigInt(fixture.paymentAddress));
  });

  it('is recorded and read by the user whose wallet paid, and by no other', async () => {
    const body = fixture.body(await fixture.pay(), references.quick);
    expectError(await record(the(stranger), body), 404, 'wallet_not_found');
    const { id } = bodyOf(await record(the(buyer), body));
    expect(bodyOf(await the(buyer).get(`/sku-purchases/${id}`))).toMatchObject({ id });
    expect(bodyOf(await fixture.app.get(`/sku-purchases/${id}`))).toMatchObject({ id });
    const foreign = [await the(stranger).get(`/sku-purchases/${id}`), await others.get(`/sku-purchases/${id}`)];
    const missing = await others.get('/sku-purchases/txn_nothing');
    expectError(missing, 404, 'purchase_not_found');
    expect(foreign.map(({ status, text }) => [status, text])).toEqual(
      foreign.map(() => [missing.status, missing.text]),
    );
  });

  it('is listed for its own organisation, newest first, with the secret key only', async () => {
    const [first, second] = [await fixture.buy(references.quick), await fixture.buy(references.quick)];
    const { data, total } = await list('?limit=2');
    expect(data.map(({ id }) => id)).toEqual([second.id, first.id]);
    expect(total).toBeGreaterThan(1);
    expect(await list('', others)).toMatchObject({ data: [], total: 0 });
    expectError(await the(buyer).get('/sku-purchases'), 401, 'secret_key_required');
  });

  it('is listed by its status and by what is due', async () => {
    const [delivered, failed] = [await fixture.bought(references.quick), await fixture.bought(references.failing)];
    const ids = async (query: string) => (await list(query)).data.map(({ id }) => id);
    expect(await ids('?limit=100&status=SUCCESS')).toContain(delivered.id);
    expect(await ids('?limit=100&status=SUCCESS')).not.toContain(failed.id);
    expect(await ids('?limit=100&refundStatus=DUE')).toContain(failed.id);
    expect(await ids('?limit=100&refundStatus=DUE')).not.toContain(delivered.id);
    expectError(await fixture.app.get('/sku-purchases?status=LOST'), 400, 'invalid_request');
  });

  it('stands in the history beside the transfer that paid for it, and is what its hash means', async () => {
    const { id, transactionHash } = await fixture.buy(references.quick);
    const ofHash = async () => {
      const { data } = bodyOf(
        await fixture.app.get(`/transactions/transaction-list?walletAddress=${fixture.buyer.address}&limit=100`),
      ) as unknown as { data: Transaction[] };
      return data.filter((one) => one.transactionHash === transactionHash);
    };
    expect((await ofHash()).map(({ type }) => type).toSorted()).toEqual(['SEND', 'SKU_PURCHASE']);
    expect(bodyOf(await fixture.app.get(`/transactions/${transactionHash}`))).toMatchObject({ id });
    expect(bodyOf(await fixture.app.get(`/transactions/${id}`))).toMatchObject({ id, type: 'SKU_PURCHASE' });
    const done = await eventually(ofHash, (all) => all.every(({ status }) => status === 'SUCCESS'));
    expect(done.map(({ status }) => status)).toEqual(['SUCCESS', 'SUCCESS']);
  });

  it('leaves the transfer that paid for it to be recorded as one', async () => {
    const { id, transactionHash } = await fixture.buy(references.quick);
    const sent = bodyOf(
      await fixture.app.post('/transactions/record-send', {
        transactionHash,
        expectedSender: fixture.buyer.address,
        expectedRecipient: fixture.paymentAddress,
        expectedToken: 'USDC',
        expectedAmount: '2.702703',
        chain: 'STARKNET',
      }),
    );
    expect(sent).toMatchObject({ type: 'SEND', transactionHash });
    expect(sent.id).not.toBe(id);
  });

  it('is answered to the same Idempotency-Key as it was first', async () => {
    const body = fixture.body(await fixture.pay(), references.quick);
    const headers = { 'idempotency-key': 'one purchase' };
    const first = await fixture.app.post('/sku-purchases', body, headers);
    await fixture.ended(bodyOf(first).id);
    const again = await fixture.app.post('/sku-purchases', body, headers);
    expect([again.text, again.headers.get('idempotency-replayed')]).toEqual([first.text, 'true']);
  });
});
