import { type Headers, Owner } from '../../support/app.ts';
import { keyHeaders, send, userToken } from '../../support/client.ts';
import { prepareExampleData as prepareWorld, type ExampleData as World } from '../../support/examples.ts';
import { storePurchase } from '../../support/purchases.ts';
import { changeSettings, newKeys, newOrganization, startService, type TestService } from '../../support/service.ts';
import { strandedGift } from './stranded-gift.ts';

/** Everything that has to be there for every endpoint to succeed, and to refuse in every way that it knows. */
export interface Stage {
  readonly world: World;
  readonly callers: Callers;
  /** A process where the key has no request left. */
  readonly exhaustedUrl: string;
  /** The code of a gift for a live chain, of which there is none any more. */
  readonly strandedCode: string;
  /** The same of a purchase that is due for refund: its id. */
  readonly strandedPurchase: string;
  /** A wallet whose deployment was reverted. */
  readonly failed: { readonly owner: Owner; readonly hash: string };
  stop(): Promise<void>;
}

interface Callers {
  readonly keys: Headers;
  /** Keys that nobody has. */
  readonly forged: Headers;
  /** The user's token, for whom everything of the world is. */
  readonly user: Headers;
  /** The same with a signature that is not right. */
  readonly badToken: Headers;
  /** Another user of the organisation. */
  readonly stranger: Headers;
  /** The user's token, in an organisation whose key set cannot be read. */
  readonly unreadable: Headers;
  /** Keys for the live chains, of which there are none. */
  readonly production: Headers;
  /** Keys of another organisation. */
  readonly others: Headers;
}

export async function prepareStage(): Promise<Stage> {
  const service = await startService({ ALLOW_LOOPBACK_URLS: 'on' });
  try {
    const world = await prepareWorld(service);
    const callers = await callersOf(service, world.user);
    return {
      world,
      callers,
      exhaustedUrl: await exhausted(service, callers.keys),
      strandedCode: await strandedGift(service),
      strandedPurchase: await strandedPurchase(service),
      failed: await failedWallet(world),
      stop: () => service.stop(),
    };
  } catch (error) {
    await service.stop();
    throw error;
  }
}

async function callersOf({ server, database: { db } }: TestService, user: string): Promise<Callers> {
  const { publicKey, organizationId } = server.credentials;
  const token = await userToken(server, user);
  const withToken = (value: string, key = publicKey) => ({ 'x-api-key': key, authorization: `Bearer ${value}` });
  const unreadable = await newOrganization(db, 'No key set');
  // Nothing listens there.
  await changeSettings(db, unreadable, 'development', { jwks_url: 'http://127.0.0.1:2/jwks.json' });
  return {
    keys: keyHeaders(server),
    forged: { 'x-api-key': `pk_dev_${'a'.repeat(36)}`, authorization: `Bearer sk_dev_${'a'.repeat(36)}` },
    user: withToken(token),
    badToken: withToken(`${token.slice(0, -8)}AAAAAAAA`),
    stranger: withToken(await userToken(server, 'stranger')),
    unreadable: withToken(token, (await newKeys(db, unreadable, 'development')).publicKey),
    production: (await newKeys(db, organizationId, 'production')).headers,
    others: (await newKeys(db, await newOrganization(db, 'Others'), 'development')).headers,
  };
}

async function exhausted(service: TestService, headers: Headers): Promise<string> {
  const { baseUrl } = (await service.another({ RATE_LIMIT_PER_MINUTE: '1', CLAIM_LIMIT_PER_MINUTE: '1' })).credentials;
  await send(`${baseUrl}/organization`, { headers });
  return baseUrl;
}

function strandedPurchase({ server, database: { db } }: TestService): Promise<string> {
  const { organizationId } = server.credentials;
  const place = { organizationId, environment: 'production', buyer: '0x1', paymentAddress: '0x2' } as const;
  return storePurchase(db, { ...place, status: 'FAILED' });
}

async function failedWallet({ app, sandbox, user }: World): Promise<Stage['failed']> {
  const owner = new Owner();
  await sandbox.orderFault({ kind: 'revert', reason: 'out of luck' });
  const { txHash } = await app.createWallet(owner, user);
  return { owner, hash: String(txHash) };
}
