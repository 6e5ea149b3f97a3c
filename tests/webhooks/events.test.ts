import { verifyWebhook, type WebhookEvent } from '@svc/sdk';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startReceiver } from '../../packages/server/testing/webhooks.ts';
import { field, hashOf, transferOf } from '../support/app.ts';
import { eventually } from '../support/eventually.ts';
import { claimAt, newWallet } from '../support/gifts.ts';
import { type AnyService, TestService } from '../support/service.ts';
import { USDC } from '../support/starknet-client.ts';

let service: AnyService;
beforeAll(async () => {
  service = await TestService.shared();
});
afterAll(() => service.stop());

type Receiver = Awaited<ReturnType<typeof startReceiver>>;

const eventsOf = ({ received }: Receiver, secret: string): Promise<WebhookEvent[]> =>
  Promise.all(received.map(({ body, headers }) => verifyWebhook(body, headers, secret)));

it('a webhook hears once of each wallet, transfer and deposit, and of a gift only where it names gift events', async () => {
  const { app, sandbox } = service;
  const [all, gifts] = [await startReceiver(), await startReceiver()];
  const { secret } = await service.webhook(all.url);
  const named = await service.webhook(gifts.url, { eventTypes: ['gift.redeemed', 'gift.redeem-failed'] });
  const [sender, recipient] = [await service.wallet({ usdc: '9' }), await service.wallet({ usdc: '1' })];
  const hash = hashOf(await app.execute(sender, [transferOf(USDC, recipient.address, 2_500_000n)]));
  const depositAddress = field<string>(await app.get('/organization'), 'depositAddress');
  const deposited = await sandbox.faucet(depositAddress, 'USDC', '12.5');
  const gift = await service.gift();
  const redeem = await claimAt(service.server, {
    code: gift.code,
    chain: 'starknet',
    walletAddress: newWallet('starknet'),
  });
  expect(redeem.status).toBe(201);

  await gifts.until(1);
  expect(await eventsOf(gifts, named.secret)).toMatchObject([
    { type: 'gift.redeemed', data: { giftId: gift.id, status: 'SUCCESS', amount: '0.5' } },
  ]);
  expect(gifts.received[0]?.body).not.toContain(gift.code);

  const EXPECTED = 7;
  await all.until(EXPECTED);
  const events = await eventsOf(all, secret);
  const of = <T extends WebhookEvent['type']>(type: T) =>
    events.flatMap((event) => (event.type === type ? [event.data as Extract<WebhookEvent, { type: T }>['data']] : []));
  const users = of('wallet.created').map(({ publicKey, isDeployed }) => [BigInt(publicKey), isDeployed]);
  expect(users).toEqual(expect.arrayContaining([sender, recipient].map(({ address }) => [BigInt(address), true])));
  expect(all.received.map(({ body }) => body).join()).not.toContain('ciphertext');
  expect(of('transaction.confirmed')).toMatchObject([{ transactionHash: hash, status: 'SUCCESS', amount: '2500000' }]);
  const received = of('transfer.received').map(({ type, amount }) => [type, amount]);
  expect(received.sort()).toEqual([
    ['RECEIVE', '1000000'],
    ['RECEIVE', '9000000'],
    ['SEND', '2500000'],
  ]);
  expect(of('deposit.credited')).toMatchObject([{ transactionHash: deposited, depositAddress, amountUsd: '12.5' }]);

  const listed = await eventually(
    () => app.get('/organization/events?limit=100'),
    ({ body }) => (body as { total: number }).total >= EXPECTED + 1,
  );
  expect((listed.body as { total: number }).total).toBe(EXPECTED + 1);
});
