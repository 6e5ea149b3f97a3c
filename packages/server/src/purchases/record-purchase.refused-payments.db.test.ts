import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PRICE_RAW, type PurchaseBody, PurchaseFixture, ratesOf } from '../../testing/purchases.ts';
import { STRK, stranger, transferOf } from '../../testing/transactions.ts';
import { refusal } from '../../testing/wallets.ts';

let fixture: PurchaseFixture;
beforeAll(async () => {
  fixture = await PurchaseFixture.start();
});
afterAll(() => fixture.stop());

const NOTHING = { uses: [], purchases: [], jobs: [] };

describe('what is no payment for the purchase is refused and stores nothing', () => {
  const refused = async (
    hash: string,
    code: Parameters<typeof refusal>[1],
    changes: Partial<PurchaseBody> = {},
    options: Parameters<PurchaseFixture['record']>[1] = {},
  ) => {
    const message = await refusal(fixture.record(fixture.body(hash, changes), options), code);
    expect(await fixture.traces(hash)).toEqual(NOTHING);
    return message;
  };

  it('one that is too small by a unit, and one of 99 % is not', async () => {
    const message = await refused(await fixture.pay(9_899_999n), 'payment_too_small');
    expect(message).toContain('9.899999 USDC, and 9.9 are needed');
    expect(await fixture.record(fixture.body(await fixture.pay(9_900_000n)))).toMatchObject({ status: 'PENDING' });
  });

  it('one at a rate that is no longer among those of the last minutes', async () => {
    const hash = await fixture.pay(9_000_000n);
    const quoted = { deps: { exchange: ratesOf('18.5', '20.4') } };
    await refused(hash, 'payment_too_small', {}, { deps: { exchange: ratesOf('18.5') } });
    expect(await fixture.record(fixture.body(hash), quoted)).toMatchObject({ amount: '9000000' });
  });

  it('one in another token than it says', async () => {
    const message = await refused(await fixture.pay(PRICE_RAW, 'USDT'), 'transaction_mismatch');
    expect(message).toMatch(/^token does not match: the transaction moves USDT.*, not USDC\.$/);
  });

  it('one in a token that is no dollar', async () => {
    const hash = await fixture.execute(fixture.ana, [transferOf(fixture.payments, PRICE_RAW, STRK)]);
    const message = await refused(hash, 'token_not_supported', { token: 'STRK' });
    expect(message).toBe('Purchases are paid in USDC, USDC_E, USDT, DAI, not in STRK.');
    await refused(hash, 'token_not_supported', { token: 'OTHER' });
  });

  it('one to another address', async () => {
    const to = stranger();
    const hash = await fixture.execute(fixture.ana, [transferOf(to, PRICE_RAW)]);
    const message = await refused(hash, 'transaction_mismatch');
    expect(message).toBe(`The payment address does not match: the USDC went to ${to}.`);
  });

  it('one from another wallet of the same organisation', async () => {
    const luis = await fixture.funded('luis');
    const hash = await fixture.execute(luis, [transferOf(fixture.payments, PRICE_RAW)]);
    expect(await refused(hash, 'transaction_mismatch')).toContain('walletAddress does not match: the USDC came from');
  });

  it('one that was reverted', async () => {
    await fixture.sandbox.post('/starknet/faults', { kind: 'revert', reason: 'out of luck' });
    const hash = await fixture.pay();
    expect(await refused(hash, 'transaction_reverted')).toContain('out of luck');
  });

  it('one that no node knows', async () => {
    await refused('0x1234', 'transaction_not_found');
  });

  it('one from a wallet of another organisation, which is like none', async () => {
    const caller = fixture.caller(undefined, await fixture.newOrganization());
    const message = await refused(await fixture.pay(), 'wallet_not_found', {}, { caller });
    expect(message).toContain('No wallet of yours');
  });

  it('one from a wallet of another user', async () => {
    const hash = await fixture.pay();
    await refused(hash, 'wallet_not_found', {}, { caller: fixture.caller('luis') });
    const mine = await fixture.record(fixture.body(hash), { caller: fixture.caller('ana') });
    expect(mine).toMatchObject({ status: 'PENDING' });
    await refusal(fixture.record(fixture.body(hash), { caller: fixture.caller('luis') }), 'wallet_not_found');
  });

  it('one on another chain', async () => {
    await refused(await fixture.pay(), 'unsupported_chain', { chain: 'BASE' });
  });

  it('one for what the service does not offer, or not so', async () => {
    const hash = await fixture.pay();
    await refused(hash, 'sku_not_found', { skuId: 'nothing' });
    await refused(hash, 'invalid_reference', { skuReference: 'nonsense' });
    await refused(hash, 'invalid_amount', { currencyAmount: 99 });
    await refused(hash, 'invalid_amount', { currencyAmount: 185.005 });
    await refused(hash, 'invalid_amount', { skuId: 'pase-recarga-200', currencyAmount: 185 });
    await refused(hash, 'invalid_request', { transactionHash: 'nonsense' });
    await refused(hash, 'invalid_request', { walletAddress: '0xzz' });
  });

  it('one where no provider is configured', async () => {
    await refused(await fixture.pay(), 'provider_not_configured', {}, { deps: { providers: () => undefined } });
  });

  it('one while no rate can be had', async () => {
    await refused(await fixture.pay(), 'rate_unavailable', {}, { deps: { exchange: ratesOf() } });
  });
});
