import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { EventType } from '@svc/protocol';
import type { CreatedWallet, SvcEvent } from '@svc/sdk';
import { Argument, type Command } from 'commander';
import { action, type Context, group } from '../context.ts';
import { EventFeed, FEED_PAGE } from '../event-feed.ts';
import { CliError, usage } from '../failure.ts';
import { facts } from '../output.ts';

/** What makes an event of each type happen. Those of treasuries need the keys of several signers. */
const causes = {
  'wallet.created': async (context) => void (await newWallet(context)),
  'deposit.credited': deposit,
  'transfer.received': async (context) => void (await fundedWallet(context)),
  'transaction.confirmed': async (context) => send(context, await fundedWallet(context)),
  'transaction.failed': async (context) => {
    const wallet = await fundedWallet(context);
    await revertNext(context);
    await send(context, wallet);
  },
  'sku-purchase.processing': (context) => buy(context, '5512345678'),
  'sku-purchase.completed': (context) => buy(context, '5512345678'),
  'sku-purchase.failed': (context) => buy(context, '5512340000'),
  'sku-purchase.cancelled': cancel,
  'gift.redeemed': redeem,
  'gift.redeem-failed': async (context) => redeem(context, () => revertNext(context)),
  'webhook.test': testWebhooks,
} satisfies Partial<Record<EventType, (context: Context) => Promise<void>>>;
type Triggered = keyof typeof causes;
const triggered = Object.keys(causes) as Triggered[];

const FOOTER = `
It really happens: a wallet is created, a transfer is sent, a service is bought. So the data of the event is that of your
environment, and your webhooks and svc listen get it. Development only. Gift events need a webhook that names them.
`;

export function triggerCommand(): Command {
  return group('trigger', 'make an event happen in development')
    .addArgument(new Argument('<event>', 'its type').choices(triggered))
    .addHelpText('after', FOOTER)
    .action(
      action(async (context, _, given) => {
        const type = given as Triggered;
        const { svc, out, credentials } = context;
        if (!credentials.publicKey?.startsWith('pk_dev_')) throw usage('Events are made with development keys only.');
        if (type.startsWith('gift.')) await requireGiftWebhook(context, type);
        const read = async (page: number) => (await svc.webhooks.listEvents({ type, page, limit: FEED_PAGE })).items;
        const feed = new EventFeed(read);
        await feed.begin();
        await causes[type](context);
        const event = await untilFound(feed, type);
        out.answer(event, () =>
          facts([
            ['event', event.id],
            ['type', event.type],
            ['data', JSON.stringify(event.data)],
          ]),
        );
      }),
    );
}

const WAIT_MS = 60_000;
const LOOK_MS = 500;

async function untilFound(feed: EventFeed, type: EventType): Promise<SvcEvent> {
  const endsAt = Date.now() + WAIT_MS;
  while (Date.now() < endsAt) {
    const [event] = await feed.look();
    if (event) return event;
    await pause(LOOK_MS);
  }
  throw new CliError('no_event', `It was done, but ${type} did not come within a minute. Look with svc events.`);
}

/** The key of these wallets is lost at once: they hold tokens of development only. */
async function newWallet({ svc }: Context): Promise<CreatedWallet & { encryptKey: string }> {
  const encryptKey = randomBytes(16).toString('hex');
  const externalUserId = `svc-trigger-${randomBytes(6).toString('hex')}`;
  const wallet = await svc.createWallet({ encryptKey, externalUserId, chain: 'STARKNET' });
  return { ...wallet, encryptKey };
}

const faucet = (context: Context, address: string) =>
  context.sandbox('POST', '/faucet', { address, token: 'USDC', amount: '100' });

async function fundedWallet(context: Context) {
  const wallet = await newWallet(context);
  await context.svc.waitForTransaction(wallet.transactionHash);
  await faucet(context, wallet.publicKey);
  return wallet;
}

async function deposit(context: Context): Promise<void> {
  const { depositAddress } = await context.svc.getOrganization();
  if (depositAddress === null) throw usage('This service takes no deposits.');
  await faucet(context, depositAddress);
}

type Opened = Awaited<ReturnType<typeof fundedWallet>>;

async function send({ svc }: Context, wallet: Opened): Promise<void> {
  const recipient = `0x${randomBytes(16).toString('hex')}`;
  await svc.transfer({ encryptKey: wallet.encryptKey, wallet, amount: '1', token: 'USDC', recipient });
}

const revertNext = (context: Context) =>
  context.sandbox('POST', '/starknet/faults', { kind: 'revert', reason: 'svc trigger', seconds: 30, count: 1 });

/** A top-up of a phone; the sandbox's provider fails numbers that end in 0000. */
async function buy(context: Context, skuReference: string): Promise<void> {
  const order = await prepareOrder(context, skuReference);
  await context.svc.purchaseSku(order);
}

/** A purchase can be cancelled while its payment waits for a block: for this moment the chain makes none. */
async function cancel(context: Context): Promise<void> {
  const order = await prepareOrder(context, '5512345678');
  const { blockSeconds } = await context.sandbox<{ blockSeconds: number }>('GET', '/starknet');
  await context.sandbox('POST', '/starknet/block-time', { seconds: 3_600 });
  try {
    const { id } = await context.svc.purchaseSku(order);
    await context.svc.cancelSkuPurchase({ id });
  } finally {
    await context.sandbox('POST', '/starknet/block-time', { seconds: blockSeconds });
  }
}

async function prepareOrder(context: Context, skuReference: string) {
  const { svc } = context;
  const { items } = await svc.listSkus({ category: 'RECARGAS', limit: 100 });
  const sku = items.find(
    ({ fixedAmount, referenceRegexValidation }) =>
      fixedAmount && new RegExp(referenceRegexValidation).test(skuReference),
  );
  if (!sku) throw usage('The catalogue has no top-up of a fixed amount to buy.');
  const { encryptKey, ...wallet } = await fundedWallet(context);
  return { encryptKey, wallet, skuId: sku.id, skuReference };
}

async function requireGiftWebhook({ svc }: Context, type: EventType): Promise<void> {
  const { items } = await svc.webhooks.listWebhooks({ limit: 100 });
  if (items.some(({ eventTypes: types, isEnabled }) => isEnabled && types?.includes(type))) return;
  throw usage(`${type} exists only where a webhook names it. Create one with eventTypes: ["${type}"] first.`);
}

async function redeem({ svc }: Context, before: () => Promise<unknown> = async () => {}): Promise<void> {
  const gift = await svc.gifts.createGift({
    name: 'svc trigger',
    amount: '0.5',
    maxRedeems: 1,
    maxRedeemsPerUser: 1,
    startsAt: new Date(0).toISOString(),
    isActive: true,
  });
  await before();
  const walletAddress = `0x${randomBytes(16).toString('hex')}`;
  await svc.gifts.redeemGift({ code: gift.code, walletAddress, chain: 'starknet' }).catch((error: unknown) => {
    if (!(error instanceof Error && 'code' in error && error.code === 'payout_failed')) throw error;
  });
}

async function testWebhooks({ svc }: Context): Promise<void> {
  const { items } = await svc.webhooks.listWebhooks({ limit: 100 });
  const enabled = items.filter(({ isEnabled }) => isEnabled);
  if (enabled.length === 0) throw usage('There is no webhook to test. Create one first, or trigger another event.');
  for (const { id } of enabled) await svc.webhooks.testWebhook({ id });
}
