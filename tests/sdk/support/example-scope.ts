import { createHmac } from 'node:crypto';
import * as sdk from '@svc/sdk';
import { classes, toHex } from '@svc/starknet';
import { Owner } from '../../support/app.ts';
import { userToken } from '../../support/client.ts';
import { PAID_RAW } from '../../support/examples.ts';
import { signIn } from '../../support/members.ts';
import { Sandbox } from '../../support/sandbox.ts';
import { type AnyService, OPERATOR_TOKEN } from '../../support/service.ts';
import { USDC } from '../../support/starknet-client.ts';
import { newTreasury } from '../../support/treasuries.ts';

const ENCRYPT_KEY = '481516';
const USER = 'luis';
const WEBHOOK_SECRET = 'c3ZjLWV4YW1wbGUtc2VjcmV0LWZvci1kb2Nz';
/** `.example` names never resolve. */
const WEBHOOK_URL = 'https://app.tienda.example/webhooks';
const RECIPIENT = '0xb0b';

/** Two wallets with stretched keys and a transfer, on a busy machine. */
export const PREPARE_LIMIT_MS = 180_000;
/** An example may stretch a few keys and wait for a few blocks. */
export const EXAMPLE_LIMIT_MS = 120_000;

/** Names that examples may use without declaring them. */
export interface ExampleFixture {
  readonly svc: sdk.Svc;
  readonly wallet: sdk.CreatedWallet;
  readonly service: AnyService;
  readonly common: Readonly<Record<string, unknown>>;
}

