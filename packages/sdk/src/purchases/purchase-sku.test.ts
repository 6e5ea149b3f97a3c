import { ApiError } from '@svc/protocol';
import { chainIds, toHex } from '@svc/starknet';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { sandboxClient, type TestClock } from '../../testing/fake-client.ts';
import { ENCRYPT_KEY, FakePaymentService, sealedWallet, sku } from '../../testing/fake-payment-service.ts';
import { type SandboxService, startSandboxService } from '../../testing/sandbox-service.ts';
import type { Client } from '../client/client.ts';
import type { SvcWallet } from '../client/values.ts';
import { type PurchaseSkuParams, purchaseSku } from './purchase-sku.ts';
import { type PurchaseState, SvcPurchaseError } from './state.ts';

const HOUR = 3_600n;
/** As an app stores it: through JSON. */
const stored = (state: PurchaseState | undefined) => JSON.parse(JSON.stringify(state)) as PurchaseState;

let wallet: SvcWallet;
let payments: FakePaymentService;
let service: SandboxService;
let client: Client;
let clock: TestClock;
let states: PurchaseState[];
let order: PurchaseSkuParams;

beforeAll(async () => {
  wallet = await sealedWallet();
});
beforeEach(async () => {
  payments = new FakePaymentService();
  service = await startSandboxService(
    payments.handlers(() => service.origin),
    payments.node,
  );
  clock = { nowMs: Number(payments.nowSeconds) * 1_000 };
  client = sandboxClient(service, clock);
  states = [];
  order = {
    encryptKey: ENCRYPT_KEY,
    wallet,
    skuId: 'luz',
    skuReference: '1234',
    currencyAmount: 100,
    onProgress: (state) => void states.push(stored(state)),
  };
});
afterEach(() => service.close());

const operations = () => service.received.map(({ operation }) => operation);
const sentPayments = () => operations().filter((one) => one === 'executeSponsoredTransaction').length;
const failure = async (run: Promise<unknown>): Promise<SvcPurchaseError> => {
  const error = await run.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(SvcPurchaseError);
  return error as SvcPurchaseError;
};
const resume = (state: PurchaseState | undefined = states.at(-1)) =>
  purchaseSku(client, { ...order, resume: stored(state) });

describe('purchaseSku', () => {
  it('pays the price, rounded up to the token, and returns the recorded purchase', async () => {
    const purchase = await purchaseSku(client, order);
    expect(purchase).toMatchObject({
      type: 'SKU_PURCHASE',
      skuId: 'luz',
      skuReference: '1234',
      skuPurchaseAmount: 100,
    });
    // 100 / 18.5 = 5.405405405…
    expect(payments.paid).toEqual([5_405_405n]);
    expect(states.map(({ transactionHash }) => transactionHash)).toEqual([undefined, purchase.transactionHash]);
  });

  it('reports the signed payment before any money moves, and stops if it cannot be stored', async () => {
    const onProgress = () => Promise.reject(new Error('disk full'));
    await expect(purchaseSku(client, { ...order, onProgress })).rejects.toThrow('disk full');
    expect(sentPayments()).toBe(0);
    expect(payments.paid).toEqual([]);
  });

  it('stores neither the private key nor the encryptKey', async () => {
    await purchaseSku(client, order);
    const text = JSON.stringify(states);
    expect(text).not.toContain(ENCRYPT_KEY.slice(5));
    expect(text).not.toContain('1234567890abcdef');
    expect(text).not.toContain(wallet.encryptedPrivateKey);
  });

  it('pays a fixed amount when none is given', async () => {
    payments.sku = { ...sku, fixedAmount: 185 };
    await purchaseSku(client, { ...order, currencyAmount: undefined });
    expect(payments.paid).toEqual([10_000_000n]);
  });

  it('pays a fixed amount even if its pattern cannot be parsed', async () => {
    payments.sku = { ...sku, fixedAmount: 185, amountRegexValidation: '(?P<a>x)' };
    await purchaseSku(client, { ...order, currencyAmount: 185 });
    expect(payments.paid).toEqual([10_000_000n]);
  });

  it('waits until the payment is visible on the chain', async () => {
    payments.unseen = 3;
    expect(await purchaseSku(client, order)).toMatchObject({ skuReference: '1234' });
    expect(payments.paid).toHaveLength(1);
  });

  it('records the current hash after a fee bump', async () => {
    payments.replacedBy.set('0xabc000', '0xfee');
    expect(await purchaseSku(client, order)).toMatchObject({ transactionHash: '0xfee' });
    expect(states.at(-1)?.transactionHash).toBe('0xfee');
  });
});

