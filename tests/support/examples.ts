import { allEndpoints, type Endpoint, type endpoints } from '@svc/protocol';
import { classes } from '@svc/starknet';
import type { Db } from '@svc/store';
import { App, field, type Headers, hashOf, Owner, transferOf } from './app.ts';
import { keyHeaders, type Reply, type Send, send } from './client.ts';
import { created, giftBody, makeGift } from './gifts.ts';
import { PAID_RAW, type StoredPurchase, storePurchase } from './purchases.ts';
import { Sandbox } from './sandbox.ts';
import type { TestService } from './service.ts';
import { USDC } from './starknet-client.ts';

/**
 * The next of the list, over and over. Of what an endpoint ends, one that is asked for in vain is not lost to those that come later;
 * and a list is longer than a suite has successes in a row.
 */
export function inTurn<T>(list: T[]): T {
  const next = list.shift();
  if (next === undefined) throw new Error('The list is empty.');
  list.push(next);
  return next;
}

/** A body that is right in everything, its signature included. */
export type Signed = Record<string, unknown> & { readonly typedData: TypedData };
export type TypedData = Record<string, unknown> & { readonly message: Record<string, unknown> };

/**
 * What the examples speak of: one user with three wallets, an organisation with gifts, purchases and webhooks, and things that are
 * signed but not sent.
 */
export interface ExampleData {
  /** With the keys of the organisation that it all belongs to. */
  readonly app: App;
  readonly sandbox: Sandbox;
  readonly user: string;
  /** Of a wallet with money. */
  readonly owner: Owner;
  /** Of a wallet of an earlier class, which the examples leave as it is. */
  readonly upgradeable: Owner;
  /** The hash of a transfer of `owner`, of `transferred` to `recipient`. */
  readonly transfer: string;
  readonly gifts: ExampleGifts;
  readonly purchases: ExamplePurchases;
  readonly settings: ExampleSettings;
  /** Each can be sent again and answers the same. */
  readonly signed: Readonly<Record<'creation' | 'execution' | 'upgrade', Signed>>;
}

export const recipient = '0xb0b';
export const transferred = '1.5';
const TRANSFERRED_RAW = 1_500_000n;

export interface ExampleDataOptions {
  readonly headers?: Headers;
  readonly user?: string;
}

export async function prepareExampleData(
  { server, database }: Pick<TestService, 'server' | 'database'>,
  options: ExampleDataOptions = {},
): Promise<ExampleData> {
  const { headers = keyHeaders(server), user = 'user-1' } = options;
  const app = new App(server, headers);
  const sandbox = new Sandbox(server);
  const [owner, upgradeable, upgraded] = [
    new Owner(),
    new Owner(classes.svcSessions),
    new Owner(classes.svcSessions),
  ] as const;
  // One after the other: of two at once, one may wait at the chain for the nonce of the other.
  for (const one of [owner, upgradeable, upgraded]) await app.createWallet(one, user);
  await sandbox.faucet(owner.address, 'USDC', '100');
  const transfer = hashOf(await app.execute(owner, [transferOf(USDC, recipient, TRANSFERRED_RAW)]));
  const gifts = await prepareGifts(app, sandbox, owner, recipient);
  const purchases = await preparePurchases(database.db, app, sandbox, upgraded);
  const settings = await prepareSettings(app);
  const signed = {
    creation: (await app.creation(new Owner(), user)) as Signed,
    execution: await signedTransfer(app, owner, 1n),
    upgrade: await signedUpgrade(app, upgraded),
  };
  return { app, sandbox, user, owner, upgradeable, transfer, gifts, purchases, settings, signed };
}

/** A body of `executeSponsoredTransaction`. */
export async function signedTransfer(app: App, owner: Owner, amount: bigint): Promise<Signed> {
  const typedData = (await app.prepare(owner.address, [transferOf(USDC, recipient, amount)])) as TypedData;
  return { publicKey: owner.address, typedData, userSignature: owner.sign(typedData) };
}

/** A body of `executeWalletUpgrade`, to the current class. */
export async function signedUpgrade(app: App, owner: Owner): Promise<Signed> {
  const reply = await app.post('/svc-wallets/prepare-upgrade', { walletAddress: owner.address });
  return upgradeBody(owner, field<TypedData>(reply, 'typedData'));
}

export function upgradeBody(owner: Owner, typedData: TypedData): Signed {
  const { r, s } = owner.sign(typedData);
  return { walletAddress: owner.address, typedData, signature: [r, s] };
}

export interface CreatedGift {
  readonly id: string;
  readonly code: string;
}

/** Credits, and what was made of them. */
export interface ExampleGifts {
  /** The hash of a USDC transfer of a wallet to the payment address, credited to the organisation. */
  readonly deposit: string;
  /** One that can be redeemed as often as the examples do. */
  readonly gift: CreatedGift;
  /** A redeem of it. */
  readonly redeem: { readonly id: string };
  /** Gifts that nobody misses. Whoever may delete one takes it out. */
  readonly disposable: CreatedGift[];
}

