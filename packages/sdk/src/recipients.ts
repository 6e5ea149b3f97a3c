import { type AnswerOf, type BodyOf, type endpoints, hex64, type Recipient, type Wallet } from '@svc/protocol';
import { toHex } from '@svc/starknet';
import type { BearerToken, Client } from './client/client.ts';
import { SvcPasskeyError } from './client/errors.ts';
import { request } from './client/request.ts';
import type { SvcWallet } from './client/values.ts';
import { withProof } from './gift-claims.ts';
import { addEncryptKey } from './keys/change-encrypt-key.ts';
import { openWalletKey, sealProven } from './keys/seal.ts';
import { newRecoveryCode, readRecoveryCode, requireStrongEncryptKey } from './keys/secrets.ts';
import { assertPasskey, createSignInPasskey } from './passkeys/passkeys.ts';
import { accountOf, deployment, newAccount, padAddress, signCreation, signPrepared, walletClassOf } from './wallets.ts';

type Options = AnswerOf<typeof endpoints.getRecipientWalletOptions>;

export interface RecipientCode {
  /** Of the gift: the credential. */
  readonly code: string;
}

/**
 * Begins a wallet for a recipient who has none. Call it before the user presses the button: browsers create passkeys only right after a
 * gesture.
 *
 * @example
 * const { apiPublicKey, passkey } = await svc.recipients.getRecipientWalletOptions({ code: gift.code });
 */
export function getRecipientWalletOptions(client: Client, { code }: RecipientCode): Promise<Options> {
  return withProof(client, (proof) =>
    request<typeof endpoints.getRecipientWalletOptions>(client, {
      route: 'POST /gifts/claim/{code}/wallet/options',
      access: 'sign-in',
      params: { code },
      proof,
    }),
  );
}

export interface PrepareRecipientWalletParams extends RecipientCode {
  readonly options: Options;
  /** Opens the wallet in place of a passkey, where the device has none; sign in with the recovery code then. */
  readonly passphrase?: string | undefined;
}

/** Everything that creates the wallet. Nothing in it is secret: it may be stored, and sent again after a lost answer. */
export type NewRecipientWallet = BodyOf<typeof endpoints.createRecipientWallet>;

export interface PreparedRecipientWallet {
  readonly wallet: NewRecipientWallet;
  /** Set with a passphrase: show it once, to be written down. */
  readonly recoveryCode: string | undefined;
}

/**
 * Makes the key of a recipient's wallet, here, and encrypts it for a new passkey, which the user confirms twice, or for a passphrase and
 * a recovery code. Store the result before `createRecipientWallet`.
 *
 * @example
 * const options = await svc.recipients.getRecipientWalletOptions({ code: gift.code });
 * const { wallet: draft, recoveryCode } = await svc.recipients.prepareRecipientWallet({ code: gift.code, options, passphrase: 'tres gatos azules cantan' });
 */
export async function prepareRecipientWallet(
  client: Client,
  { code, options, passphrase }: PrepareRecipientWalletParams,
): Promise<PreparedRecipientWallet> {
  const owner = { ...client, publicKey: options.apiPublicKey };
  const signIn = await (passphrase === undefined ? passkeySignIn(owner, options) : codeSignIn(owner, passphrase));
  const classHash = await walletClassOf(owner, 'SVC');
  const account = newAccount(classHash, 'SVC', client.runtime);
  const { address, privateKey, publicKey: starkKey } = account;
  const publicKey = padAddress(address);
  const prepared = await withProof(client, (proof) =>
    request<typeof endpoints.prepareRecipientWallet>(client, {
      route: 'POST /gifts/claim/{code}/wallet/prepare',
      access: 'sign-in',
      params: { code },
      body: { publicKey, starkKeyPubAX: toHex(starkKey) },
      proof,
    }),
  );
  const signed = await signPrepared(owner, prepared, account);
  const { encryptKeys, fields, recoveryCode } = signIn;
  const encryptedPrivateKey = await sealProven({ privateKey, boundTo: address, encryptKeys }, client.runtime);
  const wallet = { publicKey, ...signed, encryptedPrivateKey, deploymentData: deployment(account), ...fields };
  return { wallet, recoveryCode };
}

interface SignInOfWallet {
  readonly encryptKeys: readonly string[];
  readonly fields: Pick<NewRecipientWallet, 'passkey' | 'deviceType' | 'recoverySecret'>;
  readonly recoveryCode: string | undefined;
}

async function passkeySignIn(client: Client, { passkey }: Options): Promise<SignInOfWallet> {
  if (!passkey) {
    const message = 'This service is reached by an address that has no passkeys. Use a passphrase.';
    throw new SvcPasskeyError('passkey_unavailable', message);
  }
  const { encryptKey, registration, deviceType } = await createSignInPasskey(passkey, client.runtime);
  const fields = { passkey: registration, ...(deviceType !== undefined && { deviceType }) };
  return { encryptKeys: [encryptKey], fields, recoveryCode: undefined };
}