describe('purchaseSku refuses before anything is signed', () => {
  it.each<[string, Partial<PurchaseSkuParams>, (one: FakePaymentService) => void]>([
    ['a reference that does not fit', { skuReference: '12x4' }, () => {}],
    ['a reference that is too long', { skuReference: '1'.repeat(129) }, () => {}],
    [
      'a reference that the provider does not know',
      {},
      (one) => Object.assign(one, { referenceValid: false, sku: { ...sku, canCheckSkuReference: true } }),
    ],
    [
      'a pattern that cannot be checked',
      {},
      (one) => Object.assign(one, { sku: { ...sku, referenceRegexValidation: '(?P<a>x)' } }),
    ],
    ['an amount that does not fit', { currencyAmount: 12_345 }, () => {}],
    [
      'an amount whose pattern cannot be checked',
      {},
      (one) => Object.assign(one, { sku: { ...sku, amountRegexValidation: '(?P<a>x)' } }),
    ],
    [
      'another amount than the fixed one',
      { currencyAmount: 99 },
      (one) => Object.assign(one, { sku: { ...sku, fixedAmount: 100 } }),
    ],
    ['no amount where none is fixed', { currencyAmount: undefined }, () => {}],
    ['an amount of zero', { currencyAmount: 0 }, () => {}],
    ['an amount finer than money', { currencyAmount: 100.001 }, () => {}],
    ['an amount that is no number', { currencyAmount: Number.NaN }, () => {}],
    ['another chain', { chain: 'BASE' }, () => {}],
    ['a token that is no dollar', { token: 'ETH' }, () => {}],
    ['a token that the network lacks', { token: 'USDT' }, () => {}],
    ['a price above the limit', { maxUsdAmount: '5.40' }, () => {}],
    ['a wallet with too little', {}, (one) => Object.assign(one, { balance: 5_405_404n })],
  ])('%s', async (_, params, arrange) => {
    arrange(payments);
    const error = purchaseSku(client, { ...order, ...params });
    await expect(error).rejects.toMatchObject({ name: 'SvcInputError', code: 'invalid_input' });
    expect(operations()).not.toContain('prepareTypedData');
    expect(states).toEqual([]);
  });

  it.each([0, 1e-7, -1])('a quote of %d', async (usd) => {
    payments.usd = usd;
    await expect(purchaseSku(client, order)).rejects.toMatchObject({ code: 'invalid_answer' });
    expect(states).toEqual([]);
  });

  it('a quote in dollars for dollars that differs', async () => {
    payments.sku = { ...sku, currency: 'USD' };
    payments.usd = 100.01;
    await expect(purchaseSku(client, order)).rejects.toMatchObject({ code: 'invalid_answer' });
  });
});

