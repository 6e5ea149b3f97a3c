import { createHmac } from 'node:crypto';
import * as sdk from '@svc/sdk';
import { classes, toHex } from '@svc/starknet';
import { Sandbox } from '../../sandbox/support/sandbox.ts';
import { userToken } from '../../support/client.ts';
import type { RunningServer } from '../../support/server.ts';
import { withPlanned } from './planned.ts';

const ENCRYPT_KEY = '481516';
const USER = 'luis';
const WEBHOOK_SECRET = 'c3ZjLWV4YW1wbGUtc2VjcmV0LWZvci1kb2Nz';
const RECIPIENT = '0xb0b';

/** Two wallets, each with its key stretched, and a transfer: seconds, and on a busy machine many. */
export const PREPARE_LIMIT_MS = 180_000;
/** An example may stretch a few keys and wait for a few blocks. */
export const EXAMPLE_LIMIT_MS = 120_000;

/** What examples may speak of without saying where it comes from. */
export interface ExampleWorld {
  readonly svc: sdk.Svc;
  readonly wallet: sdk.CreatedWallet;
  /** The same for all examples. */
  readonly common: Readonly<Record<string, unknown>>;
}

/** A user `luis` with money and a wallet that opens with a passkey or the PIN, and a user `ana` with a wallet that opens with the PIN. */
export async function prepareExampleWorld(server: RunningServer): Promise<ExampleWorld> {
  const { baseUrl, publicKey, secretKey, rpcUrl: nodeUrl } = server.credentials;
  const options = { baseUrl, publicKey, secretKey, fetch: withPlanned(baseUrl) };
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
  return { svc, wallet, common };
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
    ...(has('purchase') && { purchase: await newPurchase(world) }),
    ...(has('payload') && newWebhook()),
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

function newPurchase({ svc, wallet }: ExampleWorld): Promise<sdk.Transaction> {
  const asked = { skuId: 'telcel-recarga-100', skuReference: '5512345678' };
  return svc.purchaseSku({ encryptKey: ENCRYPT_KEY, wallet, ...asked, onProgress: () => undefined });
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
