import {
  type AnswerOf,
  type Chain,
  type ChainToken,
  type endpoints,
  hex64,
  type ListedWallet,
  type Wallet,
  type WalletChainState,
  type WalletType,
} from '@svc/protocol';
import { ADDRESS_BOUND, constructorCalldata, contractAddress, parseFelt, starkKey, toHex } from '@svc/starknet';
import type { BearerToken, Client, Runtime } from './client/client.ts';
import { type Config, getConfig } from './client/config.ts';
import { SvcConnectionError, SvcInputError, SvcKeyError, SvcTypedDataError } from './client/errors.ts';
import {
  type CursorList,
  type CursorPage,
  type CursorParams,
  eachByCursor,
  type PageOptions,
  toCursorList,
} from './client/pages.ts';
import { request } from './client/request.ts';
import { requireTrustedClass } from './client/trust.ts';
import { isObject, type SvcWallet } from './client/values.ts';
import { newPrivateKey } from './keys/cipher.ts';
import { openWalletKey, sealProven } from './keys/seal.ts';
import { newWalletSecrets, type PasskeyOptions } from './passkeys/passkeys.ts';
import { signExecution } from './signing/calls.ts';
import { chainIdOf, checkForSigning } from './signing/check.ts';

export interface CreateWalletParams {
  /** The user's PIN or passphrase. It never leaves this device; without it the wallet cannot be opened. */
  readonly encryptKey: string;
  /** Your id of the user. */
  readonly externalUserId: string;
  readonly chain: Chain;
  readonly walletType?: WalletType | undefined;
  /** The expected class. On live networks a class of your own must be in `trust.classHashes`. */
  readonly classHash?: string | undefined;
  /** Makes a passkey open the wallet; `encryptKey` stays as the backup. */
  readonly usePasskey?: boolean | undefined;
  /** Creates a further wallet where the user has one of this type already. */
  readonly additional?: boolean | undefined;
  /** With `usePasskey`. */
  readonly passkey?: PasskeyOptions | undefined;
}

export interface CreatedWallet extends SvcWallet {
  readonly walletType: WalletType;
  readonly classHash: string;
  /** Of the deployment; pass it to `waitForTransaction`. */
  readonly transactionHash: string;
  /** False: the user had this wallet already. */
  readonly isNew: boolean;
}

/**
 * Creates a wallet for the user. The service pays the gas. The key is generated and encrypted here; the service gets
 * only the ciphertext.
 *
 * A user who has a wallet of this type gets that one, also from two calls at the same moment. It must open with
 * `encryptKey`, otherwise the call fails with `decryption_failed` and changes nothing. `additional` creates a further
 * wallet instead. With `usePasskey` call `getWallet` first: the passkey is created before the service is asked.
 *
 * After a crash or a `SvcConnectionError`, call again: the service either has the wallet with its ciphertext, or
 * there is no wallet and nothing is lost.
 *
 * @example
 * const wallet = await svc.createWallet({ encryptKey: '481516', externalUserId: 'ana', chain: 'STARKNET' });
 */
export async function createWallet(
  client: Client,
  params: CreateWalletParams,
  bearerToken?: BearerToken,
): Promise<CreatedWallet> {
  const { externalUserId, chain, walletType = 'SVC' } = params;
  if (chain !== 'STARKNET') throw new SvcInputError('invalid_input', 'chain must be STARKNET: wallets stand there.');
  if (params.usePasskey && walletType === 'READY') {
    throw new SvcInputError('invalid_input', 'A READY wallet has no passkeys: leave usePasskey out, or take SVC.');
  }
  // First: browsers create a passkey only right after a user gesture.
  const { encryptKeys, details } = await newWalletSecrets(client, params);
  const classHash = await walletClassOf(client, walletType, params.classHash);
  const account = newAccount(classHash, walletType, client.runtime);
  const signed = await signCreation(client, { chain, walletType, account, classHash: params.classHash }, bearerToken);
  const { privateKey, address } = account;
  const encryptedPrivateKey = await sealProven({ privateKey, boundTo: address, encryptKeys }, client.runtime);
  const wallet = { publicKey: padAddress(address), encryptedPrivateKey, walletType };
  const ifNone = params.additional !== true;
  const stored = await request<typeof endpoints.createWallet>(client, {
    route: 'POST /svc-wallets',
    access: 'both',
    body: { externalUserId, chain, ...wallet, ...signed, ...details, ifNone, deploymentData: deployment(account) },
    bearerToken,
  });
  if (!isAddress(stored.publicKey, address)) return existingWallet(stored, params.encryptKey);
  return { ...wallet, classHash: toHex(classHash), transactionHash: stored.txHash, isNew: true };
}