describe('purchaseSku, resumed', () => {
  it('pays once if the answer to the payment was lost', async () => {
    service.loseAnswer('executeSponsoredTransaction');
    const { code, state } = await failure(purchaseSku(client, order));
    expect(code).toBe('payment_unclear');
    expect(state).toEqual(states.at(-1));
    expect(await resume(state)).toMatchObject({ skuReference: '1234' });
    expect(payments.paid).toHaveLength(1);
  });

  it('pays after a crash before the payment was sent', async () => {
    const crash = (state: PurchaseState) => {
      states.push(stored(state));
      throw new Error('crash');
    };
    await expect(purchaseSku(client, { ...order, onProgress: crash })).rejects.toThrow('crash');
    expect(payments.paid).toEqual([]);
    await resume();
    expect(payments.paid).toHaveLength(1);
  });

  it('pays once after a crash before the hash was stored', async () => {
    const crash = (state: PurchaseState) => {
      if (state.transactionHash !== undefined) throw new Error('crash');
      states.push(stored(state));
    };
    await expect(purchaseSku(client, { ...order, onProgress: crash })).rejects.toThrow('crash');
    await resume();
    expect(payments.paid).toHaveLength(1);
  });

  it('does not report a payment that is not visible on the chain', async () => {
    payments.unseen = 1_000;
    const { code, message } = await failure(purchaseSku(client, order));
    expect(code).toBe('purchase_not_recorded');
    expect(message).toContain('0xabc000');
    expect(message).not.toMatch(/\bpaid\b/);
  });

  it('records once if the answer to the recording was lost', async () => {
    service.loseAnswer('createSkuPurchase');
    const { code, state } = await failure(purchaseSku(client, order));
    expect(code).toBe('purchase_not_recorded');
    const purchase = await resume(state);
    expect(payments.paid).toHaveLength(1);
    expect([...payments.purchases.values()]).toEqual([purchase]);
    expect(sentPayments()).toBe(1);
  });

  it('returns the same purchase from every state, however often it is resumed', async () => {
    const purchase = await purchaseSku(client, order);
    for (const state of [...states, ...states]) expect(await resume(state)).toEqual(purchase);
    expect(payments.paid).toHaveLength(1);
  });

  it('finds the payment by its idempotency key after its window has closed', async () => {
    service.loseAnswer('executeSponsoredTransaction');
    const { state } = await failure(purchaseSku(client, order));
    payments.nowSeconds += 2n * HOUR;
    payments.historyVisible = false;
    await resume(state);
    expect(payments.paid).toHaveLength(1);
  });

  it('finds the payment in the history after the key has expired, and not an equal payment', async () => {
    service.loseAnswer('executeSponsoredTransaction');
    const { state } = await failure(purchaseSku(client, order));
    const other = await purchaseSku(client, { ...order, skuReference: '9999' });
    service.deleteKeys();
    payments.nowSeconds += 48n * HOUR;
    const purchase = await resume(state);
    expect(purchase.transactionHash).toBe('0xabc000');
    expect(other.transactionHash).toBe('0xabc001');
    expect(payments.paid).toHaveLength(2);
  });

  it('does not pay again if the wallet has paid but its transaction is not found', async () => {
    service.loseAnswer('executeSponsoredTransaction');
    const { state } = await failure(purchaseSku(client, order));
    service.deleteKeys();
    payments.nowSeconds += 48n * HOUR;
    payments.historyVisible = false;
    const { code, message } = await failure(resume(state));
    expect(code).toBe('payment_unclear');
    expect(message).toContain('5.405405 USDC');
    expect(payments.paid).toHaveLength(1);
    // As the message advises.
    expect(await resume({ ...state, transactionHash: '0xabc000' })).toMatchObject({ skuReference: '1234' });
  });

  it('pays again, at the new price, only once the first payment cannot be executed any more', async () => {
    payments.refusal = new ApiError('fee_too_high');
    const { code, state } = await failure(purchaseSku(client, order));
    expect(code).toBe('payment_refused');
    payments.refusal = undefined;
    payments.usd = 6;
    payments.nowSeconds += HOUR;
    // The window is closed, but the last blocks may still be reorganised.
    expect((await failure(resume(state))).code).toBe('payment_refused');
    expect(payments.paid).toEqual([]);
    payments.nowSeconds += HOUR;
    await resume(state);
    expect(payments.paid).toEqual([6_000_000n]);
    expect(states.at(-1)?.amount).toBe('6');
  });

  it('does not pay again on the answer of a node of another chain', async () => {
    payments.refusal = new ApiError('fee_too_high');
    const { state } = await failure(purchaseSku(client, order));
    payments.nowSeconds += 2n * HOUR;
    Object.assign(payments, { refusal: undefined, nodeChain: chainIds.SN_SEPOLIA });
    expect((await failure(resume(state))).code).toBe('payment_unclear');
    expect(payments.paid).toEqual([]);
  });

  it('does not pay again if the app cannot store the new payment', async () => {
    payments.refusal = new ApiError('fee_too_high');
    const { state } = await failure(purchaseSku(client, order));
    payments.refusal = undefined;
    payments.nowSeconds += 2n * HOUR;
    const { code } = await failure(purchaseSku(client, { ...order, resume: state, onProgress: undefined }));
    expect(code).toBe('payment_failed');
    expect(payments.paid).toEqual([]);
  });

  it('retries the same payment after a refusal whose cause is gone', async () => {
    payments.refusal = new ApiError('transaction_reverted');
    const { code, state, cause, message } = await failure(purchaseSku(client, order));
    expect(code).toBe('payment_refused');
    // The signed payment could still be executed.
    expect(message).toMatch(/not paid so far.*Do not start anew/i);
    expect(cause).toMatchObject({ code: 'transaction_reverted' });
    payments.refusal = undefined;
    await resume(state);
    expect(payments.paid).toEqual([5_405_405n]);
  });

  it.each(['missing_credentials', 'rate_limited', 'internal_error', 'chain_unavailable'] as const)(
    'does not take %s for a refusal',
    async (code) => {
      payments.refusal = new ApiError(code);
      expect((await failure(purchaseSku(client, order))).code).toBe('payment_unclear');
    },
  );

  it('does not pay again after a revert while the signed payment could still be executed', async () => {
    payments.next = 'reverted';
    const { code, state } = await failure(purchaseSku(client, order));
    expect(code).toBe('payment_failed');
    expect((await failure(resume(state))).code).toBe('payment_failed');
    expect(sentPayments()).toBe(1);
    payments.nowSeconds += 2n * HOUR;
    await resume(state);
    expect(payments.paid).toHaveLength(1);
  });

  it('records the payment that a third party executed after the first transaction reverted', async () => {
    payments.next = 'reverted';
    const { state } = await failure(purchaseSku(client, order));
    payments.executeElsewhere('0xe15e');
    expect(await resume(state)).toMatchObject({ transactionHash: '0xe15e' });
    expect(payments.paid).toHaveLength(1);
  });

  it('reports the payment if the service refuses the purchase', async () => {
    await purchaseSku(client, order);
    const state = stored(states.at(-1));
    const otherReference = { ...state, purchase: { ...state.purchase, skuReference: '4321' } };
    const error = await failure(purchaseSku(client, { ...order, skuReference: '4321', resume: otherReference }));
    expect(error.code).toBe('purchase_refused');
    expect(error.message).toContain('were paid with 0xabc000');
    expect(error.state.transactionHash).toBe('0xabc000');
  });

  it('stays unclear while no node answers', async () => {
    payments.refusal = new ApiError('typed_data_expired');
    const { state } = await failure(purchaseSku(client, order));
    Object.assign(payments, { node: undefined });
    const deaf = sandboxClient(service, clock);
    const fetch: Client['fetch'] = (url, init) =>
      url.endsWith('/rpc') ? Promise.reject(new Error('down')) : client.fetch(url, init);
    const error = await failure(purchaseSku({ ...deaf, fetch }, { ...order, resume: state }));
    expect(error.code).toBe('payment_unclear');
    expect(sentPayments()).toBe(3);
  });

  it.each<[string, (state: PurchaseState) => PurchaseState]>([
    ['another service', (state) => ({ ...state, purchase: { ...state.purchase, skuId: 'gas' } })],
    ['another reference', (state) => ({ ...state, purchase: { ...state.purchase, skuReference: '0000' } })],
    ['another amount', (state) => ({ ...state, purchase: { ...state.purchase, currencyAmount: 1 } })],
    ['another wallet', (state) => ({ ...state, purchase: { ...state.purchase, walletAddress: toHex(5n) } })],
    ['another version', (state) => ({ ...state, version: 2 as 1 })],
    ['damaged typed data', (state) => ({ ...state, payment: { ...state.payment, typedData: {} } })],
    ['a hash that is none', (state) => ({ ...state, transactionHash: 'none' })],
    ['nothing in it', () => ({}) as PurchaseState],
  ])('refuses a state with %s', async (_, change) => {
    await purchaseSku(client, order);
    const sent = service.received.length;
    await expect(resume(change(stored(states[0])))).rejects.toMatchObject({ code: 'invalid_input' });
    expect(service.received).toHaveLength(sent);
  });
});
