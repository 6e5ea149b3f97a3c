import { allEndpoints, type Endpoint, type endpoints } from '@svc/protocol';
import { classes } from '@svc/starknet';
import type { StoredPurchase } from '../../packages/server/testing/stored-purchases.ts';
import { type App, bodyOf, type CreatedGift, field, giftBody, hashOf, Owner, ownSkuBody, transferOf } from './app.ts';
import { type Reply, type Send, send } from './client.ts';
import type { Sandbox } from './sandbox.ts';
import type { AnyService } from './service.ts';
import { USDC } from './starknet-client.ts';
import { type ExampleTreasury, prepareTreasury } from './treasuries.ts';

/** The next of the list, over and over: one that a request was refused for is used again. */
export function inTurn<T>(list: T[]): T {
  const next = list.shift();
  if (next === undefined) throw new Error('The list is empty.');
  list.push(next);
  return next;
}

export type Signed = Record<string, unknown> & { readonly typedData: TypedData };
export type TypedData = Record<string, unknown> & { readonly message: Record<string, unknown> };

/** One user with three wallets, an organisation with gifts, purchases and webhooks, and signed bodies that were not sent. */
export interface ExampleData {
  readonly app: App;
  readonly sandbox: Sandbox;
  readonly user: string;
  /** Of a wallet with USDC. */
  readonly owner: Owner;
  /** Of the wallet of `owner`. */
  readonly walletId: string;
  /** Of a wallet of an earlier class, which no example upgrades. */
  readonly upgradeable: Owner;
  /** The id of a replaced encryption of `upgradeable`. */
  readonly replaced: string;
  /** The hash of a transfer of `transferred` to `recipient`. */
  readonly transfer: string;
  readonly gifts: ExampleGifts;
  readonly purchases: ExamplePurchases;
  readonly settings: ExampleSettings;
  readonly treasuries: ExampleTreasury;
  /** Of a transfer of `owner` to Solana. */
  readonly toSolana: string;
  /** Idempotent. */
  readonly signed: Readonly<Record<'creation' | 'execution' | 'upgrade' | 'toSolana', Signed>>;
}

export const recipient = '0xb0b';
export const transferred = '1.5';
const TRANSFERRED_RAW = 1_500_000n;

export interface ExampleDataOptions {
  /** Of another organisation than the development one. */
  readonly app?: App;
  readonly user?: string;
}

export async function prepareExampleData(service: AnyService, options: ExampleDataOptions = {}): Promise<ExampleData> {
  const { app = service.app, user = 'user-1' } = options;
  const { sandbox } = service;
  const [owner, upgradeable, upgraded] = [
    new Owner(),
    new Owner(classes.svcSessions),
    new Owner(classes.svcSessions),
  ] as const;
  // In sequence: concurrent creations wait for each other's nonce.
  for (const one of [owner, upgradeable, upgraded]) await app.createWallet(one, user);
  await sandbox.faucet(owner.address, 'USDC', '100');
  const transfer = hashOf(await app.execute(owner, [transferOf(USDC, recipient, TRANSFERRED_RAW)]));
  const gifts = await prepareGifts(app, sandbox, owner, recipient);
  const purchases = await preparePurchases(service, app, upgraded);
  const settings = await prepareSettings(app);
  const treasuries = await prepareTreasury(app, USDC, recipient);
  const signed = {
    creation: (await app.creation(new Owner(), user)) as Signed,
    execution: await signedTransfer(app, owner, 1n),
    upgrade: await signedUpgrade(app, upgraded),
    toSolana: await signedBurn(app, owner),
  };
  const toSolana = bodyOf<{ id: string }>(await app.post('/solana-transfers', signed.toSolana), 202).id;
  const replaced = await replaceEncryption(app, user, upgradeable);
  const [listed] = field<{ id: string }[]>(await app.get(`/svc-wallets?search=${owner.address}`), 'data');
  const walletId = listed?.id ?? '';
  const made = { gifts, purchases, settings, treasuries, signed, toSolana };
  return { app, sandbox, user, owner, walletId, upgradeable, replaced, transfer, ...made };
}