const DEPOSITED = '800';
const DEPOSITED_RAW = 800_000_000n;
/** More than examples are made in a suite, whether they are admitted or not. */
const DISPOSABLE = 80;
const MANY_TIMES = 1_000;
export async function prepareGifts(app: App, sandbox: Sandbox, owner: Owner, recipient: string): Promise<ExampleGifts> {
  const deposit = await makeDeposit(app, sandbox, owner);
  const limits = { amount: 0.01, maxRedeems: MANY_TIMES, maxRedeemsPerUser: MANY_TIMES };
  const gift = await makeGift(app, limits);
  const redeemed = await app.post(`/gifts/claim/${gift.code}/redeem`, { walletAddress: recipient, chain: 'starknet' });
  const { giftRedeem } = created<{ giftRedeem: { id: string } }>(redeemed);
  const disposable = await Promise.all(Array.from({ length: DISPOSABLE }, () => makeGift(app)));
  return { deposit, gift, redeem: giftRedeem, disposable };
}

async function makeDeposit(app: App, sandbox: Sandbox, owner: Owner): Promise<string> {
  await sandbox.faucet(owner.address, 'USDC', DEPOSITED);
  const paymentAddress = field<string>(await app.get('/config'), 'paymentAddress');
  const transactionHash = hashOf(await app.execute(owner, [transferOf(USDC, paymentAddress, DEPOSITED_RAW)]));
  const reply = await app.post('/organization/deposits', { transactionHash, chain: 'STARKNET' });
  if (reply.status !== 200) throw new Error(reply.text);
  return transactionHash;
}

/** What was bought, and what waits to be ended. */
export interface ExamplePurchases {
  /** A body of `createSkuPurchase` that was recorded. */
  readonly body: PurchaseBody;
  /** What it bought. */
  readonly id: string;
  /** Purchases whose payment the chain does not know, so that they stay PENDING. */
  readonly pending: string[];
  /** Failed purchases whose payment is due for refund. */
  readonly refundable: string[];
}

export interface PurchaseBody {
  readonly transactionHash: string;
  readonly walletAddress: string;
  readonly skuId: string;
  readonly skuReference: string;
  readonly currencyAmount: number;
  readonly chain: string;
  readonly token: string;
}

/** 500 pesos are 27.027027 dollars in development. */
export const SERVICE = { skuId: 'pase-recarga', skuReference: 'IMDM28417936', currencyAmount: 500 };
const PRICE_RAW = 27_027_027n;
/** The price, and somewhat more. */
const FUNDS = '28';
/** More than are cancelled, and more than are refunded, in a suite. The chain is asked again and again for those that are pending. */
const PENDING = 8;
const REFUNDABLE = 40;

/** The buyer's wallet must be of the app. */
export async function preparePurchases(db: Db, app: App, sandbox: Sandbox, buyer: Owner): Promise<ExamplePurchases> {
  await sandbox.faucet(buyer.address, 'USDC', FUNDS);
  const paymentAddress = field<string>(await app.get('/config'), 'paymentAddress');
  const transactionHash = hashOf(await app.execute(buyer, [transferOf(USDC, paymentAddress, PRICE_RAW)]));
  const place = { walletAddress: buyer.address, chain: 'STARKNET', token: 'USDC' };
  const body = { transactionHash, ...SERVICE, ...place };
  const id = field<string>(await app.post('/sku-purchases', body), 'id');
  const organizationId = field<string>(await app.get('/organization'), 'id');
  const stored = { organizationId, buyer: buyer.address, paymentAddress };
  const hash = hashOf(await app.execute(buyer, [transferOf(USDC, paymentAddress, BigInt(PAID_RAW))]));
  const several = (what: Pick<StoredPurchase, 'status' | 'hash'>, length: number) =>
    Promise.all(Array.from({ length }, () => storePurchase(db, { ...stored, ...what })));
  return {
    body,
    id,
    pending: await several({ status: 'PENDING' }, PENDING),
    refundable: await several({ status: 'FAILED', hash }, REFUNDABLE),
  };
}

/** What an organisation has set up for itself. */
export interface ExampleSettings {
  readonly webhook: string;
  /** The test event that was sent to it, and its delivery. */
  readonly event: string;
  readonly delivery: string;
  readonly ownSku: string;
  /** What nobody misses. */
  readonly disposable: { readonly webhooks: string[]; readonly keys: string[]; readonly skus: string[] };
}

/** More than succeed one after the other, and few enough to stay within the bounds. */
const OF_EACH = 4;
let skus = 0;