async function codeSignIn(client: Client, passphrase: string): Promise<SignInOfWallet> {
  await requireStrongEncryptKey(client, passphrase);
  const recoveryCode = newRecoveryCode(client.runtime);
  const { encryptKey, recoverySecret } = await readRecoveryCode(recoveryCode);
  return { encryptKeys: [passphrase, encryptKey], fields: { recoverySecret }, recoveryCode };
}

export interface CreateRecipientWalletParams extends RecipientCode {
  readonly wallet: NewRecipientWallet;
  readonly idempotencyKey?: string | undefined;
}

export type RecipientWalletCreated = AnswerOf<typeof endpoints.createRecipientWallet>;

/**
 * Creates the wallet and pays the gift into it: both, or nothing. After a lost answer, send the same again; it is never paid twice. Then
 * `token` is null: sign in.
 *
 * @example
 * const options = await svc.recipients.getRecipientWalletOptions({ code: gift.code });
 * const { wallet: draft } = await svc.recipients.prepareRecipientWallet({ code: gift.code, options, passphrase: 'tres gatos azules cantan' });
 * const { token, giftRedeem } = await svc.recipients.createRecipientWallet({ code: gift.code, wallet: draft });
 */
export function createRecipientWallet(
  client: Client,
  { code, wallet, idempotencyKey }: CreateRecipientWalletParams,
): Promise<RecipientWalletCreated> {
  return withProof(client, (proof) =>
    request<typeof endpoints.createRecipientWallet>(client, {
      route: 'POST /gifts/claim/{code}/wallet',
      access: 'sign-in',
      params: { code },
      body: wallet,
      idempotencyKey,
      proof,
    }),
  );
}

export interface RecipientSession extends AnswerOf<typeof endpoints.signInRecipient> {
  /** Opens the wallet. Undefined after a sign-in with the secret alone. */
  readonly encryptKey: string | undefined;
}

export interface SignInWithPasskeyParams {
  /** Default: the browser offers its passkeys of this site. */
  readonly credentialId?: string | undefined;
}

/**
 * Has the user confirm with the passkey of a wallet. One confirmation signs in and opens the wallet; the service sees the signature only.
 *
 * @example
 * const { token, recipient: me, encryptKey: opener } = await svc.recipients.signInWithPasskey({ credentialId: passkeyOfRecipient });
 */
export async function signInWithPasskey(
  client: Client,
  { credentialId }: SignInWithPasskeyParams = {},
): Promise<RecipientSession & { readonly credentialId: string; readonly encryptKey: string }> {
  const { options } = await request<typeof endpoints.createRecipientChallenge>(client, {
    route: 'POST /recipient/sign-in/challenge',
    access: 'sign-in',
  });
  const { assertion, ...passkey } = await assertPasskey(options, credentialId);
  const session = await signIn(client, { passkey: assertion });
  return { ...session, ...passkey };
}

export type SignInWithCodeParams = { readonly recoveryCode: string } | { readonly recoverySecret: string };

/**
 * Signs in to a wallet with its recovery code, which opens it too, or with the secret that was derived from it, which does not.
 *
 * @example
 * const { token, recipient: me, encryptKey: opener } = await svc.recipients.signInWithCode({ recoveryCode });
 */
export async function signInWithCode(client: Client, params: SignInWithCodeParams): Promise<RecipientSession> {
  if ('recoverySecret' in params) {
    return { ...(await signIn(client, { recoverySecret: params.recoverySecret })), encryptKey: undefined };
  }
  const { recoverySecret, encryptKey } = await readRecoveryCode(params.recoveryCode);
  return { ...(await signIn(client, { recoverySecret })), encryptKey };
}

const signIn = (client: Client, body: BodyOf<typeof endpoints.signInRecipient>) =>
  request<typeof endpoints.signInRecipient>(client, { route: 'POST /recipient/sign-in', access: 'sign-in', body });

/**
 * Reads the recipient of the token.
 *
 * @example
 * const { walletAddress, hasRecoveryCode } = await svc.recipients.getRecipient(recipientToken);
 */
export function getRecipient(client: Client, bearerToken?: BearerToken): Promise<Recipient> {
  return request<typeof endpoints.getRecipient>(client, { route: 'GET /recipient', access: 'recipient', bearerToken });
}

export interface BackUpParams<W extends SvcWallet = SvcWallet> {
  readonly externalUserId: string;
  readonly wallet: W;
  /** Opens the wallet, now and afterwards. */
  readonly encryptKey: string;
}

/**
 * Adds a passkey, of this device or another, that opens the wallet and signs in to it.
 *
 * @example
 * const { wallet: backedUp } = await svc.recipients.addRecipientPasskey({ externalUserId: me.id, wallet: ownWallet, encryptKey: opener }, recipientToken);
 */
