import type { Transaction } from '@svc/protocol';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findBrokenInvariants } from '../../packages/server/testing/ledger.ts';
import { bodyOf, field, hashOf, transferOf } from '../support/app.ts';
import { expectError } from '../support/assertions.ts';
import { auditRelays, settled } from '../support/audit.ts';
import { send } from '../support/client.ts';
import { eventually } from '../support/eventually.ts';
import { claimAt, newWallet } from '../support/gifts.ts';
import { USDC } from '../support/starknet-client.ts';
import { blockModes } from './support/devnet.ts';
import { type Outside, startOutside } from './support/fulfilment.ts';
import { LiveService } from './support/live-service.ts';

/** 50 pesos at 20 pesos for a dollar. */
const PRICE = 2_500_000n;
const SKU = { skuId: 'totalplay-recibo', currencyAmount: 50, chain: 'STARKNET', token: 'USDC' };

describe.each(blockModes)('with %s', (_, blocks) => {
  let outside: Outside;
  let live: LiveService;
  beforeAll(async () => {
    outside = await startOutside();
    live = await LiveService.start(blocks, outside.env);
  });
  afterAll(async () => {
    await live?.stop();
    outside?.close();
  });

  const redeem = (code: string, walletAddress: string) =>
    claimAt(live.service.server, { code, chain: 'starknet', walletAddress });
  const redeemed = async (code: string, walletAddress: string) => {
    const { giftRedeem } = bodyOf<{ giftRedeem: { id: string } }>(await redeem(code, walletAddress), 201);
    const url = `${live.app.baseUrl}/gifts/claim/${code}/status/${giftRedeem.id}`;
    return eventually(
      async () => bodyOf<{ status: string }>(await send(url), 200),
      ({ status }) => status === 'SUCCESS' || status === 'FAILED',
    );
  };

  describe('a gift', () => {
    it('is paid once to a wallet, and not a second time', async () => {
      const [{ code }, wallet] = [await live.app.gift({ amount: 1.5 }), newWallet('starknet')];
      expect(await redeemed(code, wallet)).toMatchObject({ status: 'SUCCESS' });
      expect(await live.app.balance(wallet, 'USDC')).toBe(1_500_000n);
      expect((await redeem(code, newWallet('starknet'))).status).toBeGreaterThanOrEqual(400);
    });

    it('that 20 people redeem at once is paid to each of them once', async () => {
      const { code } = await live.app.gift({ amount: 1.25, maxRedeems: 20 });
      const wallets = Array.from({ length: 20 }, () => newWallet('starknet'));
      const ends = await Promise.all(wallets.map((wallet) => redeemed(code, wallet)));
      expect(ends.map(({ status }) => status)).toEqual(wallets.map(() => 'SUCCESS'));
      const paid = await Promise.all(wallets.map((wallet) => live.app.balance(wallet, 'USDC')));
      expect(paid).toEqual(wallets.map(() => 1_250_000n));
    });
  });

  describe('a deposit', () => {
    it('is credited by itself, reported once, and sent on to the manager', async () => {
      const address = field<string>(await live.app.get('/organization'), 'depositAddress');
      const total = async () => field<{ totalUsd: number }>(await live.app.get('/organization'), 'balance').totalUsd;
      const manager = live.devnet.account('manager').address;
      const [before, held] = [await total(), await live.app.balance(manager, 'USDC')];
      const transactionHash = await live.devnet.faucet(address, 'USDC', '12.5');
      await eventually(total, (now) => now >= before + 12.5);
      const report = () => live.app.post('/organization/deposits', { transactionHash, chain: 'STARKNET' });
      const replies = [await report(), await report()];
      expect(new Set(replies.map(({ text }) => text)).size).toBe(1);
      expect(replies[0]?.body).toMatchObject({ type: 'DEPOSIT', amountUsd: 12.5 });
      await eventually(
        () => live.app.balance(address, 'USDC'),
        (left) => left === 0n,
      );
      expect((await live.app.balance(manager, 'USDC')) - held).toBe(12_500_000n);
      expect(await total()).toBe(before + 12.5);
    });
  });

  describe('a purchase', () => {
    const buy = async (skuReference: string, amount = PRICE) => {
      const buyer = await live.wallet({ usdc: '5' });
      const paymentAddress = field<string>(await live.app.get('/config'), 'paymentAddress');
      const transactionHash = hashOf(await live.app.execute(buyer, [transferOf(USDC, paymentAddress, amount)]));
      const order = { ...SKU, skuReference, transactionHash, walletAddress: buyer.address };
      return { buyer, order, reply: await live.app.post('/sku-purchases', order) };
    };
    const until = (id: string, fits: (purchase: Transaction) => boolean) =>
      eventually(async () => bodyOf<Transaction>(await live.app.get(`/sku-purchases/${id}`), 200), fits);

    it('is delivered for its payment, and a payment buys once', async () => {
      const { order, reply } = await buy('5512345678');
      const { id } = bodyOf<Transaction>(reply, 200);
      const ended = await until(id, ({ status }) => status === 'SUCCESS' || status === 'FAILED');
      expect(ended).toMatchObject({ status: 'SUCCESS', skuFileNumber: `F-${id.slice(-8)}` });
      const again = await live.app.post('/sku-purchases', { ...order, skuReference: '5512345670' });
      expect(again.status).toBeGreaterThanOrEqual(400);
      expect(outside.orders.filter((orderId) => orderId === id)).toHaveLength(1);
    });

    it('that fails is refunded once', async () => {
      const { buyer, reply } = await buy('5512340000');
      const { id } = bodyOf<Transaction>(reply, 200);
      await until(id, ({ status }) => status === 'FAILED');
      expect(await live.app.balance(buyer.address, 'USDC')).toBe(2_500_000n);
      const asked = await Promise.all([1, 2, 3].map(() => live.app.post(`/sku-purchases/${id}/refund`, {})));
      for (const { status } of asked) expect(status).toBe(200);
      await until(id, ({ refundStatus }) => refundStatus === 'REFUNDED');
      expect(await live.app.balance(buyer.address, 'USDC')).toBe(5_000_000n);
    });

    it('whose payment is too small is refused', async () => {
      expectError((await buy('5512345678', PRICE / 2n)).reply, 400, 'payment_too_small');
    });
  });

  it('in the end every relay is stored as the chain shows it, and the ledger is whole', async () => {
    await settled(live.service.db);
    await auditRelays(live.service.db, live.devnet);
    expect(await findBrokenInvariants(live.service.db)).toEqual([]);
  });
});