/** The least that a service of one's own is made with. */
export const ownSkuBody = (): { id: string } & Record<string, unknown> => {
  skus += 1;
  return {
    id: `propio-${process.pid}-${skus}`,
    providerId: 'propio',
    name: 'Recarga propia',
    category: 'RECARGAS',
    referenceRegexValidation: '^[0-9]{10}$',
    referenceLabel: 'Número a 10 dígitos',
    amountRegexValidation: '^[0-9]+(\\.[0-9]{1,2})?$',
    amountLabel: 'Monto',
    currency: 'MXN',
    canCheckSkuReference: true,
  };
};

/** Nothing listens there, and nobody can ever have the name. */
export const WEBHOOK_URL = 'https://hooks.tienda.example/svc';

export async function prepareSettings(app: App): Promise<ExampleSettings> {
  const webhook = () => app.post('/organization/webhooks', { url: WEBHOOK_URL });
  const id = idOf(await webhook());
  const tested = (await app.post(`/organization/webhooks/${id}/test`, {})).body as { id: string; eventId: string };
  return {
    webhook: id,
    event: tested.eventId,
    delivery: tested.id,
    ownSku: idOf(await app.post('/organization/skus', ownSkuBody())),
    disposable: {
      webhooks: await several(webhook),
      keys: await several(() => app.post('/organization/keys', { kind: 'public' })),
      skus: await several(() => app.post('/organization/skus', ownSkuBody())),
    },
  };
}

function several(make: () => Promise<Reply>): Promise<string[]> {
  return Promise.all(Array.from({ length: OF_EACH }, async () => idOf(await make())));
}

function idOf({ status, body, text }: Reply): string {
  if (status !== 201) throw new Error(`${status} ${text}`);
  return (body as { id: string }).id;
}

export interface Example {
  /** Values of the path's parameters. */
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: string;
  readonly body?: unknown;
}

const ADDRESS = '0x03f0f1a8f5cd7c8b6a4c8f0f6dbe15b0a3f5f5e0a2c1f4c2a7b8d9e0f1a2b3c4';

/**
 * A request that succeeds once its endpoint is built, however often it is sent; but of what is made or deleted once, an example serves
 * once. A new endpoint does not compile without one.
 */
