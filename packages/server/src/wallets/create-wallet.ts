import {
  type AnswerOf,
  ApiError,
  type BodyOf,
  type Chain,
  type CreatedWallet,
  type endpoints,
  RECIPIENT_PREFIX,
  type StarknetAddress,
  type WalletType,
} from '@svc/protocol';
import { constructorCalldata, type OutsideExecution, outsideExecutionTypedData, toHex } from '@svc/starknet';
import type { Db } from '@svc/store';
import type { StarknetNetwork } from '../chains/networks.ts';
import { addressOf } from '../chains/starknet/chain.ts';
import type { Crypto } from '../crypto/crypto.ts';
import { type Caller, publicKeyOf } from '../http/call.ts';
import { readAddress, readClassHash, readFelt, refuse } from '../http/validation.ts';
import type { OutcomeHandler } from '../relayer/outcome.ts';
import type { AccountDeployment, StoreWithRelay } from '../relayer/relay.ts';
import { newId } from '../util/ids.ts';
import { keepFailedEncryption } from './encryption.ts';
import { readIssuedExecution, readSignature, type SignatureDeps, type WalletDeps } from './signed-execution.ts';
import * as store from './wallet.ts';
import { mayActFor, toWallet } from './wallet.ts';
import { currentClass, knownClass, requireClassOfType, requireSponsoredClass } from './wallet-class.ts';

type Body = BodyOf<typeof endpoints.createWallet>;
type NewWallet = Omit<store.NewWallet, 'relayId' | 'transactionHash'>;

interface Signed {
  readonly execution: OutsideExecution;
  readonly signature: readonly bigint[];
  readonly messageHash: bigint;
}

interface Order {
  readonly wallet: NewWallet;
  readonly signed: Signed;
  readonly proof: Caller['proof'];
  readonly ifNone: boolean;
  /** Its deployment failed before. */
  readonly isKnown: boolean;
  readonly also: StoreWithWallet | undefined;
}

/** Runs in the transaction that stores the wallet and its deployment: all of it happens, or nothing. */
export type StoreWithWallet = (tx: Db) => Promise<void>;

/** One transaction deploys the account and runs the signed execution. A repetition answers the same wallet, also after expiry. */
export async function createWallet(
  deps: WalletDeps,
  caller: Caller,
  body: Body,
  also?: StoreWithWallet,
): Promise<CreatedWallet> {
  const creation = readCreation(body);
  requireOwnWallet(caller, body, creation, also);
  requireStarknet(body.chain);
  if (!mayActFor(caller, body.externalUserId)) throw new ApiError('other_user');
  const network = deps.networks.starknet(caller.environment);
  const user = { ...caller, externalUserId: body.externalUserId };
  const existing = await store.walletAt(deps.db.reads, caller.environment, creation.address);
  if (existing && store.isOwnedBy(user, existing) && existing.deployment !== 'FAILED') return toCreated(existing);
  const own = body.ifNone && (await store.walletOfType(deps.db.reads, user, creation.walletType));
  if (own) return toCreated(own);
  const { execution, ownerKey, messageHash } = await checkCreation(deps, network, creation);
  if (existing && !store.isOwnedBy(user, existing)) throw new ApiError('wallet_already_exists');
  const wallet = newWallet(caller, body, creation, ownerKey);
  const send = existing ? relayAgain : relayNew;
  const signed = { execution, signature: creation.signature, messageHash };
  const { ifNone = false } = body;
  return send(deps, network, { wallet, signed, proof: caller.proof, ifNone, isKnown: existing !== undefined, also });
}

/** A recipient has one wallet: the one of the gift. The own token may only deploy that one again. */
function requireOwnWallet(
  { walletAddress }: Caller,
  { externalUserId }: Body,
  { address }: Creation,
  also: StoreWithWallet | undefined,
): void {
  if (also) return;
  if (walletAddress === undefined && externalUserId.startsWith(RECIPIENT_PREFIX)) {
    refuse('body.externalUserId', `must not begin with ${RECIPIENT_PREFIX}: those are recipients of gifts`);
  }
  if (walletAddress !== undefined && walletAddress !== address) throw new ApiError('other_user');
}