/** User `luis` has funds and a wallet with passkey and PIN; user `ana` has a wallet with a PIN. */
export async function prepareExamples(service: AnyService): Promise<ExampleFixture> {
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

/** Values that an example changes are created for it alone: `session`, `earlierWallet`, `gift` and the like. */
export async function scopeOf(fixture: ExampleFixture, code: string): Promise<Record<string, unknown>> {
  const has = (...names: string[]) => names.some((name) => uses(code, name));
  return {
    ...sdk,
    ...fixture.common,
    ...(has('session') && { session: await newSession(fixture) }),
    ...(has('earlierWallet') && (await newEarlierWallet(fixture))),
    ...(has('gift', 'redeemId') && (await newGift(fixture))),
    ...(has('purchase') && { purchase: await newPurchase(fixture, code) }),
    ...(code.includes('createSkuPurchase(') && { transactionHash: await newPayment(fixture) }),
    ...(has('payload') && newWebhook()),
    ...(has('webhook') && { webhook: await fixture.svc.webhooks.createWebhook({ url: WEBHOOK_URL }) }),
    ...(has('treasury', 'sharedTreasury', 'proposal', 'readyProposal', 'signerKey', 'signerPrivateKey') &&
      (await newTreasuries(fixture))),
    ...(has('ownSku') && { ownSku: await newOwnSku(fixture) }),
    ...(has('member', 'sessionToken') && (await newMember(fixture))),
    ...(has('operator', 'operatorToken') && newOperator(fixture)),
    ...(has('me', 'ownWallet', 'recipientToken', 'passkeyOfRecipient', 'recoveryCode') &&
      (await newRecipient(fixture))),
  };
}

/** Matches a use of the name, not a declaration, a property or a word. */
const uses = (code: string, name: string) =>
  new RegExp(`(?<![.'"])\\b${name}\\b(?![:'"])`).test(code) && !new RegExp(`\\bconst ${name}\\b`).test(code);

/** A treasury of one signer with an open and a ready proposal, and one of two signers. */
async function newTreasuries({ svc, service }: ExampleFixture) {
  const [signer, other] = [new Owner(), new Owner()];
  const [signerKey, signerPrivateKey] = [signer.publicKey, signer.privateKey];
  const treasury = await newTreasury(service.app, { signers: [signer], threshold: 1 });
  const sharedTreasury = await newTreasury(service.app, { signers: [signer, other], threshold: 2 });
  await new Sandbox(service.server).faucet(treasury.address, 'USDC', '10');
  const transfers = [{ token: 'USDC' as const, recipient: RECIPIENT, amount: '1' }];
  const propose = () => svc.treasuries.createTreasuryProposal({ treasuryId: treasury.id, transfers });
  const [proposal, ready] = [await propose(), await propose()];
  const signing = { treasuryAddress: treasury.address, proposal: ready, calls: ready.calls };
  const readyProposal = await svc.treasuries.signTreasuryProposal({ ...signing, privateKey: signerPrivateKey });
  return { treasury, sharedTreasury, proposal, readyProposal, signerKey, signerPrivateKey };
}

async function newMember({ service, common }: ExampleFixture) {
  const baseUrl = String(common.baseUrl);
  const { token: sessionToken } = await signIn(service, 'OWNER');
  return { sessionToken, member: sdk.createMember({ baseUrl, sessionToken }) };
}

async function newRecipient(fixture: ExampleFixture) {
  const { svc } = fixture;
  const { code } = (await newGift(fixture)).gift;
  const options = await svc.recipients.getRecipientWalletOptions({ code });
  const { wallet } = await svc.recipients.prepareRecipientWallet({ code, options });
  const { recipient: me, token } = await svc.recipients.createRecipientWallet({ code, wallet });
  const recipientToken = token ?? '';
  const passkeyOfRecipient = String(wallet.passkey?.id);
  const { encryptKey: opener } = await svc.recipients.signInWithPasskey({ credentialId: passkeyOfRecipient });
  const stored = await svc.getWallet({ externalUserId: me.id }, recipientToken);
  const own = { externalUserId: me.id, wallet: stored, encryptKey: opener };
  const { recoveryCode, wallet: ownWallet } = await svc.recipients.makeRecoveryCode(own, recipientToken);
  return { me, ownWallet, opener, recipientToken, passkeyOfRecipient, recoveryCode };
}

function newOperator({ common }: ExampleFixture) {
  const options = { baseUrl: String(common.baseUrl), operatorToken: OPERATOR_TOKEN };
  return { operatorToken: OPERATOR_TOKEN, operator: sdk.createOperator(options) };
}

async function newSession({ svc, wallet, common }: ExampleFixture): Promise<sdk.Session> {
  const session = await svc.sessions.createSessionKey({ encryptKey: ENCRYPT_KEY });
  const { publicKey: sessionPublicKey, validUntil } = session;
  const sessionConfig = { sessionPublicKey, validUntil, maxCalls: 10, allowedEntrypoints: [] };
  const added = { encryptKey: ENCRYPT_KEY, wallet, sessionConfig };
  const hash = await svc.sessions.addSessionKeyToContract(added, String(common.bearerToken));
  await svc.waitForTransaction(hash, { retryIntervalMs: 50 });
  return session;
}

async function newEarlierWallet({ svc }: ExampleFixture) {
  const earlierWallet = await svc.createWallet({
    encryptKey: ENCRYPT_KEY,
    externalUserId: 'marta',
    chain: 'STARKNET',
    classHash: toHex(classes.svcSessions),
    additional: true,
  });
  await svc.waitForTransaction(earlierWallet.transactionHash, { retryIntervalMs: 50 });
  return { earlierWallet };
}

async function newGift({ svc }: ExampleFixture) {
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

async function newPurchase(fixture: ExampleFixture, code: string): Promise<{ readonly id: string }> {
  const { svc, wallet, service } = fixture;
  // A purchase to cancel must not be delivered meanwhile, and one to refund must have failed.
  const status = code.includes('cancelSkuPurchase(') ? 'PENDING' : 'FAILED';
  if (status === 'PENDING' || code.includes('refundSkuPurchase(')) {
    const { paymentAddress } = await svc.getConfig();
    const place = { paymentAddress: BigInt(paymentAddress), tokenAddress: BigInt(USDC), paid: PAID_RAW };
    const stored = { status, buyer: BigInt(wallet.publicKey), ...place } as const;
    if (status === 'PENDING') return { id: await service.purchase(stored) };
    const hash = await newPayment(fixture);
    await svc.waitForTransaction(hash, { retryIntervalMs: 50 });
    return { id: await service.purchase({ ...stored, hash }) };
  }
  const order = { skuId: 'telcel-recarga-100', skuReference: '5512345678' };
  return svc.purchaseSku({ encryptKey: ENCRYPT_KEY, wallet, ...order, onProgress: () => undefined });
}

function newOwnSku({ svc }: ExampleFixture): Promise<sdk.OfferedSku> {
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

async function newPayment({ svc, wallet }: ExampleFixture): Promise<string> {
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
