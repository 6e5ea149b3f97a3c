import { createHmac } from 'node:crypto';
import * as sdk from '@svc/sdk';
import { classes, toHex } from '@svc/starknet';
import { userToken } from '../../support/client.ts';
import { storePurchase } from '../../support/purchases.ts';
import { Sandbox } from '../../support/sandbox.ts';
import type { TestService } from '../../support/service.ts';

const ENCRYPT_KEY = '481516';
const USER = 'luis';
const WEBHOOK_SECRET = 'c3ZjLWV4YW1wbGUtc2VjcmV0LWZvci1kb2Nz';
/** Nothing listens there, and nobody can ever have the name. */
const WEBHOOK_URL = 'https://app.tienda.example/webhooks';
const RECIPIENT = '0xb0b';

/** Two wallets, each with its key stretched, and a transfer: seconds, and on a busy machine many. */
export const PREPARE_LIMIT_MS = 180_000;
/** An example may stretch a few keys and wait for a few blocks. */
export const EXAMPLE_LIMIT_MS = 120_000;

/** What examples may speak of without saying where it comes from. */
export interface ExampleWorld {
  readonly svc: sdk.Svc;
  readonly wallet: sdk.CreatedWallet;
  readonly service: TestService;
  /** The same for all examples. */
  readonly common: Readonly<Record<string, unknown>>;
}

/** A user `luis` with money and a wallet that opens with a passkey or the PIN, and a user `ana` with a wallet that opens with the PIN. */
export async function prepareExampleWorld(service: TestService): Promise<ExampleWorld> {
  const { server } = service;
  const { baseUrl, publicKey, secretKey, rpcUrl: nodeUrl } = server.credentials;
  const options = { baseUrl, publicKey, secretKey };
  const svc = sdk.createSvc(options);
  const newWallet = { encryptKey: ENCRYPT_KEY, chain: 'STARKNET' } as const;
  await svc.createWallet({ ...newWallet, externalUserId: 'ana' });
  const wallet = await svc.createWallet({ ...newWallet, externalUserId: USER, usePasskey: true });
  await svc.waitForTransaction(wallet.transactionHash, { retryIntervalMs: 50 });
  await new Sandbox(server).faucet(wallet.publicKey, 'USDC', '1000');
  const payment = { encryptKey: ENCRYPT_KEY, wallet, amount: '1.5', token: 'USDC', recipient: RECIPIENT } as const;
  const transactionHash = await svc.transfer(payment);
  await svc.waitForTransaction(transactionHash, { retryIntervalMs: 50 });
  const { tokens } = await svc.getConfig();
  const { credentialId } = await svc.recoverCredential({ externalUserId: USER });
  const common = {
    ...{ svc, client: sdk.createClient(options), baseUrl, publicKey, secretKey, nodeUrl },
    ...{ bearerToken: await userToken(server, USER), externalUserId: USER, encryptKey: ENCRYPT_KEY, wallet },
    ...{ recipient: RECIPIENT, spender: '0x5bed', transactionHash, credentialId },
    tokenAddress: tokens.find(({ chain, token }) => chain === 'STARKNET' && token === 'USDC')?.address,
    ...{ storage: { setItem: () => undefined }, console: { log: () => undefined } },
  };
  return { svc, wallet, service, common };
}

/** What an example changes is made for it alone: `session`, `earlierWallet`, `gift` and the like. */
export async function scopeOf(world: ExampleWorld, code: string): Promise<Record<string, unknown>> {
  const has = (...names: string[]) => names.some((name) => uses(code, name));
  return {
    ...sdk,
    ...world.common,
    ...(has('session') && { session: await newSession(world) }),
    ...(has('earlierWallet') && (await newEarlierWallet(world))),
    ...(has('gift', 'redeemId') && (await newGift(world))),
    ...(has('purchase') && { purchase: await newPurchase(world, code) }),
    ...(code.includes('createSkuPurchase(') && { transactionHash: await newPayment(world) }),
    ...(has('payload') && newWebhook()),
    ...(has('webhook') && { webhook: await world.svc.webhooks.createWebhook({ url: WEBHOOK_URL }) }),
    ...(has('ownSku') && { ownSku: await newOwnSku(world) }),
  };
}

/** Not what it declares itself, nor what has the same name elsewhere: a property, a word. */
const uses = (code: string, name: string) =>
  new RegExp(`(?<![.'"])\\b${name}\\b(?![:'"])`).test(code) && !new RegExp(`\\bconst ${name}\\b`).test(code);