function newWallet(
  caller: Caller,
  body: Body,
  { address, walletType, deployment }: Creation,
  ownerKey: bigint,
): NewWallet {
  return {
    id: newId('wal'),
    organizationId: caller.organizationId,
    environment: caller.environment,
    externalUserId: body.externalUserId,
    apiPublicKey: publicKeyOf(caller),
    publicKey: body.publicKey,
    address,
    walletType,
    ...deployment,
    ownerKey,
    userId: body.userId,
    encryptedPrivateKey: body.encryptedPrivateKey,
    encryptedPrivateKeyBackup: body.encryptedPrivateKeyBackup,
    authMethod: body.authMethod,
    credentialId: body.credentialId,
    prfSupported: body.prfSupported,
    deviceType: body.deviceType,
  };
}

/** The account may exist already: any caller can deploy it. Then it is adopted. */
async function relayNew(deps: WalletDeps, network: StarknetNetwork, order: Order) {
  try {
    return await relayOrFind(deps, order, 'deploy');
  } catch (refusal) {
    const adopted = isRevert(refusal) ? await findDeployed(network, order.wallet) : undefined;
    if (!adopted) throw refusal;
    return relayOrFind(deps, { ...order, wallet: adopted }, 'adopt');
  }
}

/** A paymaster reports a failed deployment late, so a repetition looks for the account first. */
async function relayAgain(deps: WalletDeps, network: StarknetNetwork, order: Order) {
  const adopted = await findDeployed(network, order.wallet);
  return adopted ? relayOrFind(deps, { ...order, wallet: adopted }, 'adopt') : relayNew(deps, network, order);
}

async function findDeployed(network: StarknetNetwork, wallet: NewWallet): Promise<NewWallet | undefined> {
  const classHash = await network.chain.classHashAt(BigInt(wallet.address), 'pre_confirmed');
  if (classHash === undefined) return undefined;
  return { ...wallet, classHash, walletType: knownClass(network, classHash)?.walletType ?? wallet.walletType };
}

/** Of two concurrent requests one creates the wallet, the other finds it: the same address or, with `ifNone`, the same user. */
async function relayOrFind(deps: WalletDeps, order: Order, way: 'deploy' | 'adopt') {
  const { wallet } = order;
  try {
    return await relay(deps, order, way);
  } catch (refusal) {
    if (!isRevert(refusal) && !(refusal instanceof WalletTakenError)) throw refusal;
    const own = order.ifNone && (await store.walletOfType(deps.db.reads, wallet, wallet.walletType));
    if (own) return toCreated(own);
    const found = await store.walletAt(deps.db.reads, wallet.environment, wallet.address);
    if (found && !store.isOwnedBy(wallet, found)) throw new ApiError('wallet_already_exists');
    if (found && found.deployment !== 'FAILED') return toCreated(found);
    throw refusal;
  }
}

/** Rolls back the relay of a wallet that another request stored. */
class WalletTakenError extends ApiError {
  constructor() {
    super('wallet_already_exists');
  }
}

async function relay(deps: WalletDeps, order: Order, way: 'deploy' | 'adopt') {
  const { wallet, signed, proof, ifNone, isKnown, also } = order;
  const { db, networks, sponsor } = deps;
  const { environment, address, classHash, salt, constructorCalldata } = wallet;
  await requireSponsoredClass(db.reads, wallet, networks.starknet(environment), classHash);
  const deployment = way === 'deploy' ? { classHash, salt, constructorCalldata } : undefined;
  let own: store.StoredWallet | undefined;
  const save: StoreWithRelay = async (tx, { id, hash }) => {
    const transactionHash = hash === undefined ? undefined : toHex(hash);
    if (ifNone) await store.lockUser(tx, wallet);
    if (ifNone && (await store.walletOfType(tx, wallet, wallet.walletType))) throw new WalletTakenError();
    if (isKnown) await keepFailedEncryption(tx, wallet, proof);
    const save = isKnown ? store.saveWalletAgain : store.saveWallet;
    own = await save(tx, { ...wallet, relayId: id, transactionHash });
    if (!own) throw new WalletTakenError();
    await also?.(tx);
  };
  const { id, hash } = await sponsor.sponsor(
    { kind: 'wallet', environment, account: BigInt(address), deployment, ...signed, user: wallet },
    save,
  );
  // Another request may have stored the relay.
  const saved = own?.relayId === id ? own : await store.walletAt(db.reads, environment, address);
  if (!saved) throw new Error(`The relay ${id} has no wallet.`);
  // The execution was relayed for another user.
  if (!store.isOwnedBy(wallet, saved)) throw new ApiError('wallet_already_exists');
  if (saved.deployment === 'FAILED') {
    throw new ApiError('transaction_reverted', 'The deployment failed. Prepare the creation again and sign it anew.');
  }
  if (saved.transactionHash === undefined) await store.setTransactionHash(db, id, toHex(hash));
  return toCreated({ ...saved, transactionHash: saved.transactionHash ?? toHex(hash) });
}

