import type { ErrorCode } from '@svc/protocol';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { App, hashOf, Owner, transferOf } from '../support/app.ts';
import { expectError } from '../support/assertions.ts';
import { PRICE_RAW, PurchaseFixture, references } from '../support/purchases.ts';
import { type AnyService, TestService } from '../support/service.ts';
import { STRK, USDC } from '../support/starknet-client.ts';

/** 99 % of 2.702703, to the next unit. */
const LEAST_RAW = 2_675_676n;

let service: AnyService;
let fixture: PurchaseFixture;
/** Of another wallet of the same organisation. */
let other: Owner;
beforeAll(async () => {
  service = await TestService.hosted();
  fixture = await PurchaseFixture.start(service);
  other = new Owner();
  await fixture.app.createWallet(other, 'another');
  await fixture.sandbox.faucet(other.address, 'USDC', '100');
  await fixture.sandbox.faucet(fixture.buyer.address, 'STRK', '100');
  await fixture.sandbox.faucet(fixture.buyer.address, 'USDT', '100');
});
afterAll(() => service.stop());

const record = (transactionHash: string, changes: object = {}, app: App = fixture.app) =>
  app.post('/sku-purchases', { ...fixture.body(transactionHash, references.quick), ...changes });
const sent = async (owner: Owner, token: string, to: string, amount = PRICE_RAW) =>
  hashOf(await fixture.app.execute(owner, [transferOf(token, to, amount)]));

async function refused(hash: string, code: ErrorCode, changes: object = {}, app?: App): Promise<string> {
  const reply = await record(hash, changes, app);
  expectError(reply, code === 'wallet_not_found' ? 404 : 400, code);
  return (reply.body as { message: string }).message;
}

/** After a refusal the same payment is recorded with a valid body. */
async function recorded(hash: string, changes: object = {}): Promise<void> {
  expect(await record(hash, changes)).toMatchObject({ status: 200, body: { type: 'SKU_PURCHASE' } });
}

describe('a payment for a purchase', () => {
  it('is too small by a unit, and enough with one percent less than the price', async () => {
    const hash = await fixture.pay(LEAST_RAW - 1n);
    expect(await refused(hash, 'payment_too_small')).toBe(
      'The payment is 2.675675 USDC, and 2.675676 are needed: ' +
        '99 % of 2.702703 USD, the lowest price of the last 10 minutes.',
    );
    await recorded(await fixture.pay(LEAST_RAW));
  });

  it('is too small at a rate that is not among those of the last minutes', async () => {
    const { credentials } = await service.anotherHosted({ DEV_MXN_PER_USD: '20' });
    const elsewhere = Object.assign(new App(service.server, fixture.app.headers), { baseUrl: credentials.baseUrl });
    const hash = await fixture.pay(2_500_000n);
    await refused(hash, 'payment_too_small');
    expect((await record(hash, {}, elsewhere)).status).toBe(200);
  });

  it('is a sum, when the wallet sent several in one transaction', async () => {
    const half = transferOf(USDC, fixture.paymentAddress, PRICE_RAW / 2n);
    const hash = hashOf(await fixture.app.execute(fixture.buyer, [half, transferOf(USDC, '0xb0b', 1n), half]));
    expect(await record(hash)).toMatchObject({ status: 200, body: { amount: '2702702' } });
  });

  it('is not one of another token', async () => {
    const { tokens } = (await fixture.app.get('/config')).body as { tokens: { token: string; address: string }[] };
    const usdt = tokens.find(({ token }) => token === 'USDT')?.address ?? '';
    const hash = await sent(fixture.buyer, usdt, fixture.paymentAddress);
    expect(await refused(hash, 'transaction_mismatch')).toContain('token does not match: the transaction moves USDT');
    await recorded(hash, { token: 'USDT' });
    const coins = await sent(fixture.buyer, STRK, fixture.paymentAddress);
    await refused(coins, 'transaction_mismatch');
    await refused(coins, 'token_not_supported', { token: 'STRK' });
  });

  it('is not one to another recipient', async () => {
    const hash = await sent(fixture.buyer, USDC, other.address);
    expect(await refused(hash, 'transaction_mismatch')).toContain(
      'The payment address does not match: the USDC went to',
    );
  });

  it('is not one that was reverted', async () => {
    await fixture.sandbox.orderFault({ kind: 'revert', reason: 'out of luck' });
    const hash = await fixture.pay();
    expect(await refused(hash, 'transaction_reverted')).toContain('out of luck');
  });

  it('is not one from another wallet', async () => {
    const hash = await sent(other, USDC, fixture.paymentAddress);
    expect(await refused(hash, 'transaction_mismatch')).toContain('walletAddress does not match: the USDC came from');
    await refused(hash, 'wallet_not_found', { walletAddress: '0xb0b' });
    await recorded(hash, { walletAddress: other.address });
  });

  it('is neither unknown nor on another chain', async () => {
    await refused('0x1234', 'transaction_not_found');
    await refused('0x1234', 'unsupported_chain', { chain: 'BASE' });
    await refused('1234', 'invalid_request');
  });

  it('is for a service as it is offered', async () => {
    const hash = await fixture.pay();
    await refused(hash, 'invalid_reference', { skuReference: 'nonsense' });
    await refused(hash, 'invalid_amount', { currencyAmount: 0.5 });
    await refused(hash, 'invalid_amount', { currencyAmount: 50.001 });
    expectError(await record(hash, { skuId: 'nothing' }), 404, 'sku_not_found');
    await recorded(hash);
  });
});