async function newSession({ svc, wallet, common }: ExampleWorld): Promise<sdk.Session> {
  const session = await svc.sessions.createSessionKey({ encryptKey: ENCRYPT_KEY });
  const { publicKey: sessionPublicKey, validUntil } = session;
  const sessionConfig = { sessionPublicKey, validUntil, maxCalls: 10, allowedEntrypoints: [] };
  const added = { encryptKey: ENCRYPT_KEY, wallet, sessionConfig };
  const hash = await svc.sessions.addSessionKeyToContract(added, String(common.bearerToken));
  await svc.waitForTransaction(hash, { retryIntervalMs: 50 });
  return session;
}

async function newEarlierWallet({ svc }: ExampleWorld) {
  const earlierWallet = await svc.createWallet({
    encryptKey: ENCRYPT_KEY,
    externalUserId: 'marta',
    chain: 'STARKNET',
    classHash: toHex(classes.svcSessions),
  });
  await svc.waitForTransaction(earlierWallet.transactionHash, { retryIntervalMs: 50 });
  return { earlierWallet };
}

async function newGift({ svc }: ExampleWorld) {
  const gift = await svc.gifts.createGift({
    code: `GIFT-${crypto.randomUUID()}`,
    name: 'Example',
    amount: '1',
    maxRedeems: 5,
    maxRedeemsPerUser: 5,
    startsAt: new Date(0).toISOString(),
    isActive: true,
  });
  const { giftRedeem } = await svc.gifts.redeemGift({ code: gift.code, walletAddress: RECIPIENT, chain: 'starknet' });
  return { gift, redeemId: giftRedeem.id };
}

async function newPurchase(world: ExampleWorld, code: string): Promise<{ readonly id: string }> {
  const { svc, wallet, service } = world;
  // What is to be cancelled must not be delivered meanwhile, and what is to be refunded must have failed.
  const status = code.includes('cancelSkuPurchase(') ? 'PENDING' : 'FAILED';
  if (status === 'PENDING' || code.includes('refundSkuPurchase(')) {
    const { paymentAddress } = await svc.getConfig();
    const { organizationId } = service.server.credentials;
    const stored = { organizationId, buyer: wallet.publicKey, paymentAddress, status } as const;
    if (status === 'PENDING') return { id: await storePurchase(service.database.db, stored) };
    const hash = await newPayment(world);
    await svc.waitForTransaction(hash, { retryIntervalMs: 50 });
    return { id: await storePurchase(service.database.db, { ...stored, hash }) };
  }
  const order = { skuId: 'telcel-recarga-100', skuReference: '5512345678' };
  return svc.purchaseSku({ encryptKey: ENCRYPT_KEY, wallet, ...order, onProgress: () => undefined });
}

function newOwnSku({ svc }: ExampleWorld): Promise<sdk.OfferedSku> {
  return svc.settings.createOwnSku({
    id: `propio-${Math.random().toString(36).slice(2, 12)}`,
    providerId: 'propio',
    name: 'Recarga propia',
    category: 'RECARGAS',
    referenceRegexValidation: '^[0-9]{10}$',
    referenceLabel: 'Celular',
    amountRegexValidation: '^[0-9]+$',
    amountLabel: 'Monto',
    currency: 'MXN',
    canCheckSkuReference: true,
  });
}

/** Of what 100 pesos cost. */
async function newPayment({ svc, wallet }: ExampleWorld): Promise<string> {
  const { paymentAddress } = await svc.getConfig();
  const payment = { encryptKey: ENCRYPT_KEY, wallet, amount: '5.405406', token: 'USDC' } as const;
  return svc.transfer({ ...payment, recipient: paymentAddress });
}

function newWebhook() {
  const payload = JSON.stringify({
    type: 'sku-purchase.completed',
    timestamp: new Date().toISOString(),
    data: { id: 'txn_1', skuFileNumber: '17' },
  });
  const [id, timestamp] = ['evt_1', String(Math.floor(Date.now() / 1_000))];
  const signature = createHmac('sha256', Buffer.from(WEBHOOK_SECRET, 'base64'))
    .update(`${id}.${timestamp}.${payload}`)
    .digest('base64');
  const headers = { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signature}` };
  return { payload, headers };
}