async function replaceEncryption(app: App, user: string, { address }: Owner): Promise<string> {
  const body = { externalUserId: user, publicKey: address, newEncryptedPrivateKey: 'replaced by this' };
  await app.patch('/svc-wallets/update-encryption-details', body);
  const reply = await app.get(`/svc-wallets/encryption-history?externalUserId=${user}&publicKey=${address}`);
  return field<{ id: string }[]>(reply, 'data')[0]?.id ?? '';
}

/** A body of `executeSponsoredTransaction`. */
export async function signedTransfer(app: App, owner: Owner, amount: bigint): Promise<Signed> {
  const typedData = (await app.prepare(owner.address, [transferOf(USDC, recipient, amount)])) as TypedData;
  return { publicKey: owner.address, typedData, userSignature: owner.sign(typedData) };
}

export const SOLANA_WALLET = '9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM';

/** In the calldata of a burn. */
const MAX_FEE_AT = 8;

/** A body of `createSolanaTransfer`. */
export async function signedBurn(app: App, owner: Owner, amount = '2', maxFee?: bigint): Promise<Signed> {
  const order = { publicKey: owner.address, recipient: SOLANA_WALLET, amount };
  const calls = field<{ calldata: string[] }[]>(await app.post('/solana-transfers/quote', order), 'calls');
  if (maxFee !== undefined) calls[1]?.calldata.splice(MAX_FEE_AT, 1, String(maxFee));
  const typedData = (await app.prepare(owner.address, calls as never)) as TypedData;
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

export interface ExampleGifts {
  /** The hash of a USDC transfer of a wallet to the deposit address, credited to the organisation. */
  readonly deposit: string;
  /** With enough redeems for every example. */
  readonly gift: CreatedGift;
  readonly redeem: { readonly id: string };
  /** Of a link to its evidence. */
  readonly evidence: string;
  /** Whose links may end. */
  readonly unshared: { readonly id: string };
  /** Gifts to delete: each is taken out of the list. */
  readonly disposable: CreatedGift[];
}

const DEPOSITED = '800';
const DEPOSITED_RAW = 800_000_000n;
/** More than a suite sends, admitted or not. */
const DISPOSABLE = 80;
const MANY_TIMES = 1_000;

async function prepareGifts(app: App, sandbox: Sandbox, owner: Owner, recipient: string): Promise<ExampleGifts> {
  const deposit = await makeDeposit(app, sandbox, owner);
  const limits = { amount: 0.01, maxRedeems: MANY_TIMES, maxRedeemsPerUser: MANY_TIMES };
  const gift = await app.gift(limits);
  const newRedeem = async () => {
    const body = { walletAddress: recipient, chain: 'starknet' };
    const redeemed = await app.post(`/gifts/claim/${gift.code}/redeem`, body);
    return bodyOf<{ giftRedeem: { id: string } }>(redeemed, 201).giftRedeem;
  };
  const [redeem, unshared] = [await newRedeem(), await newRedeem()];
  const shared = await app.post(`/gifts/history/redeems/${redeem.id}/evidence/links`, {});
  const { token: evidence } = bodyOf<{ token: string }>(shared, 201);
  const disposable = await Promise.all(Array.from({ length: DISPOSABLE }, () => app.gift()));
  return { deposit, gift, redeem, evidence, unshared, disposable };
}

async function makeDeposit(app: App, sandbox: Sandbox, owner: Owner): Promise<string> {
  await sandbox.faucet(owner.address, 'USDC', DEPOSITED);
  const depositAddress = field<string>(await app.get('/organization'), 'depositAddress');
  const transactionHash = hashOf(await app.execute(owner, [transferOf(USDC, depositAddress, DEPOSITED_RAW)]));
  const reply = await app.post('/organization/deposits', { transactionHash, chain: 'STARKNET' });
  if (reply.status !== 200) throw new Error(reply.text);
  return transactionHash;
}

export interface ExamplePurchases {
  /** A recorded body of `createSkuPurchase`. */
  readonly body: PurchaseBody;
  readonly id: string;
  /** The chain does not know their payments, so they stay PENDING. */
  readonly pending: string[];
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
const FUNDS = '28';
/** More than a suite cancels and refunds. Each pending one is looked up on the chain again and again. */
const PENDING = 8;
const REFUNDABLE = 40;
/** A cent, so that many can be given back. */
export const PAID_RAW = 10_000n;

async function preparePurchases(service: AnyService, app: App, buyer: Owner): Promise<ExamplePurchases> {
  await service.sandbox.faucet(buyer.address, 'USDC', FUNDS);
  const paymentAddress = field<string>(await app.get('/config'), 'paymentAddress');
  const transactionHash = hashOf(await app.execute(buyer, [transferOf(USDC, paymentAddress, PRICE_RAW)]));
  const payment = { transactionHash, walletAddress: buyer.address, chain: 'STARKNET', token: 'USDC' };
  const body = { ...SERVICE, ...payment };
  const id = field<string>(await app.post('/sku-purchases', body), 'id');
  const organizationId = field<string>(await app.get('/organization'), 'id');
  const hash = hashOf(await app.execute(buyer, [transferOf(USDC, paymentAddress, PAID_RAW)]));
  const [payer, place] = [
    BigInt(buyer.address),
    { paymentAddress: BigInt(paymentAddress), tokenAddress: BigInt(USDC) },
  ];
  const several = (what: Pick<StoredPurchase, 'status' | 'hash'>, length: number) =>
    Promise.all(
      Array.from({ length }, () =>
        service.purchase({ organizationId, buyer: payer, ...place, paid: PAID_RAW, ...what }),
      ),
    );
  return {
    body,
    id,
    pending: await several({ status: 'PENDING' }, PENDING),
    refundable: await several({ status: 'FAILED', hash }, REFUNDABLE),
  };
}

export interface ExampleSettings {
  readonly webhook: string;
  readonly event: string;
  readonly delivery: string;
  readonly ownSku: string;
  readonly disposable: { readonly webhooks: string[]; readonly keys: string[]; readonly skus: string[] };
}

/** More than a suite deletes in a row, within the limits of an organisation. */
const OF_EACH = 4;

/** A reserved name: nothing listens there. */
export const WEBHOOK_URL = 'https://hooks.tienda.example/svc';

async function prepareSettings(app: App): Promise<ExampleSettings> {
  const { id } = await app.webhook(WEBHOOK_URL);
  const tested = (await app.post(`/organization/webhooks/${id}/test`, {})).body as { id: string; eventId: string };
  return {
    webhook: id,
    event: tested.eventId,
    delivery: tested.id,
    ownSku: await app.sku(),
    disposable: {
      webhooks: await several(async () => (await app.webhook(WEBHOOK_URL)).id),
      keys: await several(async () => idOf(await app.post('/organization/keys', { kind: 'public' }))),
      skus: await several(() => app.sku()),
    },
  };
}

const several = (make: () => Promise<string>): Promise<string[]> => Promise.all(Array.from({ length: OF_EACH }, make));
const idOf = (reply: Reply): string => bodyOf<{ id: string }>(reply, 201).id;

export interface Example {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: string;
  readonly body?: unknown;
}

const ADDRESS = '0x03f0f1a8f5cd7c8b6a4c8f0f6dbe15b0a3f5f5e0a2c1f4c2a7b8d9e0f1a2b3c4';

type ForPages = 'sign-in' | 'recipient' | 'session' | 'operator';
type KeyedOperation = {
  [K in keyof typeof endpoints]: (typeof endpoints)[K]['access'] extends ForPages ? never : K;
}[keyof typeof endpoints];
const isKeyed = ({ access }: Endpoint) => !['sign-in', 'recipient', 'session', 'operator'].includes(access);

/** A request that succeeds, however often it is sent. A new endpoint does not compile without one. */
const examples: Record<KeyedOperation, (data: ExampleData) => Example> = {
  getWalletByUser: ({ user }) => ({ query: `externalUserId=${user}` }),
  prepareWalletCreation: ({ owner }) => ({
    body: { chain: 'STARKNET', publicKey: owner.address, starkKeyPubAX: owner.publicKey },
  }),
  createWallet: ({ signed }) => ({ body: signed.creation }),
  updateEncryptionDetails: ({ user, owner }) => ({
    body: { externalUserId: user, newEncryptedPrivateKey: 'ciphertext', publicKey: owner.address },
  }),
  listEncryptionHistory: ({ user, upgradeable }) => ({
    query: `externalUserId=${user}&publicKey=${upgradeable.address}`,
  }),
  restoreEncryption: ({ user, upgradeable, replaced }) => ({
    body: { externalUserId: user, publicKey: upgradeable.address, id: replaced },
  }),
  purgeEncryptionHistory: ({ user, owner }) => ({ query: `externalUserId=${user}&publicKey=${owner.address}` }),
  getTokenBalance: ({ user }) => ({ query: `chainToken=USDC&chain=STARKNET&externalUserId=${user}` }),
  recoverCredential: ({ user }) => ({ query: `externalUserId=${user}` }),
  listWallets: ({ user }) => ({ query: `search=${user}` }),
  getWalletById: ({ walletId }) => ({ params: { id: walletId } }),
  getWalletChainState: ({ walletId }) => ({ params: { id: walletId } }),
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
  quoteSolanaTransfer: ({ owner }) => ({
    body: { publicKey: owner.address, recipient: SOLANA_WALLET, amount: '2' },
  }),
  createSolanaTransfer: ({ signed }) => ({ body: signed.toSolana }),
  getSolanaTransfer: ({ toSolana }) => ({ params: { id: toSolana } }),
  listSolanaTransfers: ({ owner }) => ({ query: `walletAddress=${owner.address}` }),
  syncOnChain: ({ owner }) => ({ body: { walletAddress: owner.address } }),
  getTransaction: ({ transfer }) => ({ params: { hashOrId: transfer } }),
  getTransactionStatus: ({ transfer }) => ({ params: { hash: transfer } }),
  listEnvironmentTransactions: ({ user }) => ({ query: `externalUserId=${user}` }),
  getTransactionDetails: ({ transfer }) => ({ params: { hashOrId: transfer } }),

  listSkus: () => ({}),
  getSku: () => ({ params: { id: 'pase-recarga' } }),
  checkSkuReference: () => ({ params: { id: 'pase-recarga' }, body: { reference: 'IMDM28417936' } }),
  createSkuPurchase: ({ purchases }) => ({ body: purchases.body }),
  getSkuPurchase: ({ purchases }) => ({ params: { id: purchases.id } }),
  listSkuPurchases: () => ({}),
  cancelSkuPurchase: ({ purchases }) => ({ params: { id: inTurn(purchases.pending) } }),
  refundSkuPurchase: ({ purchases }) => ({ params: { id: inTurn(purchases.refundable) }, body: {} }),
  getProviderStatus: () => ({}),
  getUsdAmount: () => ({ query: 'currencyAmount=185&currency=MXN' }),

  createGift: () => ({ body: giftBody() }),
  createGiftsBulk: () => ({ body: { name: 'Navidad', amount: 0.5, recipients: [{ email: 'ana@example.com' }] } }),
  listGifts: () => ({}),
  getGiftUsage: () => ({}),
  listGiftRedeems: () => ({}),
  listCampaigns: () => ({}),
  getGiftRedeem: ({ gifts }) => ({ params: { id: gifts.redeem.id } }),
  getRedeemEvidence: ({ gifts }) => ({ params: { id: gifts.redeem.id } }),
  shareRedeemEvidence: ({ gifts }) => ({ params: { id: gifts.redeem.id }, body: {} }),
  revokeEvidenceLinks: ({ gifts }) => ({ params: { id: gifts.unshared.id } }),
  getSharedEvidence: ({ gifts }) => ({ params: { token: gifts.evidence } }),
  getGift: ({ gifts }) => ({ params: { id: gifts.gift.id } }),
  updateGift: ({ gifts }) => ({ params: { id: gifts.gift.id }, body: { name: 'Navidad 2026' } }),
  deleteGift: ({ gifts }) => ({ params: { id: gifts.disposable.shift()?.id ?? 'none' } }),
  getClaimChallenge: () => ({}),
  claimGift: ({ gifts }) => ({ params: { code: gifts.gift.code } }),
  redeemGift: ({ gifts }) => ({
    params: { code: gifts.gift.code },
    body: { walletAddress: ADDRESS, chain: 'starknet' },
  }),
  getRedeemStatus: ({ gifts }) => ({ params: { code: gifts.gift.code, redeemId: gifts.redeem.id } }),

  getOrganization: () => ({}),
  listLedger: () => ({}),
  listHolds: () => ({}),
  createDeposit: ({ gifts }) => ({ body: { transactionHash: gifts.deposit, chain: 'STARKNET' } }),
  getOverview: () => ({ query: 'range=7d' }),
  listRequests: () => ({ query: 'status=2xx' }),
  getConfig: () => ({}),

  getSettings: () => ({}),
  updateSettings: () => ({ body: { notificationEmail: 'avisos@tienda.example' } }),
  checkToken: () => ({ body: { token: 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJ1c2VyLTEifQ.c2lnbmF0dXJl' } }),
  getBranding: () => ({}),
  updateBranding: () => ({ body: { name: 'Tienda Azul', color: '#0b5a9d' } }),
  getSponsorship: ({ user }) => ({ query: `externalUserId=${user}` }),
  updateSponsorship: () => ({ body: { userDailyStrk: '1000000' } }),
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
  streamEvents: () => ({ query: 'seconds=0' }),

  createTreasury: ({ owner }) => ({
    body: { name: 'Caja', signers: [{ name: 'Ana', publicKey: owner.publicKey }], threshold: 1 },
  }),
  listTreasuries: () => ({}),
  getTreasury: ({ treasuries }) => ({ params: { id: treasuries.treasury.id } }),
  getTreasuryPolicy: ({ treasuries }) => ({ params: { id: treasuries.treasury.id } }),
  changeTreasuryPolicy: ({ treasuries, owner }) => ({
    params: { id: treasuries.treasury.id },
    body: { signers: [{ name: 'Luis', publicKey: owner.publicKey }] },
  }),
  createTreasuryProposal: ({ treasuries }) => ({
    params: { id: treasuries.treasury.id },
    body: { transfers: [{ token: 'USDC', recipient, amount: '1' }] },
  }),
  listTreasuryProposals: ({ treasuries }) => ({ params: { id: treasuries.treasury.id } }),
  getTreasuryProposal: ({ treasuries: { treasury, signed } }) => ({
    params: { id: treasury.id, proposalId: signed.id },
  }),
  signTreasuryProposal: ({ treasuries: { treasury, signed, signature } }) => ({
    params: { id: treasury.id, proposalId: signed.id },
    body: signature,
  }),
  executeTreasuryProposal: ({ treasuries: { treasury, ready } }) => ({
    params: { id: treasury.id, proposalId: ready.id },
  }),
  cancelTreasuryProposal: ({ treasuries: { treasury, unwanted } }) => ({
    params: { id: treasury.id, proposalId: unwanted.id },
  }),
};

export const exampleOf = (endpoint: Endpoint, data: ExampleData): Example =>
  examples[endpoint.operationId as KeyedOperation](data);

/** Those that keys open, or that need none. */
export const keyedEndpoints: readonly Endpoint[] = allEndpoints.filter(isKeyed);
export const builtEndpoints: readonly Endpoint[] = keyedEndpoints.filter((endpoint) => !endpoint.planned);
export const plannedEndpoints: readonly Endpoint[] = allEndpoints.filter((endpoint) => endpoint.planned);

export const successOf = ({ answers }: Endpoint): number => Number(Object.keys(answers)[0]);

export function sendExample(
  baseUrl: string,
  endpoint: Endpoint,
  headers: Record<string, string>,
  example: Example,
): Promise<Reply> {
  const request: Send = { method: endpoint.method, headers, ...('body' in example && { body: example.body }) };
  return send(baseUrl + pathOf(endpoint, example), request);
}

function pathOf(endpoint: Endpoint, { params = {}, query }: Example): string {
  const path = endpoint.path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ''));
  return query === undefined ? path : `${path}?${query}`;
}

/** Longer than any identifier may be. */
const TOO_LONG = 'x'.repeat(129);

/** The example with one fault, where its endpoint has something that can be wrong. */
export function badExampleOf(endpoint: Endpoint, example: Example): Example {
  const { params, ...rest } = example;
  if (endpoint.body) return { ...example, body: [] };
  if (params) {
    return { ...rest, params: Object.fromEntries(Object.keys(params).map((name) => [name, TOO_LONG])) };
  }
  const { required = [] } = (endpoint.query ?? {}) as { required?: readonly string[] };
  return { query: required.length === 0 ? 'page=0&limit=0&range=never' : '' };
}