function toCreated(wallet: store.StoredWallet): CreatedWallet {
  if (wallet.transactionHash === undefined) {
    throw new ApiError('chain_unavailable', 'The wallet is stored, but its transaction is not sent yet. Ask again.');
  }
  const { transactionHash: txHash, publicKey: walletPublicKey, classHash } = wallet;
  return { ...toWallet(wallet), classHash: toHex(classHash), success: true, txHash, walletPublicKey };
}

const isRevert = (error: unknown) => error instanceof ApiError && error.code === 'transaction_reverted';

/** Custom classes: candidates in the constructor calldata, some milliseconds each. */
const MAX_KEYS = 8;

export interface Creation {
  readonly address: StarknetAddress;
  readonly walletType: WalletType;
  readonly deployment: AccountDeployment;
  readonly unique: bigint;
  readonly signature: readonly bigint[];
  readonly typedData: unknown;
}

export function readCreation(body: BodyOf<typeof endpoints.createWallet>): Creation {
  const { class_hash, salt, unique, calldata } = body.deploymentData;
  const field = 'body.deploymentData';
  return {
    address: readAddress(body.publicKey, 'body.publicKey'),
    walletType: body.walletType ?? 'SVC',
    deployment: {
      classHash: readClassHash(class_hash, `${field}.class_hash`),
      salt: readFelt(salt, `${field}.salt`),
      constructorCalldata: calldata.map((text, index) => readFelt(text, `${field}.calldata[${index}]`)),
    },
    unique: readFelt(unique, `${field}.unique`),
    signature: readSignature(body.userSignature, 'body.userSignature'),
    typedData: body.typedData,
  };
}

export interface CheckedCreation {
  readonly execution: OutsideExecution;
  readonly ownerKey: bigint;
  readonly messageHash: bigint;
}

/** In the order of decisions: schema, address, class, typed data, signature. */
export async function checkCreation(
  deps: SignatureDeps,
  network: StarknetNetwork,
  creation: Creation,
): Promise<CheckedCreation> {
  if (creation.unique !== 0n) {
    refuse('body.deploymentData.unique', 'must be 0: otherwise the address would depend on who deploys it');
  }
  await requireAddress(deps, creation);
  await requireClassOfType(network, creation.deployment.classHash, creation.walletType);
  const keys = ownerKeys(network, creation);
  const execution = await readIssuedExecution(network, deps.callers ?? 'ANY_CALLER', creation.typedData);
  if (execution.calls.length > 0) {
    throw new ApiError(
      'invalid_typed_data',
      'The typed data that creates a wallet has no calls. Prepare the creation again.',
    );
  }
  return { execution, ...(await requireSigner(deps, network, creation, execution, keys)) };
}

async function requireAddress({ crypto }: SignatureDeps, { address, deployment }: Creation): Promise<void> {
  const derived = await crypto.contractAddress({ ...deployment, deployer: 0n });
  if (derived === BigInt(address)) return;
  throw new ApiError(
    'address_mismatch',
    `deploymentData leads to ${toHex(derived)}, but publicKey is ${address}. Send the class hash, salt and calldata that the address was calculated with.`,
  );
}

