import { classes } from '@svc/starknet';
import type { Database } from '@svc/store';
import { storeGifts } from '../../../packages/server/src/gifts/create-gifts.ts';
import { credit } from '../../../packages/server/src/ledger/ledger.ts';
import { type Headers, newCode, Owner } from '../../support/app.ts';
import { keyHeaders, send, userToken } from '../../support/client.ts';
import {
  type ExampleData,
  prepareExampleData,
  signedBurn,
  signedTransfer,
  signedUpgrade,
} from '../../support/examples.ts';
import { TestService } from '../../support/service.ts';
import { USDC } from '../../support/starknet-client.ts';
import { prepareTreasury } from '../../support/treasuries.ts';

export interface RefusalSetup {
  readonly data: ExampleData;
  readonly callers: Callers;
  /** A process where the key has reached its limit. */
  readonly exhaustedUrl: string;
  /** A process that wants proofs of work after one unknown code. */
  readonly guessedUrl: string;
  /** The code of a gift of a live chain that is not configured any more. */
  readonly strandedCode: string;
  /** The id of a refundable purchase of such a chain. */
  readonly strandedPurchase: string;
  readonly thrifty: Thrifty;
  /** A wallet whose deployment was reverted. */
  readonly failed: { readonly owner: Owner; readonly hash: string };
  readonly db: Database;
  stop(): Promise<void>;
}

/** An organisation that sponsors no gas any more, and transfers alone. */
export interface Thrifty {
  readonly headers: Headers;
  readonly creation: object;
  readonly transfer: object;
  readonly approval: object;
  readonly approve: object;
  readonly upgrade: object;
  readonly burn: object;
  /** A treasury, and a proposal of it to approve that is ready. */
  readonly treasury: { readonly id: string; readonly proposalId: string };
}

interface Callers {
  readonly keys: Headers;
  readonly forged: Headers;
  /** The token of the user of the example data. */
  readonly user: Headers;
  readonly badToken: Headers;
  readonly stranger: Headers;
  /** In an organisation whose key set cannot be read. */
  readonly unreadable: Headers;
  /** For live chains, which are not configured. */
  readonly production: Headers;
  readonly others: Headers;
}

/** The jobs of the first process are enough. */
const API = { SVC_ROLE: 'api' };

export async function prepareRefusals(): Promise<RefusalSetup> {
  const service = await TestService.hosted({ ALLOW_LOOPBACK_URLS: 'on' });
  try {
    const data = await prepareExampleData(service);
    const callers = await callersOf(service, data.user);
    return {
      data,
      callers,
      exhaustedUrl: await exhausted(service, callers.keys),
      guessedUrl: (await service.anotherHosted({ ...API, UNKNOWN_CODES_TOTAL_PER_MINUTE: '1' })).credentials.baseUrl,
      strandedCode: await strandedGift(service),
      strandedPurchase: await strandedPurchase(service),
      thrifty: await thriftyOrganization(service),
      failed: await failedWallet(data),
      db: service.db,
      stop: () => service.stop(),
    };
  } catch (error) {
    await service.stop();
    throw error;
  }
}

async function callersOf(service: TestService, user: string): Promise<Callers> {
  const { server } = service;
  const { publicKey } = server.credentials;
  const token = await userToken(server, user);
  const withToken = (value: string, key = publicKey) => ({ 'x-api-key': key, authorization: `Bearer ${value}` });
  const unreadable = await service.organization({ name: 'No key set' });
  // Nothing listens there.
  await service.changeSettings(unreadable.id, { jwks_url: 'http://127.0.0.1:2/jwks.json' });
  return {
    keys: keyHeaders(server),
    forged: { 'x-api-key': `pk_dev_${'a'.repeat(36)}`, authorization: `Bearer sk_dev_${'a'.repeat(36)}` },
    user: withToken(token),
    badToken: withToken(`${token.slice(0, -8)}AAAAAAAA`),
    stranger: withToken(await userToken(server, 'stranger')),
    unreadable: withToken(token, unreadable.keys.publicKey),
    production: (await service.keys('production')).headers,
    others: (await service.organization({ name: 'Others' })).headers,
  };
}

async function exhausted(service: TestService, headers: Headers): Promise<string> {
  const limits = { RATE_LIMIT_PER_MINUTE: '1', CLAIM_LIMIT_PER_MINUTE: '1' };
  const { baseUrl } = (await service.anotherHosted({ ...API, ...limits })).credentials;
  await send(`${baseUrl}/organization`, { headers });
  return baseUrl;
}

const strandedPurchase = (service: TestService): Promise<string> =>
  service.purchase({ status: 'FAILED', environment: 'production' });

async function failedWallet({ app, sandbox, user }: ExampleData): Promise<RefusalSetup['failed']> {
  const owner = new Owner();
  await sandbox.orderFault({ kind: 'revert', reason: 'out of luck' });
  const { txHash } = await app.createWallet(owner, user);
  return { owner, hash: String(txHash) };
}

async function thriftyOrganization(service: TestService): Promise<Thrifty> {
  const app = await service.organization({ name: 'Thrifty' });
  const owner = new Owner(classes.svcSessions);
  await app.createWallet(owner, 'ana');
  const call = { contractAddress: USDC, entrypoint: 'approve', calldata: ['0xb0b', '0x1', '0x0'] };
  const approve = { publicKey: owner.address, calls: [call] };
  const typedData = await app.prepare(owner.address, [call]);
  const signed = {
    creation: await app.creation(new Owner(), 'ana'),
    transfer: await signedTransfer(app, owner, 0n),
    approval: { publicKey: owner.address, typedData, userSignature: owner.sign(typedData) },
    upgrade: await signedUpgrade(app, owner),
    burn: await signedBurn(app, owner),
  };
  const { treasury, ready } = await prepareTreasury(app, USDC, '0xb0b');
  await app.patch('/organization/sponsorship', { dailyStrk: '0', allowedEntrypoints: ['transfer'] });
  return { headers: app.headers, approve, treasury: { id: treasury.id, proposalId: ready.id }, ...signed };
}

const DOLLAR = 1_000_000n;

/** A gift of production without a live chain; answers its code. */
export async function strandedGift(service: TestService): Promise<string> {
  const { db } = service;
  const { id: organizationId } = await service.organization({ name: 'Stranded' });
  const owner = { organizationId, environment: 'production' } as const;
  await credit(db, { ...owner, type: 'GRANT', amount: 10n * DOLLAR, reference: 'stranded' });
  const [code, limits] = [newCode(), { maxRedeems: 1, maxRedeemsPerUser: 1, isActive: true, cctpFast: false }];
  const kinds = { name: 'Stranded', type: 'GIFT_CARD', recipientEmail: null, campaignName: null } as const;
  const costs = { amount: DOLLAR, gas: 0n, bridge: 0n };
  const gift = { code, ...kinds, ...limits, ...costs, startsAt: new Date(0), expiresAt: null };
  await db.tx((tx) => storeGifts(tx, owner, [gift]));
  return code;
}