const isAddress = (text: unknown, address: bigint) => {
  const value = parseFelt(String(text));
  return value.ok && value.value === address;
};

/**
 * The key that was generated here is not this wallet's. Opening the wallet proves that it is the user's, not one that
 * the service invented, and that the secret the user typed is the one to remember.
 */
async function existingWallet(
  stored: AnswerOf<typeof endpoints.createWallet>,
  encryptKey: string,
): Promise<CreatedWallet> {
  const { publicKey, encryptedPrivateKey, walletType, classHash, txHash } = stored;
  try {
    await openWalletKey({ encryptKey, wallet: { publicKey, encryptedPrivateKey } });
  } catch (cause) {
    const message = 'The user has a wallet already, and this encryptKey does not open it. Read it with getWallet.';
    throw new SvcKeyError('decryption_failed', message, { cause });
  }
  return { publicKey, encryptedPrivateKey, walletType, classHash, transactionHash: txHash, isNew: false };
}

export interface GetWalletParams {
  /** Your id of the user. */
  readonly externalUserId: string;
}

/**
 * Reads a user's newest wallet, with its encrypted private key. Throws SvcApiError `wallet_not_found` for a user
 * without a wallet.
 *
 * @example
 * const { publicKey, encryptedPrivateKey } = await svc.getWallet({ externalUserId: 'ana' });
 */
export function getWallet(
  client: Client,
  { externalUserId }: GetWalletParams,
  bearerToken?: BearerToken,
): Promise<Wallet> {
  return request<typeof endpoints.getWalletByUser>(client, {
    route: 'GET /svc-wallets/by-user',
    access: 'both',
    query: { externalUserId },
    bearerToken,
  });
}

export type GetTokenBalanceParams = {
  readonly chainToken: ChainToken;
  readonly chain: Chain;
} & (
  | { readonly walletPublicKey: string; readonly externalUserId?: undefined }
  | { readonly externalUserId: string; readonly walletPublicKey?: undefined }
);

/** `balance` is a whole number of the token's smallest units, of which 10^`decimals` make one token. */
export type TokenBalance = AnswerOf<typeof endpoints.getTokenBalance>;

/**
 * Reads a wallet's balance of one token, by the wallet's address or by its user.
 *
 * @example
 * const { balance, decimals } = await svc.getTokenBalance({ chain: 'STARKNET', chainToken: 'USDC', externalUserId: 'ana' });
 */
export async function getTokenBalance(
  client: Client,
  { chainToken, chain, walletPublicKey, externalUserId }: GetTokenBalanceParams,
  bearerToken?: BearerToken,
): Promise<TokenBalance> {
  if ((walletPublicKey === undefined) === (externalUserId === undefined)) {
    throw new SvcInputError('invalid_input', 'Pass either walletPublicKey or externalUserId.');
  }
  return await request<typeof endpoints.getTokenBalance>(client, {
    route: 'GET /svc-wallets/token-balance',
    access: 'both',
    query: { chainToken, chain, walletPublicKey, externalUserId },
    bearerToken,
  });
}

export interface RecoverCredentialParams {
  readonly externalUserId: string;
}

/** The passkey that opens a user's wallet; fields are `null` where the wallet has none. */
export type RecoveredCredential = AnswerOf<typeof endpoints.recoverCredential>;

/**
 * Reads which passkey opens a user's newest wallet, for a device that has not stored it. Opens nothing.
 *
 * @example
 * const { credentialId } = await svc.recoverCredential({ externalUserId: 'ana' });
 */