/** Known classes have one shape, so that a wallet can be found by its owner key. */
function ownerKeys(network: StarknetNetwork, { deployment, walletType }: Creation): readonly bigint[] {
  const { constructorCalldata: calldata, salt, classHash } = deployment;
  if (!knownClass(network, classHash)) return [...new Set(calldata)].filter((key) => key !== 0n).slice(0, MAX_KEYS);
  const place = walletType === 'READY' ? 1 : 0;
  const ownerKey = calldata[place] ?? 0n;
  const expected = constructorCalldata(walletType, ownerKey);
  if (ownerKey === 0n || !areEqual(calldata, expected)) {
    const shape = walletType === 'READY' ? '[0, public key, 1]' : '[public key]';
    throw new ApiError(
      'address_mismatch',
      `deploymentData.calldata of a wallet of type ${walletType} must be ${shape}.`,
    );
  }
  if (salt !== ownerKey) {
    throw new ApiError(
      'address_mismatch',
      "deploymentData.salt must be the owner's public key, as in deploymentData.calldata.",
    );
  }
  return [ownerKey];
}

async function requireSigner(
  { crypto }: SignatureDeps,
  { chain }: StarknetNetwork,
  { address, signature: [r = 0n, s = 0n] }: Creation,
  execution: OutsideExecution,
  keys: readonly bigint[],
): Promise<Omit<CheckedCreation, 'execution'>> {
  const account = BigInt(address);
  const { hash, signer } = await crypto.checkExecution({
    execution,
    account,
    chainId: chain.chainId,
    keys,
    signature: { r, s },
  });
  if (signer !== undefined) return { ownerKey: signer, messageHash: hash };
  throw new ApiError(
    'invalid_signature',
    'The signature does not verify for the owner key in deploymentData.calldata. Sign the prepared typed data with that key, for the account publicKey.',
  );
}

function areEqual(one: readonly bigint[], other: readonly bigint[]): boolean {
  return one.length === other.length && one.every((felt, index) => felt === other[index]);
}

type Endpoint = typeof endpoints.prepareWalletCreation;

export async function prepareCreation(
  deps: WalletDeps,
  { environment }: Caller,
  body: BodyOf<Endpoint>,
): Promise<AnswerOf<Endpoint>> {
  const { walletType = 'SVC' } = body;
  const address = readAddress(body.publicKey, 'body.publicKey');
  const ownerKey = readFelt(body.starkKeyPubAX, 'body.starkKeyPubAX');
  if (ownerKey === 0n) refuse('body.starkKeyPubAX', 'must be a public key');
  const custom = body.classHash === undefined ? undefined : readClassHash(body.classHash, 'body.classHash');
  requireStarknet(body.chain);
  const network = deps.networks.starknet(environment);
  if (custom !== undefined) await requireClassOfType(network, custom, walletType);
  const classHash = custom ?? (await classAt(deps.crypto, network, address, walletType, ownerKey));
  const deployment = { classHash, salt: ownerKey, constructorCalldata: constructorCalldata(walletType, ownerKey) };
  const execution = await deps.sponsor.prepare({ environment, account: BigInt(address), deployment, calls: [] });
  return {
    typedData: { ...outsideExecutionTypedData(execution, network.chain.chainId) },
    accountClassHash: toHex(classHash),
  };
}

export function requireStarknet(chain: Chain): void {
  if (chain !== 'STARKNET') throw new ApiError('unsupported_chain');
}

/** The class whose derived address is the given one; the current class where none fits. */
async function classAt(
  crypto: Crypto,
  network: StarknetNetwork,
  address: StarknetAddress,
  walletType: WalletType,
  ownerKey: bigint,
): Promise<bigint> {
  const candidates = network.walletClasses
    .filter((known) => known.walletType === walletType)
    .map(({ classHash }) => classHash);
  const addresses = await crypto.accountAddresses(candidates, ownerKey);
  return candidates[addresses.indexOf(BigInt(address))] ?? currentClass(network, walletType);
}

export const creationOutcome: OutcomeHandler = async (tx, { relayId, environment, account, result, hash }) => {
  const text = hash === undefined ? undefined : toHex(hash);
  if (result !== 'SUCCEEDED') return store.setFailed(tx, relayId, text);
  await store.setDeployed(tx, { environment, address: addressOf(account), relayId, hash: text });
};