const examples: Record<keyof typeof endpoints, (world: ExampleData) => Example> = {
  getWalletByUser: ({ user }) => ({ query: `externalUserId=${user}` }),
  prepareWalletCreation: ({ owner }) => ({
    body: { chain: 'STARKNET', publicKey: owner.address, starkKeyPubAX: owner.publicKey },
  }),
  createWallet: ({ signed }) => ({ body: signed.creation }),
  updateEncryptionDetails: ({ user, owner }) => ({
    body: { externalUserId: user, newEncryptedPrivateKey: 'ciphertext', publicKey: owner.address },
  }),
  getTokenBalance: ({ user }) => ({ query: `chainToken=USDC&chain=STARKNET&externalUserId=${user}` }),
  recoverCredential: ({ user }) => ({ query: `externalUserId=${user}` }),
  prepareWalletUpgrade: ({ upgradeable }) => ({ body: { walletAddress: upgradeable.address } }),
  executeWalletUpgrade: ({ signed }) => ({ body: signed.upgrade }),

  recordSend: ({ owner, transfer }) => ({
    body: {
      transactionHash: transfer,
      expectedSender: owner.address,
      expectedRecipient: recipient,
      expectedToken: 'USDC',
      expectedAmount: transferred,
      chain: 'STARKNET',
    },
  }),
  listTransactions: ({ owner }) => ({ query: `walletAddress=${owner.address}` }),
  prepareTypedData: ({ owner }) => ({ body: { publicKey: owner.address, calls: [transferOf(USDC, recipient, 1n)] } }),
  executeSponsoredTransaction: ({ signed }) => ({ body: signed.execution }),
  syncOnChain: ({ owner }) => ({ body: { walletAddress: owner.address } }),
  getTransaction: ({ transfer }) => ({ params: { hashOrId: transfer } }),
  getTransactionStatus: ({ transfer }) => ({ params: { hash: transfer } }),

  listSkus: () => ({}),
  getSku: () => ({ params: { id: 'pase-recarga' } }),
  checkSkuReference: () => ({ params: { id: 'pase-recarga' }, body: { reference: 'IMDM28417936' } }),
  createSkuPurchase: ({ purchases }) => ({ body: purchases.body }),
  getSkuPurchase: ({ purchases }) => ({ params: { id: purchases.id } }),
  listSkuPurchases: () => ({}),
  cancelSkuPurchase: ({ purchases }) => ({ params: { id: inTurn(purchases.pending) } }),
  refundSkuPurchase: ({ purchases }) => ({ params: { id: inTurn(purchases.refundable) }, body: {} }),
  getUsdAmount: () => ({ query: 'currencyAmount=185&currency=MXN' }),

  createGift: () => ({ body: giftBody() }),
  createGiftsBulk: () => ({ body: { name: 'Navidad', amount: 0.5, recipients: [{ email: 'ana@example.com' }] } }),
  listGifts: () => ({}),
  getGiftUsage: () => ({}),
  listGiftRedeems: () => ({}),
  getGiftRedeem: ({ gifts }) => ({ params: { id: gifts.redeem.id } }),
  getGift: ({ gifts }) => ({ params: { id: gifts.gift.id } }),
  updateGift: ({ gifts }) => ({ params: { id: gifts.gift.id }, body: { name: 'Navidad 2026' } }),
  deleteGift: ({ gifts }) => ({ params: { id: gifts.disposable.shift()?.id ?? 'none' } }),
  claimGift: ({ gifts }) => ({ params: { code: gifts.gift.code } }),
  redeemGift: ({ gifts }) => ({
    params: { code: gifts.gift.code },
    body: { walletAddress: ADDRESS, chain: 'starknet' },
  }),
  getRedeemStatus: ({ gifts }) => ({ params: { code: gifts.gift.code, redeemId: gifts.redeem.id } }),

  getOrganization: () => ({}),
  listLedger: () => ({}),
  createDeposit: ({ gifts }) => ({ body: { transactionHash: gifts.deposit, chain: 'STARKNET' } }),
  getConfig: () => ({}),

  getSettings: () => ({}),
  updateSettings: () => ({ body: { notificationEmail: 'avisos@tienda.example' } }),
  listApiKeys: () => ({}),
  createApiKey: () => ({ body: { kind: 'secret' } }),
  revokeApiKey: ({ settings }) => ({ params: { id: inTurn(settings.disposable.keys) } }),
  listOfferedSkus: () => ({}),
  createOwnSku: () => ({ body: ownSkuBody() }),
  updateOwnSku: ({ settings }) => ({ params: { id: settings.ownSku }, body: { name: 'Recarga al instante' } }),
  deleteOwnSku: ({ settings }) => ({ params: { id: inTurn(settings.disposable.skus) } }),
  listAuditLog: () => ({}),

  createWebhook: () => ({ body: { url: WEBHOOK_URL } }),
  listWebhooks: () => ({}),
  getWebhook: ({ settings }) => ({ params: { id: settings.webhook } }),
  updateWebhook: ({ settings }) => ({ params: { id: settings.webhook }, body: { description: 'Caja' } }),
  deleteWebhook: ({ settings }) => ({ params: { id: inTurn(settings.disposable.webhooks) } }),
  rotateWebhookSecret: ({ settings }) => ({ params: { id: settings.webhook }, body: {} }),
  testWebhook: ({ settings }) => ({ params: { id: settings.webhook } }),
  replayWebhook: ({ settings }) => ({ params: { id: settings.webhook }, body: { eventId: settings.event } }),
  listDeliveries: ({ settings }) => ({ params: { id: settings.webhook } }),
  getDelivery: ({ settings }) => ({ params: { id: settings.webhook, deliveryId: settings.delivery } }),
  listEvents: () => ({}),
};

export const exampleOf = (endpoint: Endpoint, world: ExampleData): Example =>
  examples[endpoint.operationId as keyof typeof endpoints](world);

export const builtEndpoints: readonly Endpoint[] = allEndpoints.filter((endpoint) => !endpoint.planned);
export const plannedEndpoints: readonly Endpoint[] = allEndpoints.filter((endpoint) => endpoint.planned);

/** What an example is answered with. */
export const successOf = ({ answers }: Endpoint): number => Number(Object.keys(answers)[0]);

/** Sends an example to its endpoint, with these headers and nothing else. */
export function sendExample(
  baseUrl: string,
  endpoint: Endpoint,
  headers: Record<string, string>,
  example: Example,
): Promise<Reply> {
  const request: Send = { method: endpoint.method, headers, ...('body' in example && { body: example.body }) };
  return send(baseUrl + pathOf(endpoint, example), request);
}

/** The path of an example, with its parameters encoded. */
function pathOf(endpoint: Endpoint, { params = {}, query }: Example): string {
  const path = endpoint.path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ''));
  return query === undefined ? path : `${path}?${query}`;
}

/** Longer than any identifier may be. */
const TOO_LONG = 'x'.repeat(129);

/** The example with one thing wrong in it; as it is where there is nothing that could be wrong. */
export function badExampleOf(endpoint: Endpoint, example: Example): Example {
  const { params, ...rest } = example;
  if (endpoint.body) return { ...example, body: [] };
  if (params) {
    return { ...rest, params: Object.fromEntries(Object.keys(params).map((name) => [name, TOO_LONG])) };
  }
  return { query: rest.query === undefined ? 'page=0' : '' };
}