export function recoverCredential(
  client: Client,
  { externalUserId }: RecoverCredentialParams,
  bearerToken?: BearerToken,
): Promise<RecoveredCredential> {
  return request<typeof endpoints.recoverCredential>(client, {
    route: 'GET /svc-wallets/credential-recovery',
    access: 'both',
    query: { externalUserId },
    bearerToken,
  });
}

interface Creation {
  readonly chain: Chain;
  readonly walletType: WalletType;
  readonly account: NewAccount;
  /** Undefined for the service's own classes, which it finds by the address. */
  readonly classHash: string | undefined;
}

/** The owner signs an empty execution: it proves the key and allows nothing else. */
export async function signCreation(
  client: Client,
  { chain, walletType, account, classHash }: Creation,
  bearerToken?: BearerToken,
) {
  const { address, publicKey } = account;
  const { typedData, accountClassHash } = await request<typeof endpoints.prepareWalletCreation>(client, {
    route: 'POST /svc-wallets/prepare-creation',
    access: 'both',
    body: { chain, publicKey: padAddress(address), walletType, starkKeyPubAX: toHex(publicKey), classHash },
    bearerToken,
  });
  return signPrepared(client, { typedData, accountClassHash }, account);
}

/** The service must have prepared what was asked for, and nothing more. */
export async function signPrepared(
  client: Client,
  { typedData, accountClassHash }: AnswerOf<typeof endpoints.prepareWalletCreation>,
  { address, classHash, privateKey }: NewAccount,
) {
  requireClass(accountClassHash, classHash);
  const { execution, chainId } = await checkForSigning(client, typedData, { account: address, calls: [] });
  const signature = signExecution(execution, { account: address, chainId, privateKey });
  // The API requires a recovery bit; accounts verify by the x coordinate and ignore it.
  return { typedData, userSignature: { ...signature, recovery: 0 } };
}

export function deployment({ classHash, publicKey, calldata }: NewAccount) {
  return { class_hash: toHex(classHash), salt: toHex(publicKey), unique: '0x0', calldata: calldata.map(toHex) };
}

export const padAddress = (address: bigint) => `0x${hex64(address)}`;

interface NewAccount {
  readonly classHash: bigint;
  readonly privateKey: bigint;
  readonly publicKey: bigint;
  readonly address: bigint;
  readonly calldata: readonly bigint[];
}

/** A new key and the address of its account, computed here so that the service cannot choose it. */
export function newAccount(classHash: bigint, walletType: WalletType, runtime: Runtime): NewAccount {
  return accountOf(newPrivateKey(runtime), classHash, walletType);
}

export function accountOf(privateKey: bigint, classHash: bigint, walletType: WalletType): NewAccount {
  const publicKey = starkKey(privateKey);
  const calldata = constructorCalldata(walletType, publicKey);
  const address = contractAddress({ salt: publicKey, classHash, constructorCalldata: calldata, deployer: 0n });
  return { classHash, privateKey, publicKey, address, calldata };
}

/** The given class, or the service's current one of the type. On live networks it must be a trusted one. */
export async function walletClassOf(
  client: Client,
  walletType: WalletType,
  classHash?: string,
  isUpgrade = false,
): Promise<bigint> {
  const chosen = classHash === undefined ? await currentClassOf(client, walletType) : readClassHash(classHash);
  const chainId = await chainIdOf(client);
  requireTrustedClass(client.trust, { chainId, classHash: chosen, walletType, isUpgrade });
  return chosen;
}

async function currentClassOf(client: Client, walletType: WalletType): Promise<bigint> {
  const { walletClasses } = await getConfig(client);
  if (!Array.isArray(walletClasses) || !walletClasses.every(isObject)) throw invalidAnswer();
  const current = (walletClasses as Config['walletClasses']).find(
    (known) => known.walletType === walletType && known.current,
  );
  const named = current && parseClassHash(current.classHash);
  if (named !== undefined) return named;
  if (current) throw invalidAnswer();
  throw new SvcInputError('invalid_input', `This service has no class for wallets of the type ${walletType}.`);
}

