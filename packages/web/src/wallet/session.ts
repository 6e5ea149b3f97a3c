import {
  type Client,
  createClient,
  deployRecipientWallet,
  getWallet,
  type Recipient,
  type RecipientSession,
  SvcApiError,
  signInWithCode,
  signInWithPasskey,
  verifyEncryptKey,
  type Wallet,
} from '@svc/sdk';
import { SESSION_KEY } from '../claim/make-wallet.ts';
import type { KeyValueStorage } from '../claim/saved-redeem.ts';
import { type DeviceWallet, deviceWallets, rememberWallet } from '../claim/saved-wallet.ts';

/** Of this tab. The token reads and prepares; it cannot sign, so it cannot spend. */
export interface Session {
  readonly token: string;
  readonly expiresAt: string;
  readonly recipient: Recipient;
}

export interface Opened {
  readonly session: Session;
  /** In memory only, for one action; for as long as the page is open after a recovery code. */
  readonly encryptKey: string;
}

/** `pk_none` is never sent: signing in needs no key. */
export const openClient = (baseUrl: string): Client => createClient({ baseUrl, publicKey: 'pk_none', maxRetries: 1 });

export function clientOf(baseUrl: string, { token, recipient }: Session): Client {
  // The sandbox's clock can differ from the device's. Pages may ask their own host only.
  const nodeUrl = baseUrl.replace(/\/v1$/, '/sandbox/starknet/rpc');
  return createClient({ baseUrl, publicKey: recipient.apiPublicKey, bearerToken: token, nodeUrl, maxRetries: 2 });
}

export function loadSession(): Session | undefined {
  try {
    const saved = JSON.parse(sessionStorage.getItem(SESSION_KEY) ?? 'null') as Session | null;
    return saved && Date.parse(saved.expiresAt) > Date.now() ? saved : undefined;
  } catch {
    return undefined;
  }
}

export function saveSession(session: Session | undefined): void {
  try {
    if (session) sessionStorage.setItem(SESSION_KEY, JSON.stringify(session));
    else sessionStorage.removeItem(SESSION_KEY);
  } catch {
    // A tab without storage asks for the passkey again.
  }
}

const sessionOf = ({ token, expiresAt, recipient }: RecipientSession): Session => ({ token, expiresAt, recipient });

export async function openWithPasskey(
  baseUrl: string,
  storage: KeyValueStorage,
  known?: DeviceWallet,
): Promise<Opened> {
  const credentialId = known?.credentialId;
  const answer = await signInWithPasskey(openClient(baseUrl), credentialId === undefined ? {} : { credentialId });
  const session = sessionOf(answer);
  remember(storage, session, { credentialId: answer.credentialId });
  return { session, encryptKey: answer.encryptKey };
}

export async function openWithCode(baseUrl: string, storage: KeyValueStorage, recoveryCode: string): Promise<Opened> {
  const answer = await signInWithCode(openClient(baseUrl), { recoveryCode });
  const session = sessionOf(answer);
  remember(storage, session, {});
  return { session, encryptKey: answer.encryptKey ?? '' };
}

/** A wallet with a passphrase signs in by itself; every payment asks for the passphrase. */
export async function signInAgain(baseUrl: string, { recoverySecret }: DeviceWallet): Promise<Session> {
  if (recoverySecret === undefined) throw new Error('This wallet has a passkey.');
  return sessionOf(await signInWithCode(openClient(baseUrl), { recoverySecret }));
}

export async function openWithPassphrase(baseUrl: string, session: Session, passphrase: string): Promise<Opened> {
  await verifyEncryptKey({ wallet: await ownWallet(clientOf(baseUrl, session), session), encryptKey: passphrase });
  return { session, encryptKey: passphrase };
}

export const ownWallet = (client: Client, { recipient }: Pick<Session, 'recipient'>): Promise<Wallet> =>
  getWallet(client, { externalUserId: recipient.id });

/** For a payment: a wallet whose deployment failed is deployed first. */
export async function payingWallet(client: Client, { session, encryptKey }: Opened): Promise<Wallet> {
  const wallet = await ownWallet(client, session);
  if (!wallet.isDeployed) {
    await deployRecipientWallet(client, { externalUserId: session.recipient.id, wallet, encryptKey });
  }
  return wallet;
}

export const nameOfOrganization = ({ brand, orgName }: Recipient): string => brand?.name ?? orgName;

function remember(storage: KeyValueStorage, { recipient }: Session, opener: Partial<DeviceWallet>): void {
  const known = deviceWallets(storage).find(({ id }) => id === recipient.id);
  const orgName = nameOfOrganization(recipient);
  rememberWallet(storage, { ...known, id: recipient.id, address: recipient.walletAddress, orgName, ...opener });
}

/** The token is over, or its wallet was deleted: sign in again. */
export const isSignedOut = (error: unknown): boolean =>
  error instanceof SvcApiError && (error.status === 401 || error.code === 'wallet_not_found');
