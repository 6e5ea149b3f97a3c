import { ApiError } from '@svc/protocol';
import { chainIds, toHex } from '@svc/starknet';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ENCRYPT_KEY, PaymentWorld, sealedWallet, sku } from '../../testing/fake-payment-service.ts';
import { sandboxClient, type TestClock } from '../../testing/sandbox-client.ts';
import { type SandboxService, startSandboxService } from '../../testing/sandbox-service.ts';
import type { Client } from '../client/client.ts';
import type { SvcWallet } from '../client/input.ts';
import { type PurchaseSkuParams, purchaseSku } from './purchase-sku.ts';
import { type PurchaseState, SvcPurchaseError } from './state.ts';

const HOUR = 3_600n;
/** As an app keeps it: through JSON. */
const stored = (state: PurchaseState | undefined) => JSON.parse(JSON.stringify(state)) as PurchaseState;

let wallet: SvcWallet;
let world: PaymentWorld;
let service: SandboxService;
let client: Client;
let clock: TestClock;
let states: PurchaseState[];
let asked: PurchaseSkuParams;

beforeAll(async () => {
  wallet = await sealedWallet();
});
beforeEach(async () => {
  world = new PaymentWorld();
  service = await startSandboxService(
    world.handlers(() => service.origin),
    world.node,
  );
  clock = { nowMs: Number(world.nowSeconds) * 1_000 };
  client = sandboxClient(service, clock);
  states = [];
  asked = {
    encryptKey: ENCRYPT_KEY,
    wallet,
    skuId: 'luz',
    skuReference: '1234',
    currencyAmount: 100,
    onProgress: (state) => void states.push(stored(state)),
  };
});
afterEach(() => service.close());

const operations = () => service.arrived.map(({ operation }) => operation);
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
  purchaseSku(client, { ...asked, resume: stored(state) });

describe('purchaseSku', () => {
  it('pays the price, rounded up to the token, and answers the recorded purchase', async () => {
    const purchase = await purchaseSku(client, asked);
    expect(purchase).toMatchObject({
      type: 'SKU_PURCHASE',
      skuId: 'luz',
      skuReference: '1234',
      skuPurchaseAmount: 100,
    });
    // 100 / 18.5 = 5.405405405…
    expect(world.paid).toEqual([5_405_405n]);
    expect(states.map(({ transactionHash }) => transactionHash)).toEqual([undefined, purchase.transactionHash]);
  });

  it('hands over the signed payment before any money moves, and stops when it cannot be stored', async () => {
    const onProgress = () => Promise.reject(new Error('disk full'));
    await expect(purchaseSku(client, { ...asked, onProgress })).rejects.toThrow('disk full');
    expect(sentPayments()).toBe(0);
    expect(world.paid).toEqual([]);
  });

  it('stores neither the private key nor what opens it', async () => {
    await purchaseSku(client, asked);
    const text = JSON.stringify(states);
    expect(text).not.toContain(ENCRYPT_KEY.slice(5));
    expect(text).not.toContain('1234567890abcdef');
    expect(text).not.toContain(wallet.encryptedPrivateKey);
  });

  it('pays a fixed amount when none is given', async () => {
    world.sku = { ...sku, fixedAmount: 185 };
    await purchaseSku(client, { ...asked, currencyAmount: undefined });
    expect(world.paid).toEqual([10_000_000n]);
  });

  it('pays a fixed amount also where its pattern cannot be read', async () => {
    world.sku = { ...sku, fixedAmount: 185, amountRegexValidation: '(?P<a>x)' };
    await purchaseSku(client, { ...asked, currencyAmount: 185 });
    expect(world.paid).toEqual([10_000_000n]);
  });

  it('waits until the chain shows the payment', async () => {
    world.unseen = 3;
    expect(await purchaseSku(client, asked)).toMatchObject({ skuReference: '1234' });
    expect(world.paid).toHaveLength(1);
  });

  it('records the hash that counts when a raised fee has given the payment another', async () => {
    world.replacedBy.set('0xabc000', '0xfee');
    expect(await purchaseSku(client, asked)).toMatchObject({ transactionHash: '0xfee' });
    expect(states.at(-1)?.transactionHash).toBe('0xfee');
  });
});