function readClassHash(text: string): bigint {
  const classHash = parseClassHash(text);
  if (classHash !== undefined) return classHash;
  throw new SvcInputError('invalid_input', `${text} is not a class hash.`);
}

function parseClassHash(text: string): bigint | undefined {
  const value = typeof text === 'string' ? parseFelt(text) : undefined;
  return value?.ok && value.value > 0n && value.value < ADDRESS_BOUND ? value.value : undefined;
}

const invalidAnswer = () =>
  new SvcConnectionError(
    'invalid_answer',
    'The service does not name its wallet classes as agreed. Is baseUrl its address?',
  );

/** The service must prepare the requested class. */
export function requireClass(prepared: string, requested: bigint): void {
  const value = parseFelt(String(prepared));
  if (value.ok && value.value === requested) return;
  throw new SvcTypedDataError(
    'typed_data_mismatch',
    'The service prepared another wallet class than was asked for, and nothing was signed.',
  );
}

export interface WalletFilters {
  /** The beginning of your id of the user, or an address or id of a wallet. */
  readonly search?: string | undefined;
  readonly walletType?: ListedWallet['walletType'] | undefined;
  readonly isDeployed?: boolean | undefined;
  /** ISO 8601: created at this time or later. */
  readonly createdAfter?: string | undefined;
  readonly createdBefore?: string | undefined;
}

export interface ListWalletsParams extends WalletFilters, CursorParams {}

/**
 * Reads wallets of your environment, newest first, without their encrypted keys. `wallets` iterates over all of them.
 * Server only: needs the secret key.
 *
 * @example
 * const { items, nextCursor } = await svc.listWallets({ search: 'ana', limit: 10 });
 */
export async function listWallets(client: Client, params: ListWalletsParams = {}): Promise<CursorList<ListedWallet>> {
  return toCursorList(await readWallets(client, params));
}

export interface WalletsParams extends WalletFilters, PageOptions {}

/**
 * Iterates over the wallets of your environment, newest first. Server only: needs the secret key.
 *
 * @example
 * for await (const { externalUserId, publicKey } of svc.wallets({ isDeployed: true })) console.log(externalUserId, publicKey);
 */
export function wallets(client: Client, params: WalletsParams = {}): AsyncGenerator<ListedWallet, void, undefined> {
  return eachByCursor((query) => readWallets(client, { ...params, ...query }), params);
}

function readWallets(client: Client, params: ListWalletsParams): Promise<CursorPage<ListedWallet>> {
  const { search, walletType, isDeployed, createdAfter, createdBefore, limit, cursor } = params;
  return request<typeof endpoints.listWallets>(client, {
    route: 'GET /svc-wallets',
    access: 'secret',
    query: { search, walletType, isDeployed, createdAfter, createdBefore, limit, cursor },
  });
}

export interface WalletIdParams {
  /** Of a listed wallet, not its address. */
  readonly id: string;
}

/**
 * Reads one wallet by its id, without its encrypted key. Server only: needs the secret key.
 *
 * @example
 * const { items } = await svc.listWallets({ limit: 1 });
 * const { externalUserId } = await svc.getWalletById({ id: items[0].id });
 */
export function getWalletById(client: Client, { id }: WalletIdParams): Promise<ListedWallet> {
  return request<typeof endpoints.getWalletById>(client, {
    route: 'GET /svc-wallets/{id}',
    access: 'secret',
    params: { id },
  });
}

/**
 * Reads from the chain what a wallet has: balances, class, sessions and spending policies. Server only: needs the secret
 * key.
 *
 * @example
 * const { items } = await svc.listWallets({ search: wallet.publicKey });
 * const { balances, sessions } = await svc.getWalletChainState({ id: items[0].id });
 */
export function getWalletChainState(client: Client, { id }: WalletIdParams): Promise<WalletChainState> {
  return request<typeof endpoints.getWalletChainState>(client, {
    route: 'GET /svc-wallets/{id}/chain-state',
    access: 'secret',
    params: { id },
  });
}