export async function addRecipientPasskey<W extends SvcWallet>(
  client: Client,
  { externalUserId, wallet, encryptKey }: BackUpParams<W>,
  bearerToken?: BearerToken,
): Promise<{ readonly wallet: W; readonly recipient: Recipient }> {
  const { options } = await request<typeof endpoints.createRecipientPasskeyChallenge>(client, {
    route: 'POST /recipient/passkeys/challenge',
    access: 'recipient',
    bearerToken,
  });
  const made = await createSignInPasskey(options, client.runtime);
  // First the key, then the sign-in: a passkey that signs in and opens nothing would look like a backup.
  const key = { externalUserId, wallet, encryptKey, newEncryptKey: made.encryptKey };
  const changed = await addEncryptKey(client, key, bearerToken);
  const recipient = await request<typeof endpoints.registerRecipientPasskey>(client, {
    route: 'POST /recipient/passkeys',
    access: 'recipient',
    body: { passkey: made.registration },
    bearerToken,
  });
  return { wallet: changed, recipient };
}

/**
 * Makes a recovery code that opens the wallet and signs in to it. One that was made before no longer signs in.
 *
 * @example
 * const { recoveryCode: written } = await svc.recipients.makeRecoveryCode({ externalUserId: me.id, wallet: ownWallet, encryptKey: opener }, recipientToken);
 */
export async function makeRecoveryCode<W extends SvcWallet>(
  client: Client,
  { externalUserId, wallet, encryptKey }: BackUpParams<W>,
  bearerToken?: BearerToken,
): Promise<{ readonly recoveryCode: string; readonly wallet: W; readonly recipient: Recipient }> {
  const recoveryCode = newRecoveryCode(client.runtime);
  const secrets = await readRecoveryCode(recoveryCode);
  const key = { externalUserId, wallet, encryptKey, newEncryptKey: secrets.encryptKey };
  const changed = await addEncryptKey(client, key, bearerToken);
  const recipient = await request<typeof endpoints.setRecoveryCode>(client, {
    route: 'POST /recipient/recovery-code',
    access: 'recipient',
    body: { recoverySecret: secrets.recoverySecret },
    bearerToken,
  });
  return { recoveryCode, wallet: changed, recipient };
}

/**
 * Deploys the account of a recipient's wallet where its deployment failed; the service pays the gas. Where it is deployed, or on its way,
 * nothing happens. The money is at the address in any case.
 *
 * @example
 * await svc.recipients.deployRecipientWallet({ externalUserId: me.id, wallet: ownWallet, encryptKey: opener }, recipientToken);
 */
export async function deployRecipientWallet(
  client: Client,
  { externalUserId, wallet, encryptKey }: BackUpParams,
  bearerToken?: BearerToken,
): Promise<void> {
  const privateKey = await openWalletKey({ wallet, encryptKey });
  const account = accountOf(privateKey, await walletClassOf(client, 'SVC'), 'SVC');
  const creation = { chain: 'STARKNET', walletType: 'SVC', account, classHash: undefined } as const;
  const signed = await signCreation(client, creation, bearerToken);
  const { publicKey, encryptedPrivateKey } = wallet;
  await request<typeof endpoints.createWallet>(client, {
    route: 'POST /svc-wallets',
    access: 'both',
    body: {
      ...{ externalUserId, chain: 'STARKNET', walletType: 'SVC', publicKey, encryptedPrivateKey },
      ...signed,
      deploymentData: deployment(account),
    },
    bearerToken,
  });
}

export interface ExportKeyParams {
  readonly wallet: Pick<Wallet, 'publicKey' | 'encryptedPrivateKey'>;
  readonly encryptKey: string;
}

/**
 * Opens a wallet's private key, in hexadecimal, to take it to another wallet app. It gives full control of the money.
 *
 * @example
 * const privateKey = await exportPrivateKey({ wallet, encryptKey });
 */
export async function exportPrivateKey(params: ExportKeyParams): Promise<string> {
  return `0x${hex64(await openWalletKey(params))}`;
}

export interface DeleteRecipientParams {
  /** The user has the key elsewhere: delete also with money in the wallet. */
  readonly exported?: boolean | undefined;
}

/**
 * Deletes what the service knows of the recipient: passkeys, recovery code, encrypted key. Throws `wallet_not_empty` where money would be
 * lost.
 *
 * @example
 * await svc.recipients.deleteRecipient({ exported: true }, recipientToken);
 */
export function deleteRecipient(
  client: Client,
  { exported }: DeleteRecipientParams = {},
  bearerToken?: BearerToken,
): Promise<AnswerOf<typeof endpoints.deleteRecipient>> {
  return request<typeof endpoints.deleteRecipient>(client, {
    route: 'DELETE /recipient',
    access: 'recipient',
    query: { exported },
    bearerToken,
  });
}
