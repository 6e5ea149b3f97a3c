import { classes } from '@svc/starknet';
import { App, field, type Headers, hashOf, Owner, transferOf } from './app.ts';
import { keyHeaders } from './client.ts';
import { type GiftWorld, prepareGifts } from './gift-world.ts';
import { type PurchaseWorld, preparePurchases } from './purchase-world.ts';
import { Sandbox } from './sandbox.ts';
import { USDC } from './sandbox-client.ts';
import type { TestService } from './service.ts';
import { prepareSettings, type SettingsWorld } from './settings-world.ts';

/** A body that is right in everything, its signature included. */
export type Signed = Record<string, unknown> & { readonly typedData: TypedData };
export type TypedData = Record<string, unknown> & { readonly message: Record<string, unknown> };

/**
 * What the examples speak of: one user with three wallets, an organisation with gifts, purchases and webhooks, and things that are
 * signed but not sent.
 */
export interface World {
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
  readonly gifts: GiftWorld;
  readonly purchases: PurchaseWorld;
  readonly settings: SettingsWorld;
  /** Each can be sent again and answers the same. */
  readonly signed: Readonly<Record<'creation' | 'execution' | 'upgrade', Signed>>;
}

export const recipient = '0xb0b';
export const transferred = '1.5';
const TRANSFERRED_RAW = 1_500_000n;

export interface WorldOptions {
  readonly headers?: Headers;
  readonly user?: string;
}

export async function prepareWorld(
  { server, database }: Pick<TestService, 'server' | 'database'>,
  options: WorldOptions = {},
): Promise<World> {
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