describe('purchaseSku refuses before anything is signed', () => {
  it.each<[string, Partial<PurchaseSkuParams>, (one: PaymentWorld) => void]>([
    ['a reference that does not fit', { skuReference: '12x4' }, () => {}],
    ['a reference that is too long', { skuReference: '1'.repeat(129) }, () => {}],
    [
      'a reference that the provider does not know',
      {},
      (one) => Object.assign(one, { referenceValid: false, sku: { ...sku, canCheckSkuReference: true } }),
    ],
    [
      'a pattern that nobody can check',
      {},
      (one) => Object.assign(one, { sku: { ...sku, referenceRegexValidation: '(?P<a>x)' } }),
    ],
    ['an amount that does not fit', { currencyAmount: 12_345 }, () => {}],
    [
      'an amount whose pattern nobody can check',
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
    arrange(world);
    const error = purchaseSku(client, { ...asked, ...params });
    await expect(error).rejects.toMatchObject({ name: 'SvcInputError', code: 'invalid_input' });
    expect(operations()).not.toContain('prepareTypedData');
    expect(states).toEqual([]);
  });

  it.each([0, 1e-7, -1])('a quote of %d', async (usd) => {
    world.usd = usd;
    await expect(purchaseSku(client, asked)).rejects.toMatchObject({ code: 'invalid_answer' });
    expect(states).toEqual([]);
  });

  it('a quote in dollars for dollars that differs', async () => {
    world.sku = { ...sku, currency: 'USD' };
    world.usd = 100.01;
    await expect(purchaseSku(client, asked)).rejects.toMatchObject({ code: 'invalid_answer' });
  });
});

describe('purchaseSku, resumed', () => {
  it('pays once when the answer to the payment was lost', async () => {
    service.loseAnswer('executeSponsoredTransaction');
    const { code, state } = await failure(purchaseSku(client, asked));
    expect(code).toBe('payment_unclear');
    expect(state).toEqual(states.at(-1));
    expect(await resume(state)).toMatchObject({ skuReference: '1234' });
    expect(world.paid).toHaveLength(1);
  });

  it('pays when the crash came before the payment was sent', async () => {
    const crash = (state: PurchaseState) => {
      states.push(stored(state));
      throw new Error('crash');
    };
    await expect(purchaseSku(client, { ...asked, onProgress: crash })).rejects.toThrow('crash');
    expect(world.paid).toEqual([]);
    await resume();
    expect(world.paid).toHaveLength(1);
  });

  it('pays once when the crash came before the hash was stored', async () => {
    const crash = (state: PurchaseState) => {
      if (state.transactionHash !== undefined) throw new Error('crash');
      states.push(stored(state));
    };
    await expect(purchaseSku(client, { ...asked, onProgress: crash })).rejects.toThrow('crash');
    await resume();
    expect(world.paid).toHaveLength(1);
  });

  it('does not say that it is paid while nobody sees the payment', async () => {
    world.unseen = 1_000;
    const { code, message } = await failure(purchaseSku(client, asked));
    expect(code).toBe('purchase_not_recorded');
    expect(message).toContain('0xabc000');
    expect(message).not.toMatch(/\bpaid\b/);
  });

  it('records once when the answer to the recording was lost', async () => {
    service.loseAnswer('createSkuPurchase');
    const { code, state } = await failure(purchaseSku(client, asked));
    expect(code).toBe('purchase_not_recorded');
    const purchase = await resume(state);
    expect(world.paid).toHaveLength(1);
    expect([...world.purchases.values()]).toEqual([purchase]);
    expect(sentPayments()).toBe(1);
  });

  it('answers the same purchase however often it is resumed, from any state', async () => {
    const purchase = await purchaseSku(client, asked);
    for (const state of [...states, ...states]) expect(await resume(state)).toEqual(purchase);
    expect(world.paid).toHaveLength(1);
  });

  it('finds the payment by its idempotency key when its window is over', async () => {
    service.loseAnswer('executeSponsoredTransaction');
    const { state } = await failure(purchaseSku(client, asked));
    world.nowSeconds += 2n * HOUR;
    world.historyShown = false;
    await resume(state);
    expect(world.paid).toHaveLength(1);
  });

  it('finds the payment in the history when the service has forgotten the key, and takes no equal one for it', async () => {
    service.loseAnswer('executeSponsoredTransaction');
    const { state } = await failure(purchaseSku(client, asked));
    const other = await purchaseSku(client, { ...asked, skuReference: '9999' });
    service.forgetKeys();
    world.nowSeconds += 48n * HOUR;
    const purchase = await resume(state);
    expect(purchase.transactionHash).toBe('0xabc000');
    expect(other.transactionHash).toBe('0xabc001');
    expect(world.paid).toHaveLength(2);
  });

  it('does not pay again when the wallet has paid and nobody knows with which transaction', async () => {
    service.loseAnswer('executeSponsoredTransaction');
    const { state } = await failure(purchaseSku(client, asked));
    service.forgetKeys();
    world.nowSeconds += 48n * HOUR;
    world.historyShown = false;
    const { code, message } = await failure(resume(state));
    expect(code).toBe('payment_unclear');
    expect(message).toContain('5.405405 USDC');
    expect(world.paid).toHaveLength(1);
    // The way that the message names.
    expect(await resume({ ...state, transactionHash: '0xabc000' })).toMatchObject({ skuReference: '1234' });
  });

  it('pays anew, at the new price, only when the first payment can no longer be executed', async () => {
    world.refusal = new ApiError('fee_too_high');
    const { code, state } = await failure(purchaseSku(client, asked));
    expect(code).toBe('payment_refused');
    world.refusal = undefined;
    world.usd = 6;
    world.nowSeconds += HOUR;
    // Its window is over, but blocks of the last minutes may still change.
    expect((await failure(resume(state))).code).toBe('payment_refused');
    expect(world.paid).toEqual([]);
    world.nowSeconds += HOUR;
    await resume(state);
    expect(world.paid).toEqual([6_000_000n]);
    expect(states.at(-1)?.amount).toBe('6');
  });

  it('does not pay anew by the word of a node of another chain', async () => {
    world.refusal = new ApiError('fee_too_high');
    const { state } = await failure(purchaseSku(client, asked));
    world.nowSeconds += 2n * HOUR;
    Object.assign(world, { refusal: undefined, nodeChain: chainIds.SN_SEPOLIA });
    expect((await failure(resume(state))).code).toBe('payment_unclear');
    expect(world.paid).toEqual([]);
  });

  it('does not pay anew when the app could not store the new payment', async () => {
    world.refusal = new ApiError('fee_too_high');
    const { state } = await failure(purchaseSku(client, asked));
    world.refusal = undefined;
    world.nowSeconds += 2n * HOUR;
    const { code } = await failure(purchaseSku(client, { ...asked, resume: state, onProgress: undefined }));
    expect(code).toBe('payment_failed');
    expect(world.paid).toEqual([]);
  });

  it('tries the same payment again after a refusal whose reason is gone', async () => {
    world.refusal = new ApiError('transaction_reverted');
    const { code, state, cause, message } = await failure(purchaseSku(client, asked));
    expect(code).toBe('payment_refused');
    // What is signed could still be executed.
    expect(message).toMatch(/not paid so far.*Do not start anew/i);
    expect(cause).toMatchObject({ code: 'transaction_reverted' });
    world.refusal = undefined;
    await resume(state);
    expect(world.paid).toEqual([5_405_405n]);
  });

  it.each(['missing_credentials', 'rate_limited', 'internal_error', 'chain_unavailable'] as const)(
    'does not take %s for a refusal',
    async (code) => {
      world.refusal = new ApiError(code);
      expect((await failure(purchaseSku(client, asked))).code).toBe('payment_unclear');
    },
  );

  it('does not pay again after a revert while the signed payment could still be executed', async () => {
    world.next = 'reverted';
    const { code, state } = await failure(purchaseSku(client, asked));
    expect(code).toBe('payment_failed');
    expect((await failure(resume(state))).code).toBe('payment_failed');
    expect(sentPayments()).toBe(1);
    world.nowSeconds += 2n * HOUR;
    await resume(state);
    expect(world.paid).toHaveLength(1);
  });

  it('records the payment that somebody else executed after the first transaction was reverted', async () => {
    world.next = 'reverted';
    const { state } = await failure(purchaseSku(client, asked));
    world.executeElsewhere('0xe15e');
    expect(await resume(state)).toMatchObject({ transactionHash: '0xe15e' });
    expect(world.paid).toHaveLength(1);
  });

  it('says that it is paid when the service refuses the purchase', async () => {
    await purchaseSku(client, asked);
    const state = stored(states.at(-1));
    const otherReference = { ...state, purchase: { ...state.purchase, skuReference: '4321' } };
    const error = await failure(purchaseSku(client, { ...asked, skuReference: '4321', resume: otherReference }));
    expect(error.code).toBe('purchase_refused');
    expect(error.message).toContain('were paid with 0xabc000');
    expect(error.state.transactionHash).toBe('0xabc000');
  });

  it('stays unclear when no node answers', async () => {
    world.refusal = new ApiError('typed_data_expired');
    const { state } = await failure(purchaseSku(client, asked));
    Object.assign(world, { node: undefined });
    const deaf = sandboxClient(service, clock);
    const fetch: Client['fetch'] = (url, init) =>
      url.endsWith('/rpc') ? Promise.reject(new Error('down')) : client.fetch(url, init);
    const error = await failure(purchaseSku({ ...deaf, fetch }, { ...asked, resume: state }));
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
    await purchaseSku(client, asked);
    const sent = service.arrived.length;
    await expect(resume(change(stored(states[0])))).rejects.toMatchObject({ code: 'invalid_input' });
    expect(service.arrived).toHaveLength(sent);
  });
});
